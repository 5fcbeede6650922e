"""How far a gradient travels, measured on the recorded graph, and what arrives."""

import math

import numpy as np
import pytest
from conftest import array, close, normal

from attention import attention
from minigrad import Tensor, graph, stack, tanh
from minigrad import backend as B


def attended(m, uniform=False, causal=False):
    """Return out_m and its inputs x_1 … x_m: the last position attends to all, with
    `uniform` by a query that scores them all 0."""
    xs = [Tensor(normal(4, seed=i)) for i in range(m)]
    X = stack(xs)  # (m, 4)
    Q = array(np.zeros((m, 4))) if uniform else X
    return attention(Q, X, X, causal=causal)[-1], xs


def recurrent(m, decay=0.9, f=tanh):
    """Return h_m of h_t = f(h_(t-1) W + x_t), and its inputs x_1 … x_m.

    W is `decay` times an orthogonal matrix, so one step shortens a gradient by `decay`,
    and by f' ≤ 1."""
    W = array(decay * np.linalg.qr(normal(4, 4))[0])
    xs = [Tensor(normal(4, seed=i)) for i in range(m)]
    h = f(xs[0])
    for x in xs[1:]:
        h = f(h @ W + x)
    return h, xs


def first_gradient(y, xs):
    """Return ‖∂y/∂x_1‖ for a cotangent of length 1."""
    u = normal(4, seed=99)
    y.backward(array(u / np.linalg.norm(u)))
    return np.linalg.norm(B.to_numpy(xs[0].grad))


@pytest.mark.parametrize("causal", [False, True])
def test_through_attention_every_path_is_as_long_for_any_number_of_keys(causal):
    lengths = set()
    for m in (2, 3, 10, 100):
        y, xs = attended(m, causal=causal)
        lengths |= {graph.path_lengths(y, x) for x in xs}
    # as a value: stack, matmul, getitem
    # as a key or query: stack, swapaxes or scaling, matmul, softmax, matmul,
    # getitem
    assert lengths == {(3, 6)}


def test_through_a_recurrent_net_a_path_grows_with_the_distance():
    for m in (2, 3, 10, 100):
        y, xs = recurrent(m)
        for t, x in enumerate(xs):
            steps = m - 1 - t
            # x_t enters by an addition and a tanh, but x_1 by its tanh alone;
            # then three ops a step
            entry = 2 if t else 1
            assert graph.path_lengths(y, x) == (3 * steps + entry,) * 2


@pytest.mark.parametrize("f", [tanh, lambda h: h + 0])
def test_what_arrives_through_a_recurrent_net_decays_at_least_geometrically(f):
    lengths = [first_gradient(*recurrent(m, f=f)) for m in (1, 11, 21, 41)]
    for m, length in zip((1, 11, 21, 41), lengths, strict=True):
        assert length <= 0.9 ** (m - 1) * (1 + 1e-12)
    if f is not tanh:  # linear: exactly so
        close(np.array(lengths), 0.9 ** np.array([0, 10, 20, 40]))


def test_what_arrives_through_uniform_attention_falls_only_as_its_weight():
    for m in (1, 10, 100, 1000):
        close(np.array(first_gradient(*attended(m, uniform=True))), 1 / m)


def test_what_arrives_from_a_key_that_matches_does_not_fall_at_all():
    for m in (2, 100, 1000):
        values = Tensor(normal(m, 4))
        keys = np.eye(1, m).T  # one number each, and only the first matches
        y = attention(array([[40.0]]), array(keys), values)[0]
        u = normal(4, seed=99)
        y.backward(array(u))
        close(values.grad[0], u, rtol=1e-12)


def test_the_recurrent_net_loses_to_uniform_attention_at_any_length_from_here_on():
    crossing = next(m for m in range(2, 999) if 0.9 ** (m - 1) < 1 / m)
    for m in (crossing, 2 * crossing, 4 * crossing):
        arrives = first_gradient(*recurrent(m))
        assert arrives < first_gradient(*attended(m, uniform=True))
    assert math.isclose(0.9 ** (crossing - 1) * crossing, 1, rel_tol=0.1)
