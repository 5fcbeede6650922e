"""The soft dictionary: its formula, its two limits, its numbers, its gradients."""

import math
from itertools import pairwise

import numpy as np
import pytest
from conftest import array, close, normal, same

from attention import attention, gaussian, hard_lookup, soft_lookup
from minigrad import Tensor, gradcheck
from minigrad import backend as B


def weights(query, keys, temperature=1.0):
    """Return the weights themselves, on the host: look up unit vectors."""
    values = array(np.eye(len(keys)))
    return B.to_numpy(soft_lookup(array(query), array(keys), values, temperature))


def unit_rows(*shape, seed=0):
    x = normal(*shape, seed=seed)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def test_the_answer_is_the_mean_of_the_values_under_softmax_of_the_scores():
    q, K, V = normal(3), normal(5, 3, seed=1), normal(5, 2, seed=2)
    e = [math.exp(sum(q[a] * k[a] for a in range(3)) / 0.7) for k in K]
    expected = sum(e[i] / sum(e) * V[i] for i in range(5))
    close(soft_lookup(array(q), array(K), array(V), 0.7), expected)


def test_one_score_of_5_and_three_of_0():  # the chapter's self-test (b)
    alpha = weights([5.0], [[1.0], [0.0], [0.0], [0.0]])
    e5 = math.exp(5)
    close(alpha, [e5 / (e5 + 3), *3 * [1 / (e5 + 3)]])
    close(alpha, [0.98018666, *3 * [0.00660445]], atol=5e-9)


@pytest.mark.parametrize("seed", range(5))
def test_growing_scores_approach_the_hard_lookup_within_the_bound(seed):
    q, K = normal(4, seed=seed), normal(9, 4, seed=seed + 50)
    scores = np.sort(K @ q)
    gap, best = scores[-1] - scores[-2], np.argmax(K @ q)
    for c in np.geomspace(1e-3, 1e3, 25):
        losers = np.delete(weights(q, K, 1 / c), best).sum()  # 1 - α_max, unrounded
        assert losers <= 8 * math.exp(-c * gap) * (1 + 1e-12)


def test_sharpening_goes_from_the_mean_to_the_hard_lookup():
    K, V = unit_rows(6, 4), normal(6, 3, seed=1)
    for i in range(6):
        q = array(K[i])
        flat = soft_lookup(q, array(K), array(V), temperature=1e12)
        sharp = soft_lookup(q, array(K), array(V), temperature=1e-3)
        close(flat, V.mean(axis=0), atol=1e-11)
        close(sharp, hard_lookup(q, array(K), array(V)), atol=1e-12)


def test_entropy_falls_from_log_m_to_0_as_the_scores_grow():
    q, K = normal(4), normal(7, 4, seed=1)
    entropies = []
    for c in np.geomspace(1e-6, 1e3, 40):
        alpha = weights(q, K, 1 / c)
        entropies.append(-sum(a * math.log(a) for a in alpha if a))
    assert math.isclose(entropies[0], math.log(7), rel_tol=1e-9)
    assert 0 <= entropies[-1] < 1e-12
    assert all(low <= high for high, low in pairwise(entropies))


def test_keys_that_tie_share():
    alpha = weights([2.0], [[1.0], [0.5], [1.0]], temperature=1e-3)
    same(alpha, [0.5, 0.0, 0.5])


def test_the_temperature_divides_the_scores():
    q, K = normal(4), normal(7, 4, seed=1)
    sharp, plain, flat = (weights(q, K, T) for T in (0.1, 1.0, 10.0))
    close(sharp, weights(q / 0.1, K))
    close(flat, weights(q / 10, K))
    assert sharp.max() > plain.max() > flat.max()
    assert sharp.min() < plain.min() < flat.min()


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (1.0, [0.199, 0.180, 0.442, 0.180]),
        (0.1, [0.0003, 0.0001, 0.9994, 0.0001]),
        (10.0, [0.246, 0.244, 0.267, 0.244]),
    ],
)
def test_a_query_90_percent_like_a_document_does_not_get_90_percent_of_it(
    temperature, expected
):
    K = np.linalg.qr(normal(4, 4))[0]  # orthonormal rows
    query = 0.9 * K[2] + 0.1 * K[0]
    digits = 4 if temperature == 0.1 else 3
    same(weights(query, K, temperature).round(digits), expected)


def test_scores_that_are_log_weights_give_those_weights():
    K = np.linalg.qr(normal(4, 4))[0]
    wanted = np.array([0.0999, 0.00005, 0.9, 0.00005])
    close(weights(np.log(wanted) @ K, K), wanted)


