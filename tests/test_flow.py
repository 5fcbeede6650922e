"""The gradient's way: what ops hand on adds up, and what goes wrong on it is found."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same

import minigrad as mg
from minigrad import Tensor, graph
from minigrad import backend as B

SHAPES = [(), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3)]
JOINS = [
    mg.add,
    mg.subtract,
    mg.multiply,
    lambda a, b: a / (2 + b * b),
    lambda a, b: mg.maximum(a, b) + 0.1 * a * b,  # or the smaller one gets nothing
]
STEPS = [
    mg.tanh,
    mg.sigmoid,
    lambda a: a * a,
    lambda a: mg.exp(0.1 * a),
    lambda a: mg.softmax(mg.stack([a, mg.tanh(a)]), axis=0)[0],
    lambda a: mg.stack([a, mg.tanh(a), a]).sum(axis=0),
    lambda a: a.reshape(1, -1)[:, ::-1] @ array(normal(a.size, 3)),
    lambda a: a.reshape(-1, 1).mean(axis=0),
]
LINEAR = [
    lambda a: 0.7 * a,
    lambda a: a.reshape(-1)[::-1].reshape(a.shape),
    lambda a: mg.stack([a, 2 * a]).mean(axis=0),
    lambda a: a + array(normal(*a.shape)),
]


def seeds():
    """Return those of 30 programs, or of 3 where arrays are slow."""
    return range(30 if B.xp is np else 3)


def program(seed, dtype=None, joins=JOINS, steps=STEPS, plant=None):
    """Return what 8 random steps make of each other and of leaves, as one number.

    All of them have a share in it, so none is without a gradient. With `plant` later
    ones may use plant(t) of some t, which is returned too."""
    rng = np.random.default_rng(seed)
    made = [Tensor(rng.normal(size=shape), dtype) for shape in SHAPES]
    planted = None
    for n in range(8):
        a, b = (made[i] for i in rng.choice(len(made), size=2, replace=False))
        t = steps[rng.integers(len(steps))](a)
        try:
            np.broadcast_shapes(t.shape, b.shape)
            made.append(joins[rng.integers(len(joins))](t, b))
        except ValueError:
            made.append(t)
        if plant and n == 4:
            planted = plant(made[-1])
            made.append(planted)
    y = sum((share * t).sum() for t, share in zip(made, rng.normal(size=99)))
    return (y, planted) if plant else y


def worst(flow):
    """Return how far what arrives is from the gradient, beside its largest part."""
    parts = {x: [] for x in flow.gradients if x is not flow.output}
    for (t, i), c in flow.contributions.items():
        parts[t.inputs[i]].append(c.astype(float))
    return max(
        float(abs(sum(came) - flow.gradients[x]).max() / abs(B.xp.stack(came)).max())
        for x, came in parts.items()
    )


@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-12), ("float32", 1e-5)])
def test_what_arrives_over_all_uses_is_the_gradient_in_100_programs(dtype, most):
    for seed in range(100 if B.xp is np else 10):
        flow = graph.flow(program(seed, dtype))
        assert worst(flow) <= most
        for (t, i), c in flow.contributions.items():
            assert (c.shape, c.dtype) == (t.inputs[i].shape, t.inputs[i].dtype)
        for t, g in flow.gradients.items():
            assert (g.shape, g.dtype) == (t.shape, t.dtype)
    edge = next(edge for edge in flow.contributions if edge[0] is not flow.output)
    flow.contributions[edge] = 1.001 * flow.contributions[edge]
    assert worst(flow) > most  # a planted fault


def test_the_leaves_get_what_backward_gives_them_to_the_last_bit():
    for seed in range(100 if B.xp is np else 10):
        y = program(seed)
        flow = graph.flow(y)
        assert all(t.grad is None for t in graph.nodes(y))
        y.backward()
        for t in graph.nodes(y):
            if t.op is None:
                same(flow.gradients[t], t.grad)


def test_it_holds_every_tensor_and_every_use_and_no_other():
    x, constant = Tensor([1.0, 2.0]), array([3.0, 4.0])
    h = x * x
    y = h + constant
    flow = graph.flow(y, [1.0, 10.0])
    assert list(flow.gradients) == [y, h, x]  # from the output down
    assert list(flow.contributions) == [(y, 0), (h, 0), (h, 1)]
    same(flow.gradients[y], array([1.0, 10.0]))
    same(flow.contributions[h, 0], array([1.0, 20.0]))  # g x
    same(flow.contributions[h, 1], array([1.0, 20.0]))
    same(flow.gradients[x], array([2.0, 40.0]))  # 2 g x


def test_a_leaf_alone_gets_g():
    x = Tensor(2.0)
    flow = graph.flow(x)
    assert (flow.gradients[x].item(), flow.contributions, flow.trouble) == (
        1.0,
        {},
        None,
    )


def test_g_is_copied_and_may_be_a_tensor_or_a_list():
    x, g = Tensor(normal(2, 3)), array(normal(2, 3, seed=1))
    y = +x
    flow = graph.flow(y, g)
    before = +g
    g[0, 0] = 99.0
    for other in (flow, graph.flow(y, Tensor(before)), graph.flow(y, before)):
        same(other.gradients[x], before)


def test_in_self_attention_three_roads_lead_to_x_and_they_add_up():
    x, g = Tensor(normal(4, 3)), array(normal(4, 3, seed=1))
    keys = x.swapaxes(0, 1)
    scores = x @ keys / math.sqrt(3)
    y = mg.softmax(scores) @ x
    flow = graph.flow(y, g)
    roads = [(scores.inputs[0], 0), (keys, 0), (y, 1)]
    parts = []  # each alone: the others are constants
    for i in range(3):
        q, k, v = (x if i == j else x.detach() for j in range(3))
        alone = graph.flow(mg.softmax(q @ k.swapaxes(0, 1) / math.sqrt(3)) @ v, g)
        close(flow.contributions[roads[i]], alone.gradients[x])
        parts.append(flow.contributions[roads[i]])
    close(sum(parts), flow.gradients[x])


@numpy_only
def test_a_chain_of_20_000_ops_is_followed_without_recursion():
    x = y = Tensor(1.0)
    for _ in range(20_000):
        y = y + x
    flow = graph.flow(y)
    assert flow.gradients[x].item() == 20_001
    assert len(flow.contributions) == 40_000
    assert flow.trouble is None


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


@pytest.mark.parametrize("g", [None, [1.0], [[1.0, 2.0]], 1.0])
def test_a_g_that_does_not_fit_is_the_error_that_backward_has(g):
    y = 2 * Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^flow: .*\(2,\)") as error:
        graph.flow(y, g)
    with pytest.raises(ValueError, match=r"^backward: ") as other:
        y.backward(g)
    assert str(error.value).split(":", 1)[1] == str(other.value).split(":", 1)[1]
