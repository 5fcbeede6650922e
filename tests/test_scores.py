"""Each score against a loop in plain NumPy, its gradients, its edges and its errors."""

import math

import fakecupy
import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same

from attention import additive, attention, bilinear, cosine, dot, gaussian, scaled_dot
from minigrad import Tensor, gradcheck, no_grad

# name -> the score made of its parameters, the formula for one query and one key, the
# widths of queries and keys, and the parameters
SCORES = {
    "dot": (lambda: dot, lambda q, k: q @ k, (3, 3), []),
    "scaled_dot": (lambda: scaled_dot, lambda q, k: q @ k / 3**0.5, (3, 3), []),
    "cosine": (
        lambda: cosine,
        lambda q, k: q @ k / math.sqrt((q @ q) * (k @ k)),
        (3, 3),
        [],
    ),
    "gaussian": (
        gaussian,
        lambda q, k, sigma: -((q - k) @ (q - k)) / (2 * sigma**2),
        (3, 3),
        [np.array(0.7)],
    ),
    "bilinear": (
        bilinear,
        lambda q, k, W: q @ W @ k,
        (3, 2),
        [normal(3, 2, seed=5)],
    ),
    "additive": (
        additive,
        lambda q, k, W_q, W_k, v: v @ np.tanh(q @ W_q + k @ W_k),
        (3, 2),
        [normal(3, 4, seed=5), normal(2, 4, seed=6), normal(4, seed=7)],
    ),
}


@pytest.fixture(params=SCORES.values(), ids=SCORES)
def case(request):
    return request.param


def loop(formula, Q, K, parameters):
    """Return the scores of all pairs, one at a time; the axes in front broadcast."""
    front = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    Q, K = (np.broadcast_to(x, front + x.shape[-2:]) for x in (Q, K))
    S = np.empty((*front, Q.shape[-2], K.shape[-2]))
    for *b, i, j in np.ndindex(S.shape):
        S[(*b, i, j)] = formula(Q[(*b, i)], K[(*b, j)], *parameters)
    return S


@pytest.mark.parametrize(
    ("front_q", "front_k"),
    [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((2,), ()), ((), (2,))],
)
def test_all_pairs_at_once_are_the_loop_over_pairs(case, front_q, front_k):
    make, formula, (d_q, d_k), parameters = case
    Q, K = normal(*front_q, 4, d_q), normal(*front_k, 5, d_k, seed=1)
    expected = loop(formula, Q, K, parameters)
    score = make(*map(array, parameters))
    close(score(array(Q), array(K)), expected, rtol=1e-12, atol=1e-13)
    score = make(*map(Tensor, parameters))
    close(score(Tensor(Q), Tensor(K)), expected, rtol=1e-12, atol=1e-13)


@numpy_only  # the ops that they are made of are differentiated everywhere
def test_gradients_of_queries_keys_and_parameters_to_order_2(case):
    make, _, (d_q, d_k), parameters = case

    def f(Q, K, *parameters):
        return make(*parameters)(Q, K)

    Q, K = normal(2, 2, d_q), normal(3, d_k, seed=1)  # K's gradient sums over the batch
    gradcheck(f, Q, K, *parameters, order=2)


def test_attention_takes_any_score(case):
    make, formula, (d_q, d_k), parameters = case
    Q, K, V = normal(4, d_q), normal(5, d_k, seed=1), normal(5, 2, seed=2)
    e = np.exp(loop(formula, Q, K, parameters))
    expected = (e / e.sum(axis=-1, keepdims=True)) @ V
    score = make(*map(array, parameters))
    close(attention(array(Q), array(K), array(V), score), expected)


def test_no_queries_or_no_keys_are_no_error(case):
    make, _, (d_q, d_k), parameters = case
    score = make(*map(array, parameters))
    same(score(array(normal(0, d_q)), array(normal(5, d_k))), np.empty((0, 5)))
    same(score(array(normal(4, d_q)), array(normal(0, d_k))), np.empty((4, 0)))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_narrow_float_stays_narrow(case, dtype):
    make, _, (d_q, d_k), parameters = case
    leaves = [Tensor(x, dtype) for x in (normal(4, d_q), normal(5, d_k), *parameters)]
    S = make(*leaves[2:])(*leaves[:2])
    S.backward(array(normal(4, 5), dtype))
    assert {x.dtype for x in (S, *(x.grad for x in leaves))} == {np.dtype(dtype)}


def test_inside_no_grad_scores_are_arrays_with_the_same_values(case, xp):
    make, _, (d_q, d_k), parameters = case
    score = make(*map(Tensor, parameters))
    Q, K = Tensor(normal(4, d_q)), Tensor(normal(5, d_k, seed=1))
    with no_grad():
        S = score(Q, K)
    assert isinstance(S, xp.ndarray)
    same(S, score(Q, K))


