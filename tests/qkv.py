"""Queries, keys and values for tests of attention, and the loop that it replaces."""

import numpy as np
from conftest import array, normal

from minigrad import Tensor


def qkv(n=4, m=5, d_k=3, d_v=2, front=(), make=Tensor, dtype=None):
    """Return random Q, K and V as Tensors, or as what else `make` returns."""
    shapes = (*front, n, d_k), (*front, m, d_k), (*front, m, d_v)
    return [make(normal(*s, seed=i), dtype) for i, s in enumerate(shapes)]


def pull(y, leaves, seed=9):
    """Return the gradients of the leaves for a random cotangent."""
    for leaf in leaves:
        leaf.grad = None
    y.backward(array(normal(*y.shape, seed=seed), y.dtype))
    return [leaf.grad for leaf in leaves]


def loop(Q, K, V, allowed):
    """Return outputs and weights by the formula, query by query, over allowed keys."""
    fronts = np.broadcast_shapes(*(x.shape[:-2] for x in (Q, K, V, allowed)))
    Q, K, V = (np.broadcast_to(x, fronts + x.shape[-2:]) for x in (Q, K, V))
    shape = (*fronts, Q.shape[-2], K.shape[-2])
    Y, A = np.zeros((*shape[:-1], V.shape[-1])), np.zeros(shape)
    for *b, i in np.ndindex(shape[:-1]):
        b = tuple(b)
        keep = np.broadcast_to(allowed, shape)[(*b, i)]
        e = np.exp(K[b][keep] @ Q[(*b, i)] / Q.shape[-1] ** 0.5)
        if keep.any():
            A[(*b, i)][keep] = e / e.sum()
            Y[(*b, i)] = e / e.sum() @ V[b][keep]
    return Y, A
