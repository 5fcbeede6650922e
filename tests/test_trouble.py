"""What goes wrong on the gradient's way is found where it begins."""

import math

import numpy as np
import pytest
from conftest import array, normal
from flow_programs import JOINS, LINEAR, program, seeds

import minigrad as mg
from minigrad import Tensor, graph


def spoil(factor):
    """Return an op that hands its input on, and whose rule multiplies by a factor."""

    @mg.primitive
    def spoiled(x, /):
        return x + 0.0

    @spoiled.rule
    def _(g, y, x):
        return factor * g

    del mg.PRIMITIVES["spoiled"]  # whose tests ask for a case of each op
    return spoiled


KINDS = {math.nan: "nan", math.inf: "inf", 0.0: "vanishes", 1e9: "explodes"}


def test_nothing_is_found_in_30_of_30_programs_of_right_rules():
    for seed in seeds():
        assert graph.flow(program(seed)).trouble is None


@pytest.mark.parametrize("factor", KINDS)
def test_a_rule_that_goes_wrong_is_found_in_30_of_30_programs(factor):
    for seed in seeds():
        y, planted = program(seed, plant=spoil(factor))
        with np.errstate(invalid="ignore"):  # inf - inf, further down
            trouble = graph.flow(y).trouble
        assert trouble.at is planted
        assert trouble.kind == KINDS[factor]
        assert trouble.text.startswith(f"spoiled {planted.shape}: {KINDS[factor]}: ")


@pytest.mark.parametrize("factor", KINDS)
def test_a_number_that_is_planted_in_the_values_is_found_in_30_of_30_programs(factor):
    # In linear programs, where 0 and 1e9 do not flatten or steepen an op above them.
    with np.errstate(all="ignore"):  # 1 / 0, and inf - inf further up
        divisor = 1 / np.float64(factor)
        linear = {"joins": JOINS[:2], "steps": LINEAR, "plant": lambda t: t / divisor}
        for seed in seeds():
            y, planted = program(seed, **linear)
            trouble = graph.flow(y).trouble
            assert trouble.at is planted
            assert trouble.kind == KINDS[factor]


def trouble(y, g=None):
    found = graph.flow(y, g).trouble
    return found and (found.at, found.kind)


def test_nan_and_inf_in_the_values_are_found_where_they_arise():
    x = Tensor([0.0, 1.0])
    with np.errstate(all="ignore"):
        low = mg.log(x)
        assert trouble((low * x).sum()) == (low, "inf")  # log 0
        nan = (low - low) * 1.0
        assert trouble(nan.sum()) == (low, "inf")
        high = mg.exp(1000.0 * x)
        assert trouble((1 / high).sum()) == (high, "inf")  # e^1000
    sick = Tensor([1.0, math.nan])
    assert trouble((x * sick).sum()) == (sick, "nan")  # a leaf
    y = x * array([1.0, math.nan])
    assert trouble(mg.tanh(y).sum()) == (y, "nan")  # a constant
    assert trouble((2 * x).sum(), math.nan)[1] == "nan"  # g itself


def test_the_minus_infinity_of_a_mask_is_no_trouble():
    x = Tensor(normal(3, 3))
    scores = mg.where(array(np.tri(3, dtype=bool)), x, -math.inf)
    assert trouble(mg.softmax(scores), array(normal(3, 3, seed=1))) is None


def test_inf_that_arises_in_a_rule_is_found_there():
    x = Tensor([0.0, 1.0])
    y = mg.sqrt(x)
    with np.errstate(divide="ignore"):
        assert trouble(mg.tanh(y).sum()) == (y, "inf")  # its gradient is 1 / (2 · 0)


def test_a_softmax_that_saturates_lets_nothing_through():
    x = Tensor([[100.0, 0.0, 0.0]])
    y = mg.softmax(x)
    assert trouble(y @ array(normal(3, 1))) == (y, "vanishes")
    mild = mg.softmax(Tensor([[10.0, 0.0, 0.0]]))
    assert trouble(mild @ array(normal(3, 1))) is None


def test_the_weights_sum_to_1_so_a_g_of_ones_vanishes_at_softmax():
    y = mg.softmax(Tensor(normal(5)))
    assert trouble(y.sum()) == (y, "vanishes")


def test_a_gradient_that_fades_step_by_step_is_found_when_little_is_left():
    """0.5 a step: of g = 1, 2⁻²⁴ is left after 24 and less after 25."""
    h = [Tensor(1.0)]
    for _ in range(40):
        h.append(0.5 * h[-1])
    assert trouble(h[-1]) == (h[-25], "vanishes")
    assert trouble(h[24]) is None
    assert graph.flow(h[-1]).gradients[h[-25]].item() == 2.0**-24
    h = [Tensor(1.0)]
    for _ in range(40):
        h.append(2.0 * h[-1])
    assert trouble(h[-1]) == (h[-25], "explodes")


def test_a_weight_of_0_cuts_off_what_is_below_it():
    x, w = Tensor(normal(2, 3)), Tensor(np.zeros((3, 3)))
    h = mg.tanh(x)
    y = h @ w
    assert trouble(y.sum()) == (y, "vanishes")
    assert "input 0, tanh (2, 3), gets 0" in graph.flow(y.sum()).trouble.text


def test_an_op_that_lets_nothing_through_comes_before_a_tensor_that_nothing_reaches():
    x, w = Tensor(-abs(normal(2, 3))), Tensor(normal(3, 3))
    dead = mg.relu(x)  # all 0, so w gets no gradient either
    y = dead @ w
    found = graph.flow(y, array(normal(2, 3))).troubles()
    assert [(t.at, t.kind) for t in found] == [(dead, "vanishes"), (y, "vanishes")]


@pytest.mark.parametrize("far", [1e200, 1e-200])
def test_sizes_are_taken_without_overflow(far):
    assert trouble(+Tensor([1.0, 1.0]), [3 * far, 4 * far]) is None
    y = 1e-9 * Tensor([1.0, 1.0])
    text = graph.flow(y, [3 * far, 4 * far]).trouble.text
    assert f"{5 * far:.3g} arrives" in text
