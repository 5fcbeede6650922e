"""Masks: which shapes mean what, rows that may see nothing, and NaN behind a mask."""

import math
from itertools import product

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same
from qkv import loop, pull, qkv

from attention import attention, causal_mask
from minigrad import Tensor, gradcheck
from minigrad import backend as B

SHAPES = [
    *[(), (5,), (1,), (1, 1), (1, 5), (4, 1), (4, 5)],
    *[(3, 1, 1), (3, 4, 5), (1, 4, 5), (3, 1, 5)],
    *[(2, 1, 1, 1), (2, 1, 1, 5), (2, 1, 4, 1), (2, 1, 4, 5), (2, 3, 4, 5)],
]


def bits(*shape, seed=0):
    """Return random booleans, 60 % of them True, on the host."""
    return np.random.default_rng(seed).random(shape) < 0.6


def test_the_last_query_stands_at_the_last_key():
    for n, m, strict in product(range(5), range(5), [False, True]):
        expected = [[j < i + m - n + (not strict) for j in range(m)] for i in range(n)]
        got = causal_mask(n, m, strict)
        assert got.dtype == bool
        same(got, np.array(expected, bool).reshape(n, m))


def test_sizes_below_0_are_refused():
    for sizes in [(-1, 2), (2, -1)]:
        with pytest.raises(ValueError, match="causal_mask: [nm] -1 is not at least 0"):
            causal_mask(*sizes)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_mask_broadcasts_and_every_query_averages_its_allowed_keys(shape):
    mask = bits(*shape)
    for front, causal in product([(), (2, 3), (2, 1)], [False, True]):
        Q, K, V = qkv(front=front, make=lambda x, _: x)
        allowed = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, (4, 5)))
        if causal:
            allowed = allowed & np.tri(4, 5, 1, dtype=bool)
        given = {"mask": array(mask), "causal": causal, "return_weights": True}
        Y, A = attention(*map(array, (Q, K, V)), **given)
        expected_Y, expected_A = loop(Q, K, V, allowed)
        close(np.broadcast_to(B.to_numpy(A), expected_A.shape), expected_A, atol=1e-15)
        close(Y, expected_Y, atol=1e-14)


@pytest.mark.parametrize("mask", [True, [True] * 5, bits(4, 5).tolist()], ids=str)
def test_a_mask_may_be_a_list_or_one_truth_value(mask):
    same(attention(*qkv(), mask=mask), attention(*qkv(), mask=array(mask)))


