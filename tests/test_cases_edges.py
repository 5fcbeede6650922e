"""Numbers at the edge that made other engines fail, each with its right values: ties,
kinks, infinity, NaN, and what a float type cannot hold."""

import builtins
import math

import numpy as np
import pytest
from conftest import array, close, same

import minigrad as mg
from minigrad import Tensor, gradcheck
from minigrad import backend as B


def test_ties_share_the_gradient_equally():
    x = Tensor([0, 7, 7, 7])
    x.max().backward()
    close(x.grad, np.array([0, 1, 1, 1]) / 3)
    a, b = Tensor([1, 2]), Tensor([1, 5])
    mg.maximum(a, b).sum().backward()
    same(a.grad, np.array([0.5, 0.0]))
    same(b.grad, np.array([0.5, 1.0]))
    a, b = Tensor([1, 2]), Tensor([1, 5])
    mg.minimum(a, b).sum().backward()
    same(a.grad, np.array([0.5, 1.0]))
    same(b.grad, np.array([0.5, 0.0]))
    rows = Tensor([[3, 3], [1, 2]])
    rows.min(axis=0, keepdims=True).backward([[1.0, 10.0]])
    same(rows.grad, np.array([[0.0, 0.0], [1.0, 10.0]]))


def test_an_infinite_gradient_does_not_reach_the_one_that_lost():
    x, y, z = Tensor([-1.0, 4.0]), Tensor([1.0, -4.0]), Tensor([-1.0, 0.0])
    with np.errstate(divide="ignore"):  # the slope of a root at 0
        mg.sqrt(mg.maximum(x, 0)).sum().backward()
        mg.sqrt(-mg.minimum(y, 0)).sum().backward()
        mg.sqrt(z.max()).backward()
    same(z.grad, np.array([0.0, math.inf]))
    same(x.grad, np.array([0.0, 0.25]))
    same(y.grad, np.array([0.0, -0.25]))


@pytest.mark.parametrize("f", [mg.maximum, mg.minimum])
def test_the_gradient_goes_to_the_nan_that_was_the_result(f):
    a, b = Tensor([math.nan, 1.0, math.nan]), Tensor([1.0, math.nan, math.nan])
    f(a, b).backward([1.0, 10.0, 100.0])
    same(a.grad, np.array([1.0, 0.0, 50.0]))
    same(b.grad, np.array([0.0, 10.0, 50.0]))
    x = Tensor([1.0, math.nan])
    getattr(x, f.__name__[:3])().backward()
    same(x.grad, np.array([0.0, 1.0]))


def test_where_selects_gradients_and_masking_the_input_first_keeps_nan_out():
    a, b = Tensor([1, 2]), Tensor([3, 4])
    mg.where([True, False], a, b).backward([1.0, math.inf])
    same(a.grad, np.array([1.0, 0.0]))
    same(b.grad, np.array([0.0, math.inf]))

    x = Tensor([-4, 9])
    mg.where(x > 0, mg.sqrt(mg.where(x > 0, x, 1.0)), 2 * x).sum().backward()
    close(x.grad, np.array([2.0, 1 / 6]))
    x = Tensor([0, math.e])
    mg.where(x > 1, mg.log(mg.where(x > 1, x, 1.0)), 3 * x).sum().backward()
    close(x.grad, np.array([3.0, 1 / math.e]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_cross_entropy_neither_overflows_nor_takes_the_log_of_0(dtype, shift):
    logits = Tensor(array(np.array([-500.0, 200.0, 460.0]) + shift, dtype))
    loss = mg.cross_entropy(logits, 0)
    loss.backward()
    same(loss.data, np.array(960.0, dtype))
    close(logits.grad, np.array([-1.0, 0.0, 1.0]), atol=1e-30)


def test_float32_does_not_drift():
    x = Tensor(array([1.0, 4.0], "f4"))
    results = [
        builtins.sum([x, x]),
        x / np.sqrt(8),
        x * np.float64(2) + np.int64(3),
        x * array(2),
        x * array(2.0),
        x - [1, 2],
        x**2,
        x ** array([1, 2]),
        2**x,
        x.mean(),
        x.var(ddof=1),
        x.max() * 1.0,
        mg.stack([x[0], 0.0, np.float64(1)]),
        mg.einsum(",i->i", 2.0, x),
        mg.where(x > 2, x, 0.0),
        mg.where(x > 2, np.float64(0), x),
        mg.maximum(x, 0),
        mg.cross_entropy(x, 1),
        mg.cross_entropy(mg.stack([x, x]), [1, 0], ignore_index=0),
    ]
    for y in results:
        assert y.dtype == "f4"
        x.grad = None
        y.sum().backward()
        assert x.grad.dtype == "f4"


@pytest.mark.parametrize("f", [mg.relu, mg.abs])
def test_a_kink_is_no_false_alarm(f):
    with pytest.warns(UserWarning, match=r"kink at input 0 index \(1,\)"):
        gradcheck(f, [-1.0, 0.0, 2.0])


@pytest.mark.parametrize("f", [mg.relu, mg.abs, mg.norm])
def test_at_the_kink_at_0_the_gradient_is_0(f):
    x = Tensor([0.0, -0.0])
    f(x).sum().backward()
    same(x.grad, np.zeros(2))


@pytest.mark.parametrize("f", [mg.relu, mg.abs])
def test_at_the_kink_at_0_the_second_derivative_is_0(f):
    slope = mg.grad(lambda x: f(x).sum())
    same(mg.grad(lambda x: slope(x).sum())([0.0, -0.0]), np.zeros(2))


@pytest.mark.parametrize(
    ("f", "row", "kink"),
    [
        (mg.norm, [2.0, 0.0], [0.0, 0.0]),  # ‖x‖² is smooth: its Hessian is 2 · 1
        (mg.std, [0.5, -0.5], [7.0, 7.0]),  # (x₁ - x₂)² / 4: ½ and -½
    ],
)
def test_the_second_derivative_at_a_kink_is_no_silent_0(f, row, kink):
    slope = mg.grad(lambda x: f(x) ** 2)
    hessian_e1 = mg.grad(lambda x: slope(x)[0])
    close(hessian_e1([3.0, 4.0]), np.array(row), atol=1e-15)
    assert np.isnan(B.to_numpy(hessian_e1(kink))).all()


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_equal_numbers_have_a_standard_deviation_of_0_and_a_gradient_of_0(dtype):
    x = Tensor(array([[2, 2, 2], [0, 3, 6]], dtype))
    x.std(axis=1).sum().backward()  # of the second row (x - 3) / (3 √6)
    close(x.grad, np.array([[0, 0, 0], [-1, 0, 1]], dtype) / 6**0.5, rtol=2e-3)
    assert x.grad.dtype == dtype
    x = Tensor(array(np.full((7, 3), 0.1), dtype))  # whose mean is rounded
    x.std(axis=0).sum().backward()
    same(x.grad, np.zeros((7, 3)))


@pytest.mark.parametrize("unit", [100.0, 1e-4])
def test_a_norm_that_float16_holds_needs_no_square_that_it_does_not(unit):
    x = Tensor(array([3 * unit, 4 * unit], "f2"))
    y = mg.norm(x)
    y.backward()
    close(y, 5 * unit, rtol=2e-3)
    close(x.grad, [0.6, 0.8], rtol=2e-3)
    assert y.dtype == "f2"
