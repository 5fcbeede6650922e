"""Properties of softmax, its relatives and the activations, for every shape, float type
and magnitude up to 1e4."""

import numpy as np
import pytest
from conftest import array, close, normal, same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad as mg
from minigrad import Tensor
from minigrad import backend as B

SEEDS = st.integers(0, 999)
FULL = hnp.array_shapes(
    min_dims=1, max_dims=3, max_side=5
)  # with an entry on each axis
FLOATS = st.sampled_from(["f2", "f4", "f8"])
MAGNITUDES = st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e4])


@st.composite
def scores(draw):
    """Draw an array of any float type and magnitude up to 1e4, and one of its axes."""
    x = np.random.default_rng(draw(SEEDS)).uniform(-1, 1, draw(FULL))
    x = (draw(MAGNITUDES) * x).astype(draw(FLOATS))
    return x, draw(st.integers(-x.ndim, x.ndim - 1))


def eps(x):
    """Return a few rounding errors of a number of size 1, in the float type of x."""
    return 8 * float(np.finfo(x.dtype).eps)


def pull(y, *leaves, seed=7):
    """Return a random g and the gradients of the leaves for it."""
    g = normal(*y.shape, seed=seed).astype(y.dtype)
    y.backward(array(g))
    return g, *(B.to_numpy(x.grad) for x in leaves)


@given(scores())
def test_softmax_is_a_distribution_and_its_gradient_moves_none_of_the_sum(given):
    values, axis = given
    x = Tensor(values)
    y = mg.softmax(x, axis)
    assert y.dtype == x.dtype
    weights = y.numpy().astype(float)
    assert ((weights >= 0) & (weights <= 1)).all()
    close(weights.sum(axis), np.ones_like(weights.sum(axis)), atol=eps(values))
    exact = np.exp(values - values.max(axis, keepdims=True).astype(float))
    close(weights, exact / exact.sum(axis, keepdims=True), atol=eps(values))
    _, gradient = pull(y, x)
    total = gradient.astype(float).sum(axis)
    close(total, np.zeros_like(total), atol=4 * eps(values))


@given(scores(), st.data())
def test_softmax_follows_a_permutation_and_gives_masked_scores_nothing(given, data):
    values, axis = given
    order = data.draw(st.permutations(range(values.shape[axis])))
    y = mg.softmax(array(values), axis)
    moved = mg.softmax(array(np.take(values, order, axis)), axis)
    close(moved, np.take(B.to_numpy(y), order, axis), atol=eps(values))
    kept = np.random.default_rng(0).random(values.shape) < 0.6
    x = Tensor(np.where(kept, values, -np.inf).astype(values.dtype))
    y = mg.softmax(x, axis)
    _, gradient = pull(y, x)
    assert np.isfinite(gradient).all()
    assert (gradient[~kept] == 0).all() and (y.numpy()[~kept] == 0).all()
    total = y.numpy().astype(float).sum(axis)
    close(total, kept.any(axis).astype(float), atol=eps(values))


@given(scores())
def test_logsumexp_is_a_smooth_maximum_and_log_softmax_the_rest(given):
    values, axis = given
    n, largest = values.shape[axis], values.astype(float).max(axis)
    y = B.to_numpy(mg.logsumexp(array(values), axis)).astype(float)
    slack = eps(values) * (1 + abs(largest))
    assert (largest - slack <= y).all() and (y <= largest + np.log(n) + slack).all()
    rest = B.to_numpy(mg.log_softmax(array(values), axis)).astype(float)
    rounding = eps(values) * (1 + abs(values.astype(float)).max())
    close(rest, values - np.expand_dims(y, axis), atol=2 * rounding)
    close(np.exp(rest), mg.softmax(array(values), axis), atol=2 * rounding)
    x = Tensor(values)
    g, gradient = pull(mg.logsumexp(x, axis), x)
    expected = np.expand_dims(g, axis) * B.to_numpy(mg.softmax(array(values), axis))
    close(gradient, expected, atol=2 * rounding)


