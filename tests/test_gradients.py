"""The chapter's claims about gradients: Jacobians in closed form, and saturation."""

import math
from itertools import pairwise

import numpy as np
import pytest
from conftest import array, close, normal, same

from attention import attention, dot, scaled_dot, soft_lookup
from minigrad import Tensor, gradcheck, matmul, softmax
from minigrad import backend as B

# One query, five keys and their values, on the host; the score is C q · k.
C = 1.7
q, K, V = normal(3), normal(5, 3, seed=1), normal(5, 2, seed=2)
alpha = np.exp(C * K @ q) / np.exp(C * K @ q).sum()
out = alpha @ V


def lookup(**replaced):
    """Return the soft lookup with some of q, K and V replaced by Tensors."""
    inputs = {"query": q, "keys": K, "values": V}
    inputs = {name: array(x) for name, x in inputs.items()} | replaced
    return soft_lookup(**inputs, temperature=1 / C)


def jacobian(f, x):
    """Return ∂f/∂x on the host, with the axes of f and then those of x: one reverse
    pass for each output."""
    x = Tensor(x)
    y = f(x)
    rows = []
    for one in np.eye(y.size):
        x.grad = None
        y.backward(array(one.reshape(y.shape)))
        rows.append(B.to_numpy(x.grad))
    return np.reshape(rows, y.shape + x.shape)