@numpy_only  # the ops that it is made of are differentiated everywhere
@pytest.mark.parametrize("shape", [(5,), (4, 1), (4, 5), (2, 1, 5), (2, 4, 5)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_behind_a_mask_to_order_2(shape, causal):
    mask = bits(*shape, seed=1)

    def f(Q, K, V):
        return attention(Q, K, V, mask=array(mask), causal=causal)

    gradcheck(f, *qkv(d_k=2, d_v=1), order=2)


@pytest.mark.parametrize(
    "shape", [(4,), (5, 4), (3, 5), (4, 6), (0,), (2, 5, 5), (3, 4, 5), (2, 1, 4, 5, 1)]
)
def test_a_mask_that_does_not_broadcast_is_refused(shape):
    Q, K, V = qkv(front=(2,))
    with pytest.raises(ValueError, match="attention: .* mask .* broadcast"):
        attention(Q, K, V, mask=array(np.ones(shape, bool)))


@pytest.mark.parametrize(
    ("n", "m", "shape"),
    [(1, 5, (4, 5)), (4, 1, (4, 5)), (4, 0, (4, 5)), (0, 5, (4, 5))],
)
def test_a_mask_cannot_make_more_queries_or_keys(n, m, shape):
    with pytest.raises(ValueError, match="does not broadcast against"):
        attention(*qkv(n, m), mask=array(np.ones(shape, bool)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: 1,
        lambda: [1, 0, 1, 1, 0],
        lambda: array(np.ones((4, 5))),
        lambda: array(np.ones((4, 5), int)),
        lambda: Tensor(np.ones((4, 5))),  # Tensors are floats, never boolean
        lambda: array(np.where(bits(4, 5), 0.0, -math.inf)),  # the additive convention
        list,
    ],
)
def test_a_mask_that_is_not_boolean_is_refused(make):
    with pytest.raises(
        TypeError, match="attention: .*the mask is .*, not boolean; True"
    ):
        attention(*qkv(), mask=make())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("front", [(), (2,)], ids=str)
def test_rows_that_may_see_nothing_are_zeros_and_so_is_all_that_flows_back(
    dtype, causal, front
):
    leaves = qkv(front=front, dtype=dtype)
    mask = array(np.zeros((4, 5), bool))
    Y, A = attention(*leaves, mask=mask, causal=causal, return_weights=True)
    assert not B.to_numpy(Y).any()
    assert not B.to_numpy(A).any()
    for grad, leaf in zip(pull(Y, leaves), leaves, strict=True):
        assert grad.dtype == dtype
        same(grad, np.zeros(leaf.shape))


@pytest.mark.parametrize("given", ["mask", "causal"])
def test_a_row_that_may_see_nothing_is_as_good_as_absent(given):
    Q, K, V = qkv(6, 4)  # causal: the first two of six queries come before every key
    kwargs = {"causal": True}
    if given == "mask":
        kwargs = {"mask": array(np.tri(6, 4, -2, dtype=bool))}
    Y = attention(Q, K, V, **kwargs)
    assert not B.to_numpy(Y)[:2].any()
    got = pull(Y, [Q, K, V])
    assert not B.to_numpy(got[0])[:2].any()

    rest, K, V = Tensor(Q.numpy()[2:]), *qkv(6, 4)[1:]
    y = attention(rest, K, V, causal=True)
    y.backward(array(normal(6, 2, seed=9)[2:]))
    close(Y[2:], y)
    for a, b in zip((got[0][2:], *got[1:]), (rest, K, V), strict=True):
        close(a, b.grad, atol=1e-15)


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("mask", "key"),
    [
        (np.arange(5) != 2, 2),
        (bits(4, 5) & (np.arange(5) != 2), 2),
        (np.stack([np.ones((4, 5), bool), np.tile(np.arange(5) != 2, (4, 1))]), (1, 2)),
    ],
    ids=["one row for all", "matrix", "in one of a batch"],
)
def test_nan_in_a_key_that_is_hidden_from_all_reaches_nothing(poison, mask, key):
    def run(bad):
        Q, K, V = qkv(front=mask.shape[:-2])
        K.data[key] = V.data[key] = bad
        Y, A = attention(Q, K, V, mask=array(mask), return_weights=True)
        return Y, A, *pull(Y, [Q, K, V])

    for got, expected in zip(run(poison), run(0.0), strict=True):
        assert np.isfinite(B.to_numpy(got)).all()
        same(got, expected)


def test_nan_in_a_query_that_may_see_nothing_stays_there():
    mask = bits(4, 5)
    mask[1] = False

    def run(bad):
        Q, K, V = qkv()
        Q.data[1] = bad
        Y = attention(Q, K, V, mask=array(mask))
        return Y, *pull(Y, [Q, K, V])

    for got, expected in zip(run(math.nan), run(0.0), strict=True):
        assert np.isfinite(B.to_numpy(got)).all()
        same(got, expected)


def test_nan_that_some_may_see_reaches_the_others_as_the_docstring_says():
    Q, K, V = qkv(2, 2)
    V.data[1] = math.nan
    Y = attention(Q, K, V, causal=True)  # the first query does not see the second key
    assert np.isnan(B.to_numpy(Y)).all()


def test_sizes_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match=r"causal_mask: n 2\.5 is not an integer"):
        causal_mask(2.5, 3)
