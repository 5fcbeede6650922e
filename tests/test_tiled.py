"""Tiled attention: the numbers of `attention`, however the tiles fall, in little room."""

import threading

import numpy as np
import pytest
from conftest import array, close, normal, same
from hypothesis import given
from hypothesis import strategies as st
from qkv import pull, qkv

from attention import attention, causal_mask, scaled_dot, tiled_attention
from minigrad import Tensor, grad, gradcheck, logsumexp
from minigrad import backend as B


def results(attend, *leaves, **options):
    """Return the output and the gradients for a random cotangent."""
    y = attend(*leaves, **options)
    return [y.data, *pull(y, leaves)]


def far(got, expected):
    """Return the largest difference, relative to the largest number of its array."""
    pairs = [(B.to_numpy(a), B.to_numpy(b)) for a, b in zip(got, expected, strict=True)]
    assert [(a.shape, a.dtype) for a, _ in pairs] == [
        (b.shape, b.dtype) for _, b in pairs
    ]
    return max(
        (abs(a - b).max() / max(1, abs(b).max()) for a, b in pairs if a.size),
        default=0.0,
    )


def random_mask(*shape, seed=5):
    return np.random.default_rng(seed).random(shape) < 0.4


@st.composite
def calls(draw):
    """Draw Q, K, V, whose axes in front broadcast, a mask or none, and a block."""
    size = st.integers(0, 7)
    n, m, d, d_v = draw(size), draw(size), draw(size), draw(size)
    fronts = draw(st.lists(st.sampled_from([(), (1,), (2,), (3, 1)]), min_size=4))
    shapes = [(n, d), (m, d), (m, d_v)]
    leaves = [normal(*f, *s) for f, s in zip(fronts, shapes, strict=False)]
    mask = random_mask(
        *fronts[3], draw(st.sampled_from([1, n])), draw(st.sampled_from([1, m]))
    )
    return leaves, draw(st.sampled_from([None, mask])), draw(st.integers(1, 8))


@given(calls(), st.booleans())
def test_output_and_gradients_are_those_of_attention(call, causal):
    leaves, mask, block = call
    options = {"mask": None if mask is None else array(mask), "causal": causal}
    expected = results(attention, *map(Tensor, leaves), **options)
    got = results(tiled_attention, *map(Tensor, leaves), **options, block=block)
    assert far(got, expected) < 1e-12


@pytest.mark.parametrize(("dtype", "error"), [("f4", 2e-6), ("f8", 1e-12)])
@pytest.mark.parametrize("causal", [False, True])
def test_long_inputs_agree_to_rounding_and_scores_of_a_thousand_are_no_matter(
    dtype, error, causal
):
    for magnitude in (1.0, 30.0):  # of q: scores up to 40, and up to 1,200
        leaves = qkv(300, 700, 16, 8, dtype=dtype)
        leaves[0] = Tensor(magnitude * leaves[0].data)
        expected = results(attention, *leaves, causal=causal)
        got = results(tiled_attention, *leaves, causal=causal)
        assert far(got, expected) < error * magnitude


def test_half_precision_holds_without_a_warning():
    leaves = qkv(5, 9, dtype="f2")
    leaves[0] = Tensor(30 * leaves[0].data)  # scores up to 80, beyond exp's range
    expected = results(attention, *leaves, causal=True)
    assert far(results(tiled_attention, *leaves, causal=True, block=2), expected) < 0.02


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_and_second_derivatives_are_those_of_differences(order, causal):
    mask = array(random_mask(3, 4))
    for options in ({}, {"mask": mask}):
        f = lambda *x, o=options: tiled_attention(*x, causal=causal, block=2, **o)
        shapes = [(3, 2), (4, 2), (4, 1)]
        assert gradcheck(f, *(normal(*s) for s in shapes), order=order) < 1e-6


def test_what_the_rule_is_given_is_the_log_of_the_sum_of_the_exponentials():
    Q, K, V = qkv(5, 7)
    E = tiled_attention(Q, K, V, block=3).saved["E"]
    close(E, logsumexp(scaled_dot(Q, K), axis=-1, keepdims=True), atol=1e-14)


