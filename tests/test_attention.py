"""Attention: what the formula promises, the same for every score and size."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same
from hypothesis import given
from hypothesis import strategies as st
from qkv import pull, qkv

from attention import attention, causal_mask, gaussian, soft_lookup
from minigrad import Tensor, graph
from minigrad import backend as B


@given(
    st.integers(1, 12),
    st.floats(0, 1e4),
    st.sampled_from(["float16", "float32", "float64"]),
    st.integers(0, 99),
)
def test_weights_are_not_negative_and_sum_to_1(m, magnitude, dtype, seed):
    S = magnitude * np.random.default_rng(seed).uniform(-1, 1, (3, m))
    Q, K, V = qkv(3, m, make=array, dtype=dtype)
    _, A = attention(Q, K, V, score=lambda Q, K: array(S, dtype), return_weights=True)
    A = B.to_numpy(A)
    assert A.dtype == dtype
    assert (A >= 0).all()
    assert (abs(A.sum(axis=-1, dtype=float) - 1) <= m * np.finfo(dtype).eps).all()


@pytest.mark.parametrize("level", [-1e4, 0.0, 1e4])
def test_equal_scores_weigh_every_key_alike_and_give_the_centroid(level):
    Q, K, V = qkv(make=array)
    score = lambda Q, K: array(np.full((4, 5), level))
    Y, A = attention(Q, K, V, score=score, return_weights=True)
    same(A, np.full((4, 5), 0.2))
    close(Y, np.tile(B.to_numpy(V).mean(axis=0), (4, 1)))


def test_where_nothing_matches_the_answer_tends_to_the_centroid():
    Q, K, V = qkv(make=array)
    centroid = B.to_numpy(V).mean(axis=0)

    def distance(strength):
        return abs(B.to_numpy(attention(strength * Q, K, V)) - centroid).max()

    assert distance(0) < 1e-15
    # to first order in the scores: a tenth of the scores, a tenth of the distance
    assert math.isclose(distance(1e-4) / distance(1e-5), 10, rel_tol=1e-3)


@given(st.integers(1, 12), st.floats(0, 1e3), st.integers(0, 99))
def test_the_output_lies_in_the_convex_hull_of_the_values(m, magnitude, seed):
    Q, K = magnitude * normal(6, 3, seed=seed), normal(m, 3, seed=seed + 1)
    V, directions = normal(m, 4, seed=seed + 2), normal(4, 50, seed=seed + 3)
    Y = B.to_numpy(attention(array(Q), array(K), array(V))) @ directions
    inside = V @ directions  # a point is in the hull if it is in every slab around it
    assert (Y >= inside.min(axis=0) - 1e-12).all()
    assert (Y <= inside.max(axis=0) + 1e-12).all()


@pytest.mark.parametrize("strict", [False, True])
def test_what_comes_later_has_no_influence_to_the_last_bit(strict):
    Q, K, V = qkv(6, 6)
    mask = causal_mask(6, 6, strict)
    before = attention(Q, K, V, mask=mask)
    for t in range(6):  # query t sees the keys before `end`
        end = t if strict else t + 1
        later = [B.to_numpy(x).copy() for x in (K, V)]
        for x in later:
            x[end:] = 1e3 * normal(6 - end, x.shape[-1], seed=7)
        same(attention(Q, *map(Tensor, later), mask=mask)[: t + 1], before[: t + 1])


@pytest.mark.parametrize("strict", [False, True])
def test_every_earlier_position_has_influence_and_only_those_get_gradients(strict):
    for t in range(6):
        Q, K, V = qkv(6, 6)
        y = attention(Q, K, V, mask=causal_mask(6, 6, strict))[t]
        seen = np.arange(6) < t + (not strict)
        # one key alone has weight 1 whatever it is
        moves = seen if seen.sum() > 1 else np.zeros(6, bool)
        for grad, expected in zip(pull(y, [K, V]), (moves, seen), strict=True):
            same((B.to_numpy(grad) != 0).any(axis=-1), expected)


@pytest.mark.parametrize("m", [1, 17, 4096])
def test_the_same_score_serves_any_number_of_keys_and_finds_one_anywhere(m):
    _, K, V = qkv(1, m, 8, make=array)
    for position in {0, m // 2, m - 1}:
        query = K[position : position + 1]
        Y, A = attention(query, K, V, score=gaussian(0.1), return_weights=True)
        assert A.shape == (1, m)
        close(A[0, position], 1.0, rtol=1e-3)
        close(Y, V[position : position + 1], rtol=1e-2)


@pytest.mark.parametrize("causal", [False, True])
def test_any_number_of_queries_is_two_matmuls_and_one_softmax(causal):
    counts = [
        graph.count(attention(*qkv(n, 5, front=front), causal=causal))
        for n, front in [(1, ()), (10, ()), (100, ()), (10, (2, 3))]
    ]
    assert counts[0]["matmul"] == 2
    assert counts[0]["softmax"] == 1
    assert counts.count(counts[0]) == len(counts)


def test_a_batch_of_queries_is_the_loop_over_queries():
    Q, K, V = qkv(7, 9, front=(2,))
    G = array(normal(2, 7, 2, seed=9))
    Y = attention(Q, K, V)
    Y.backward(G)
    batched = [x.grad for x in (Q, K, V)]
    for x in (Q, K, V):
        x.grad = None
    for b, i in np.ndindex(2, 7):
        y = soft_lookup(Q[b, i], K[b], V[b], temperature=math.sqrt(3))
        close(y, Y[b, i])
        y.backward(G[b, i])
    for x, expected in zip((Q, K, V), batched, strict=True):
        close(x.grad, expected, atol=1e-13)


def test_the_order_of_the_pairs_does_not_matter_and_weights_move_with_their_keys():
    Q, K, V = qkv(4, 7, make=array)
    order = np.random.default_rng(0).permutation(7)
    Y, A = attention(Q, K, V, return_weights=True)
    shuffled = (array(B.to_numpy(x)[order]) for x in (K, V))
    Y2, A2 = attention(Q, *shuffled, return_weights=True)
    close(Y2, Y, atol=1e-14)
    close(A2, B.to_numpy(A)[:, order])