def test_the_jacobian_of_softmax_ties_every_output_to_every_score():
    J = np.diag(alpha) - np.outer(alpha, alpha)
    close(jacobian(softmax, C * K @ q), J, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_along_any_axis_against_differences(axis):
    gradcheck(lambda x: softmax(x, axis=axis), normal(3, 4), order=2)


def test_a_cotangent_of_ones_would_see_nothing_of_softmax():
    s = Tensor(normal(6))
    softmax(s).sum().backward()
    close(s.grad, np.zeros(6), atol=1e-16)


SHAPES = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,))]
SHAPES += [((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4))]
SHAPES += [((5, 1, 2, 3), (2, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_the_gradient_of_a_product_is_exact_because_the_product_is_linear(shapes):
    a, b = (normal(*shape, seed=i) for i, shape in enumerate(shapes))
    A, D = Tensor(a), Tensor(b)
    Y = matmul(A, D)
    G = normal(*Y.shape, seed=2)
    Y.backward(array(G))
    # moving one number of A by 1 moves L = Σ G Y by Σ G (E B), E that one number
    for i in np.ndindex(a.shape):
        one = np.zeros_like(a)
        one[i] = 1
        close(A.grad[i], (G * (one @ b)).sum(), atol=1e-14)
    for i in np.ndindex(b.shape):
        one = np.zeros_like(b)
        one[i] = 1
        close(D.grad[i], (G * (a @ one)).sum(), atol=1e-14)
    gradcheck(matmul, a, b, order=2)


def test_each_value_gets_its_weight_exactly():
    J = jacobian(lambda V: lookup(values=V), V)  # (2, 5, 2)
    weights = B.to_numpy(lookup(values=array(np.eye(5))))
    for i in range(5):
        same(J[:, i], weights[i] * np.eye(2))
    close(weights, alpha)


def test_the_scores_act_through_the_jacobian_of_softmax():
    J = jacobian(lambda s: softmax(s) @ array(V), C * K @ q)  # (2, 5)
    close(J, V.T @ (np.diag(alpha) - np.outer(alpha, alpha)), rtol=1e-10, atol=1e-15)


def test_the_gradient_of_the_query_is_the_covariance_of_values_and_keys():
    J = jacobian(lambda q: lookup(query=q), q)  # (2, 3)
    covariance = sum(
        a * np.outer(v - out, k - alpha @ K)
        for a, v, k in zip(alpha, V, K, strict=True)
    )
    close(J, C * covariance, rtol=1e-10)


def test_a_key_pulls_along_the_query_by_how_far_its_value_is_from_the_output():
    J = jacobian(lambda K: lookup(keys=K), K)  # (2, 5, 3)
    expected = C * alpha[:, None, None] * (V - out)[:, :, None] * q  # (5, 2, 3)
    close(J, expected.swapaxes(0, 1), rtol=1e-10)


def test_the_same_covariance_comes_out_of_attention_scaled_by_1_over_root_d():
    J = jacobian(
        lambda Q: attention(Q, array(K), array(V), score=scaled_dot)[0], q[None]
    )[:, 0]
    beta = B.to_numpy(softmax(array(K @ q / 3**0.5)))
    mean_k, mean_v = beta @ K, beta @ V
    close(J, (V - mean_v).T * beta @ (K - mean_k) / 3**0.5, rtol=1e-10)


@pytest.mark.parametrize(
    ("dtype", "seen", "lost"),
    [
        ("float16", 17.3125, 17.40625),
        ("float32", 87.0, 104.0),  # a normal number; 0
        ("float32", 103.0, 104.0),  # a subnormal number; 0
        ("float64", 745.0, 745.2),
    ],
)
def test_gradient_reaches_the_losing_key_up_to_the_gap_where_exp_underflows(
    dtype, seen, lost
):
    def run(gap, dtype):
        """Return the weight of the second key, after checking what follows from it."""
        Q, K, V = ([[1.0]], [[0.0], [-gap]], [[1.0], [-1.0]])
        Q, K, V = (Tensor(x, dtype) for x in (Q, K, V))
        Y, A = attention(Q, K, V, score=dot, return_weights=True)
        Y.backward()
        weight = A[0, 1].item()
        assert V.grad[1, 0] == weight
        assert K.grad[1, 0] == -2 * weight  # α (v - out) q
        return weight

    assert run(seen, dtype) > 0
    assert run(lost, dtype) == 0
    wider = {"float16": "float32", "float32": "float64"}.get(dtype)
    if wider:  # the loss is the format's, not the formula's
        assert math.isclose(run(lost, wider), math.exp(-lost), rel_tol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_growing_scores_saturate_softmax(seed):
    s = normal(7, seed=seed)
    second, best = np.sort(s)[-2:]
    traces, norms = [], []
    for c in np.geomspace(0.01, 20, 30) / (best - second):
        J = jacobian(softmax, c * s)
        traces.append(np.trace(J))
        norms.append(np.linalg.norm(J))
        assert norms[-1] <= traces[-1] + 1e-15
        assert traces[-1] <= 2 * 6 * math.exp(-c * (best - second))
        if softmax(array(c * s)).max() < 0.75:
            norms.clear()
    # the trace, 1 - Σ α², falls all the way; the norm once there is a clear winner
    assert math.isclose(traces[0], 6 / 7, rel_tol=1e-2)
    assert all(high > low for high, low in pairwise(traces))
    assert all(high > low for high, low in pairwise(norms))
    assert len(norms) > 5


def test_losing_keys_stop_learning_as_the_scores_grow():
    lengths = []
    for c in np.geomspace(10, 1000, 12):
        keys = Tensor(K)
        y = soft_lookup(array(q), keys, array(V), temperature=1 / c)
        y.backward(array([1.0, -0.5]))
        losers = np.delete(B.to_numpy(keys.grad), np.argmax(K @ q), axis=0)
        lengths.append(np.linalg.norm(losers, axis=1))
    assert (lengths[0] > 0).all()
    assert all((high >= low).all() for high, low in pairwise(lengths))
    assert (lengths[-1] < 1e-12).all()


# d, then unscaled: the mean of the largest weight and of ‖∂α/∂s‖, from 200,000 draws
WIDTHS = [(4, 0.342, 0.292), (16, 0.629, 0.289), (64, 0.816, 0.196)]
WIDTHS += [(256, 0.909, 0.113), (1024, 0.955, 0.060)]


@pytest.mark.parametrize(("d", "largest", "slope"), WIDTHS)
def test_dividing_by_the_root_of_the_width_keeps_softmax_from_saturating(
    d, largest, slope
):
    Q, K = array(normal(200, 1, d)), array(normal(200, 32, d, seed=1))

    def measure(score):
        """Return the means, over 200 draws with 32 keys each, of max α and ‖∂α/∂s‖."""
        rows = np.ones((32, 1))  # each row of scores 32 times: one pass gives all of J
        S = Tensor(array(rows) * score(Q, K))  # (200, 32, 32)
        A = softmax(S)
        A.backward(array(np.tile(np.eye(32), (200, 1, 1))))
        J = B.to_numpy(S.grad)  # (200, 32, 32)
        largest = B.to_numpy(A)[:, 0].max(axis=-1)
        return largest.mean(), np.linalg.norm(J, axis=(1, 2)).mean()

    # the standard errors of 200 draws are at most 0.016 and 0.012
    close(measure(dot), [largest, slope], rtol=0, atol=0.04)
    close(measure(scaled_dot), [0.164, 0.240], rtol=0, atol=0.02)