@pytest.mark.parametrize("block", [1, 2, 8])
def test_a_query_that_may_see_nothing_gets_zeros_and_gives_none(block):
    leaves = qkv(6, 4)  # causal: the first two queries come before every key
    Y, dQ, _, dV = results(tiled_attention, *leaves, causal=True, block=block)
    same(Y[:2], np.zeros((2, 2)))
    same(dQ[:2], np.zeros((2, 3)))
    assert np.isfinite(B.to_numpy(dV)).all()
    nothing = array(np.zeros((6, 4), bool))
    for got in results(tiled_attention, *leaves, mask=nothing, block=block):
        same(got, np.zeros(got.shape))


@pytest.mark.parametrize("block", [1, 2, 8])
def test_what_the_mask_hides_from_all_may_be_nan(block):
    mask = random_mask(4, 5)
    mask[:, 1] = mask[2] = False
    leaves = [B.to_numpy(x).copy() for x in qkv()]
    clean = results(tiled_attention, *map(Tensor, leaves), mask=array(mask))
    leaves[0][2] = leaves[1][1] = leaves[2][1] = np.nan
    got = results(tiled_attention, *map(Tensor, leaves), mask=array(mask), block=block)
    assert far(got, clean) < 1e-12


def test_tiles_in_which_no_pair_may_meet_are_skipped():
    Q, K, V = qkv(8, 8)
    V.data[4:] = np.nan  # 0 · NaN would be NaN
    for hidden in ({"causal": True}, {"mask": causal_mask(8, 8)}):
        Y = tiled_attention(Q, K, V, block=4, **hidden)
        assert np.isfinite(Y[:4].numpy()).all()
        assert np.isnan(Y[4:].numpy()).all()


def blas_threads():
    return [lib.num_threads for lib in B.blas().lib_controllers]


in_threads = pytest.mark.usefixtures("three_threads")


@in_threads
def test_the_bits_are_the_same_again_and_with_one_thread():
    leaves = qkv(600, 800, front=(2,))
    options = {"causal": True, "block": 256}  # large enough for threads
    first = results(tiled_attention, *leaves, **options)
    again = results(tiled_attention, *leaves, **options)
    with B.blas().limit(limits=1):
        one = results(tiled_attention, *leaves, **options)
    for a, b, c in zip(first, again, one, strict=True):
        same(a, b)
        same(a, c)


@in_threads
def test_threads_of_the_caller_get_their_own_results_and_blas_gets_its_threads_back():
    before = blas_threads()
    inputs = [qkv(600, 300, make=array), qkv(300, 600, make=array)]
    expected = [tiled_attention(*x, block=256) for x in inputs]
    got = [None, None]

    def repeat(i):
        for _ in range(20):
            got[i] = tiled_attention(*inputs[i], block=256)

    callers = [threading.Thread(target=repeat, args=[i]) for i in (0, 1)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for a, b in zip(got, expected, strict=True):
        same(a, b)
    assert blas_threads() == before


@pytest.mark.parametrize("attend", [attention, tiled_attention])
def test_a_second_derivative_keeps_out_the_nan_that_the_mask_hides_from_all(attend):
    mask = random_mask(4, 5)
    mask[:, 1] = mask[2] = False
    mask[0, 0] = True
    Q, K, V = (B.to_numpy(x).copy() for x in qkv())
    K[1] = V[1] = np.nan
    K, V, mask, weight = array(K), array(V), array(mask), array(normal(*Q.shape))
    first = grad(lambda Q: (attend(Q, K, V, mask=mask) ** 2).sum())
    second = grad(lambda Q: (first(Q) * weight).sum())(array(Q))
    K[1] = V[1] = 0.0
    same(second, grad(lambda Q: (first(Q) * weight).sum())(array(Q)))
    assert np.isfinite(B.to_numpy(second)).all()


def test_scores_near_the_lowest_number_are_scores_like_others():
    Q, K, V = (array([[x]], "f2") for x in (-60_000.0, 1.0, 2.0))
    same(tiled_attention(Q, K, V), attention(Q, K, V))