def test_no_value_is_read_back_from_the_device(case):
    make, _, (d_q, d_k), parameters = case
    score = make(*map(Tensor, parameters))
    Q, K, V = (Tensor(normal(2, *s)) for s in [(4, d_q), (5, d_k), (5, 2)])
    mask, g = array(normal(4, 5) > 0), array(normal(2, 4, 2))
    before = fakecupy.reads
    attention(Q, K, V, score, mask, causal=True).backward(g)
    assert fakecupy.reads == before


def test_a_zero_vector_has_no_direction_and_scores_0():
    Q, K = Tensor([[0.0, 0.0], [3.0, 4.0]]), Tensor([[0.0, 0.0], [1.0, 0.0]])
    S = cosine(Q, K)
    S.backward(array([[1.0, 2.0], [3.0, 4.0]]))
    close(S, [[0.0, 0.0], [0.0, 0.6]])
    close(Q.grad[0], [2.0, 0.0])  # left as it is, so dS/dq = k / ‖k‖
    close(K.grad[0], [3 * 0.6, 3 * 0.8])


def test_length_does_not_count_for_the_cosine():
    Q, K = normal(4, 3), normal(5, 3, seed=1)
    close(cosine(array(1e3 * Q), array(1e-3 * K)), cosine(array(Q), array(K)))
    close(cosine(array(Q), array(-2 * Q))[0, 0], -1.0)


def test_scaling_holds_the_variance_of_the_scores_at_1():
    for d in (4, 16, 64):  # 4,000 independent pairs of one query and one key
        Q, K = array(normal(4000, 1, d)), array(normal(4000, 1, d, seed=1))
        assert math.isclose(float(dot(Q, K).var()), d, rel_tol=0.1)
        assert math.isclose(float(scaled_dot(Q, K).var()), 1, rel_tol=0.1)


def test_a_vector_without_numbers_scores_0():
    same(scaled_dot(array(np.ones((2, 0))), array(np.ones((3, 0)))), np.zeros((2, 3)))


def test_the_gaussian_keeps_its_digits_where_query_and_key_are_close():
    far = array([[1e8, 1e8]])
    same(gaussian(1.0)(far, array([[1e8 + 1, 1e8], [1e8, 1e8]])), [[-0.5, 0.0]])


def test_attention_with_the_gaussian_score_is_nadaraya_watson_regression():
    x, y, at = normal(50), normal(50, seed=1), np.linspace(-2, 2, 9)
    kernel = np.exp(-0.5 * ((at[:, None] - x) / 0.3) ** 2) / (
        0.3 * math.sqrt(2 * math.pi)
    )
    smooth = (kernel * y).sum(axis=1) / kernel.sum(axis=1)
    columns = (array(c[:, None]) for c in (at, x, y))
    close(attention(*columns, score=gaussian(0.3))[:, 0], smooth)


@pytest.mark.parametrize("name", ["dot", "scaled_dot", "cosine", "gaussian"])
def test_queries_and_keys_of_different_widths_are_refused(name):
    make, _, _, parameters = SCORES[name]
    with pytest.raises(
        ValueError, match=rf"{name}: Q \(4, 3\), K \(5, 2\) .*d is both 3 and 2"
    ):
        make(*parameters)(array(normal(4, 3)), array(normal(5, 2)))


@pytest.mark.parametrize("name", ["bilinear", "additive"])
def test_widths_that_the_parameters_do_not_have_are_refused(name):
    make, _, (d_q, d_k), parameters = SCORES[name]
    score = make(*map(array, parameters))
    for widths in [(d_q + 1, d_k), (d_q, d_k + 1), (1, d_k)]:
        with pytest.raises(ValueError, match=f"{name}: Q .* must be .* is both"):
            score(*(array(normal(4, d)) for d in widths))


@pytest.mark.parametrize("sigma", [0, -1.0, math.nan, np.ones(2)])
def test_a_width_of_the_gaussian_that_is_not_above_0_is_refused(sigma):
    for wrap in (array, Tensor):
        with pytest.raises(
            ValueError, match="gaussian: sigma .* is not (above 0|one number)"
        ):
            gaussian(wrap(np.asarray(sigma, float)))


def test_parameters_of_the_wrong_shape_are_refused_when_the_score_is_made():
    with pytest.raises(ValueError, match=r"bilinear: W \(3,\) must be \(d_q, d_k\)"):
        bilinear(array(normal(3)))
    for W_q, W_k, v in [
        ((3, 4), (2, 5), (4,)),
        ((3, 4), (2, 4), (4, 1)),
        ((4,), (2, 4), (4,)),
    ]:
        with pytest.raises(ValueError, match="additive: W_q .* must be"):
            additive(*(array(normal(*shape)) for shape in (W_q, W_k, v)))
