"""Inputs that broke an earlier state, and others of their kind: low precision, NumPy's
numbers beside a Tensor, subclasses, attention as it is defined elsewhere."""

import operator

import numpy as np
import pytest
from conftest import array, close, normal, same

import attention
import minigrad as mg
from attention import tiled_attention
from minigrad import Tensor

N = 70_000  # more than 65,504, where float16 ends
SHARE = np.full((N, 3), 1 / N, "float16")  # sums to 1.0014 in float16
ONES = np.ones((N, 3), "float16")


def half(*shape, value=1.0):
    return array(np.full(shape, value), "float16")


SUMS = {  # (f, the input, dL/dinput where L is the sum of f): 1 / N has seven bits
    "sum": (lambda x: mg.sum(x, axis=0), SHARE, 1.0, 1.0),
    "sum of all": (lambda x: mg.sum(x) / 3, SHARE, 1.0, 1 / 3),
    "mean": (lambda x: mg.mean(x, axis=0), ONES, 1.0, 1 / N),
    "max": (lambda x: mg.max(x, axis=0), ONES, 1.0, 1 / N),
    "min": (lambda x: mg.min(x, axis=0), ONES, 1.0, 1 / N),
    "logsumexp": (lambda x: mg.logsumexp(x, axis=0), 0 * SHARE, np.log(N), 1 / N),
    "softmax": (lambda x: mg.softmax(x, axis=0) * 8, 0 * SHARE, 8 / N, 0.0),
    "log_softmax": (lambda x: mg.log_softmax(x, axis=0), 0 * SHARE, -np.log(N), 0.0),
    "matmul": (lambda x: half(1, N) @ x, SHARE, 1.0, 1.0),
    "einsum": (lambda x: mg.einsum("ij->j", x), SHARE, 1.0, 1.0),
    "einsum of two": (lambda x: mg.einsum("ij,i->j", x, half(N)), SHARE, 1.0, 1.0),
    "cross_entropy": (
        lambda x: mg.cross_entropy(x, np.zeros(N, int), ignore_index=5),
        0 * SHARE,
        np.log(3),
        None,
    ),
    "norm": (lambda x: mg.norm(x, axis=0), ONES, N**0.5, N**-0.5),
    "broadcasting": (lambda b: b * array(SHARE), np.ones(3, "float16"), 1 / N, 1.0),
    "indexing": (
        lambda x: x[array(np.zeros(N, int))] * array(SHARE),
        np.ones((1, 3), "float16"),
        *(1 / N, 1.0),
    ),
    "indexing twice": (
        lambda x: x[array(np.zeros(N, int)), 0] * array(SHARE[:, 0]),
        np.ones((1, 1), "float16"),
        *(1 / N, 1.0),
    ),
}


@pytest.mark.parametrize("name", SUMS)
def test_float16_holds_what_70_000_numbers_come_to(name):
    f, x, value, gradient = SUMS[name]
    x = Tensor(array(x, "float16"))
    y = f(x)
    y.backward(array(np.ones(y.shape), "float16"))
    assert y.dtype == x.grad.dtype == "float16"
    close(y, np.full(y.shape, value), rtol=3e-3)
    if gradient is not None:
        close(x.grad, np.full(x.shape, gradient), rtol=2e-3, atol=2e-6)


@pytest.mark.parametrize("value", [100.0, 600.0])  # 512 of 600 are beyond float16 too
@pytest.mark.parametrize("lookup", [attention.attention, tiled_attention])
def test_the_mean_of_70_000_equal_values_is_that_value(lookup, value):
    V = Tensor(half(N, 1, value=value))
    y = lookup(half(1, 2, value=0), half(N, 2, value=0), V)
    y.backward(half(1, 1))
    close(y, [[value]], rtol=3e-3)  # 1 / 70,000 has seven bits in float16
    close(V.grad, np.full((N, 1), 1 / N), rtol=3e-3)


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne]
COMPARISONS += [operator.gt, operator.ge]
NUMBERS = [2, 2.0, True, np.float16(2), np.float32(2), np.float64(2), np.int8(2)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_number_on_either_side_leaves_float32_as_it_is(number):
    values = normal(3).astype("float32")
    x = Tensor(array(values))
    for f in ARITHMETIC:
        for y, right in [
            (f(number, x * x), f(np.float32(number), values**2)),
            (f(x * x, number), f(values**2, np.float32(number))),
        ]:
            assert type(y) is Tensor and y.dtype == "float32"
            close(y, right, rtol=1e-6)
    for f in COMPARISONS:
        same(f(number, x), f(number, values))
        same(f(x, number), f(values, number))


class Parameter(Tensor):
    """A subclass is a Tensor everywhere."""


def test_a_subclass_of_tensor_computes_as_a_tensor_does():
    for f in (
        lambda x: x * 2 + 1 / x,
        lambda x: 2 * x @ x,
        lambda x: mg.stack([x, x]).sum(),
        lambda x: mg.where(x > 1, x, 0.0),
        lambda x: attention.soft_lookup(x, mg.stack([x, 2 * x]), mg.stack([x, x])),
        lambda x: mg.cross_entropy(x, 1),
        lambda x: mg.grad(lambda v: mg.grad(lambda w: (w**3).sum())(v).sum())(x),
    ):
        results = []
        for cls in (Parameter, Tensor):
            x = cls(array([1.0, 2.0, 3.0]))
            y = f(x).sum()
            y.backward()
            results.append((y, x))
        same(results[0][0], results[1][0])
        same(results[0][1].grad, results[1][1].grad)


def test_one_argument_named_twice_gets_its_derivative_twice():
    first, second = mg.grad(lambda a, b: a * a * b, argnum=(0, 0))(2.0, 3.0)
    assert first == second == 12.0  # 2 a b


def test_a_recorded_gradient_needs_the_data_that_the_op_was_given():
    w = Tensor(3.0)

    def f(x):
        y = w * x
        w.data = array(5.0)
        return y

    with pytest.raises(ValueError, match="multiply: its rule: an input .* other data"):
        mg.grad(f)(2.0)


def test_gradients_that_depend_on_nothing_are_arrays_of_their_own():
    x, y = Tensor(normal(3)), Tensor(normal(3))
    a, b = mg.grad(lambda a, b: mg.sum(a + b), (0, 1))(x, y)
    same(a, np.ones(3))
    a += 1
    same(b, np.ones(3))


def test_a_mean_over_some_targets_keeps_float32_on_arrays_too():
    loss = mg.cross_entropy(array(np.zeros((2, 3)), "f4"), [0, 1], ignore_index=0)
    assert loss.dtype == "f4"
    close(loss, np.array(np.log(3), "f4"), rtol=1e-6)


def test_a_row_of_float16_is_centred_though_its_differences_do_not_fit():
    close(mg.center(array([6e4, -6e4, 0.0], "f2")), np.array([6e4, -6e4, 0.0], "f2"))


def test_rows_that_do_not_fit_are_not_scattered():
    index = array([0, 1])
    with pytest.raises(ValueError, match=r"scatter: \(3, 2\)"):
        mg.scatter(array(np.arange(6.0).reshape(3, 2)), index=index, shape=(4, 3))
    y = mg.scatter(array(np.ones((1, 3))), index=index, shape=(4, 3))
    same(y, np.outer([1.0, 1.0, 0.0, 0.0], np.ones(3)))


def test_numpys_options_are_not_passed_over(xp):
    if xp is np:
        with pytest.raises(TypeError, match="minigrad.multiply"):
            np.multiply(np.ones(3), Tensor(np.ones(3)), out=np.zeros(3))