def test_a_soft_dictionary_that_is_empty_answers_zeros_and_passes_none_on():
    q, K, V = Tensor(normal(3)), Tensor(np.zeros((0, 3))), Tensor(np.zeros((0, 2)))
    y = soft_lookup(q, K, V)
    y.backward(array(normal(2)))
    same(y, [0.0, 0.0])
    same(q.grad, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("score", [None, gaussian(0.8)], ids=["dot", "gaussian"])
def test_gradients_reach_the_query_the_keys_the_values_and_the_temperature(score):
    def f(q, K, V, T):
        return soft_lookup(q, K, V, T, **({"score": score} if score else {}))

    inputs = normal(3), normal(4, 3, seed=1), normal(4, 2, seed=2), np.array(0.7)
    gradcheck(f, *inputs, order=2)


def test_lists_and_integers_are_taken_and_values_may_be_numbers():
    close(
        soft_lookup([0, 1], [[1, 0], [0, 1]], [10, 20]),
        (10 + 20 * math.e) / (1 + math.e),
    )
    mixed = soft_lookup(Tensor([0.0, 1.0], dtype="float32"), [[1, 0], [0, 1]], [10, 20])
    assert mixed.dtype == "float32"


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_narrow_float_stays_narrow(dtype):
    q, K, V = (Tensor(normal(*s), dtype) for s in [(3,), (5, 3), (5, 2)])
    y = soft_lookup(q, K, V, temperature=np.float64(0.5))
    y.backward(array(normal(2), dtype))
    assert {x.dtype for x in (y, q.grad, K.grad, V.grad)} == {np.dtype(dtype)}


def test_a_nan_key_is_not_an_error_and_not_hidden():
    keys = array([[math.nan, 0.0], [0.0, 1.0]])
    same(soft_lookup(array([1.0, 1.0]), keys, array([1.0, 2.0])), math.nan)


@pytest.mark.parametrize("temperature", [0, 0.0, -1.0, math.nan])
def test_a_temperature_that_is_not_above_0_is_refused(temperature):
    with pytest.raises(ValueError, match="soft_lookup: temperature .* is not above 0"):
        soft_lookup([1.0], [[1.0]], [[1.0]], temperature)


def test_the_name_of_a_score_is_not_a_score():
    with pytest.raises(TypeError, match="soft_lookup: the score 'dot' is no function"):
        soft_lookup([1.0], [[1.0]], [[1.0]], score="dot")
    with pytest.raises(TypeError, match="attention: the score 'dot' is no function"):
        attention([[1.0]], [[1.0]], [[1.0]], score="dot")


@pytest.mark.parametrize(
    "shapes",
    [
        [(1, 3), (4, 3), (4, 2)],
        [(), (4, 3), (4, 2)],
        [(3,), (4,), (4, 2)],
        [(3,), (4, 3), (5, 2)],
        [(3,), (4, 3), (4, 4, 2)],  # a matmul that would sum over the wrong axis
        [(3,), (4, 3), ()],
        [(3,), (4, 2), (4, 2)],
    ],
)
def test_shapes_that_do_not_fit_are_refused_at_the_call(shapes):
    with pytest.raises(ValueError, match="soft_lookup: ") as error:
        soft_lookup(*(array(normal(*shape)) for shape in shapes))
    assert str(shapes[1][-1]) in str(error.value)


@pytest.mark.parametrize("shape", [(), (3,), (3, 2), (1, 3), (2, 1), (2, 2, 3)])
def test_a_score_gives_one_number_for_each_pair(shape):
    """Others would broadcast, and answer another question in silence."""
    Q, K, V = (array(normal(*s)) for s in [(2, 4), (3, 4), (3, 5)])
    score = lambda Q, K: array(normal(*shape))
    with pytest.raises(
        ValueError, match="attention: .*the score returned .* each pair"
    ):
        attention(Q, K, V, score=score)
    if shape != (1, 3):  # right for one query
        with pytest.raises(ValueError, match="soft_lookup: .*the score returned"):
            soft_lookup(Q[0], K, V, score=score)
    with pytest.raises(ValueError, match=r"it must be \(1, 2, 3\), a number"):
        attention(Q[None], K, V, score=lambda Q, K: array(normal(2, 3)))


@pytest.mark.parametrize("number", [0.5, np.float64(0.5), np.array(0.5)])
def test_the_type_of_a_number_beside_them_leaves_float32_as_it_is(number):
    Q, K, V = (array(normal(*s), "float32") for s in [(2, 4), (3, 4), (3, 5)])
    answers = [
        soft_lookup(Q[0], K, V, temperature=number),
        soft_lookup(Q[0], K, V, score=gaussian(number)),
        attention(Q, K, V, score=gaussian(number)),
    ]
    assert [str(y.dtype) for y in answers] == ["float32"] * 3