def test_of_no_scores_there_are_no_weights_and_the_sum_of_exponentials_is_0():
    for f in (mg.softmax, mg.log_softmax):
        x = Tensor(np.ones((3, 0)))
        pull(f(x), x)
        same(f(x).data, np.ones((3, 0)))
        same(x.grad, np.ones((3, 0)))
    same(mg.logsumexp(x, axis=1).data, np.full(3, -np.inf))
    same(mg.logsumexp(x, axis=0).data, np.ones(0))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("f", "left"), [(mg.softmax, np.zeros((2, 3))), (mg.logsumexp, np.full(2, -np.inf))]
)
def test_where_all_scores_are_left_out_all_gradients_are_0(f, left):
    x = Tensor(np.full((2, 3), -np.inf))
    y = f(x, axis=-1)
    same(y.data, left)
    same(pull(y, x)[1], np.zeros((2, 3)))


def test_logsumexp_of_an_infinite_score_is_infinite():
    same(mg.logsumexp([np.inf, 1.0, np.inf]), np.array(np.inf))


@given(scores(), st.booleans(), SEEDS)
def test_cross_entropy_is_minus_log_softmax_and_its_gradient_softmax_minus_onehot(
    given, mean, seed
):
    values = given[0]
    mean = mean or values.dtype == "f2"  # which cannot hold the sum of 25 losses of 2e4
    x = Tensor(values)
    targets = np.random.default_rng(seed).integers(
        values.shape[-1], size=values.shape[:-1]
    )
    onehot = np.eye(values.shape[-1])[targets]
    loss = mg.cross_entropy(x, targets, reduction="mean" if mean else "sum")
    loss.backward()
    n = targets.size if mean else 1
    rest = B.to_numpy(mg.log_softmax(array(values.astype(float))))
    scale = 1 + abs(values.astype(float)).max()
    close(
        loss.data,
        -(onehot * rest).sum() / n,
        rtol=eps(values),
        atol=eps(values) * scale,
    )
    close(x.grad, (np.exp(rest) - onehot) / n, atol=2 * eps(values) * scale)
    assert x.grad.dtype == loss.dtype == values.dtype


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_an_ignored_target_counts_as_if_its_row_were_not_there(reduction):
    values, targets = normal(2, 3, 4), np.array([[1, -1, 3], [-1, 0, 1]])
    kept = targets != -1
    values[~kept] = np.nan
    x, some = Tensor(values), Tensor(values[kept])
    loss = mg.cross_entropy(x, targets, ignore_index=-1, reduction=reduction)
    expected = mg.cross_entropy(some, targets[kept], reduction=reduction)
    none = reduction == "none"
    close(loss.data, placed(expected.numpy(), kept) if none else expected.numpy())
    loss.backward(array(np.ones(loss.shape)))
    expected.backward(array(np.ones(expected.shape)))
    close(x.grad, placed(B.to_numpy(some.grad), kept))


def placed(rows, where):
    """Return zeros with the rows put where they came from."""
    result = np.zeros((*where.shape, *rows.shape[1:]))
    result[where] = rows
    return result


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_when_all_targets_are_ignored_the_loss_and_its_gradient_are_zero(reduction):
    x = Tensor(normal(2, 3))
    loss = mg.cross_entropy(x, [7, 7], ignore_index=7, reduction=reduction)
    same(loss.data, np.zeros(2 if reduction == "none" else ()))
    loss.backward(array(np.ones(loss.shape)))
    same(x.grad, np.zeros((2, 3)))


SMOOTH = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-np.clip(x, -700, 700))),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "abs": np.abs,
    "gelu": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", SMOOTH)
def test_activations_are_right_in_every_float_type_and_finite_at_1e4(name, dtype):
    values = np.concatenate([normal(50), 30 * normal(50), [0.1, 300, -300, 1e4, -1e4]])
    values = values.astype(dtype)
    x = Tensor(values)
    y = getattr(mg, name)(x)
    exact = SMOOTH[name](values.astype(float))
    close(y.numpy().astype(float), exact, rtol=eps(values), atol=eps(values))
    g, gradient = pull(y, x)
    assert gradient.dtype == y.dtype == dtype
    assert (abs(gradient) <= 1.2 * abs(g)).all()  # none of them is steeper than that
