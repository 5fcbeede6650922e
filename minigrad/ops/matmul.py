"""The matrix product, with its gradient derived step by step."""

import math

from .. import checks
from ..primitive import primitive
from ..tensor import Tensor


# Y = A B        with A (n, k), B (k, p), Y and G = dL/dY (n, p)
#
# Step 1, one number.      Yᵢⱼ = Σₗ Aᵢₗ Bₗⱼ
#
# Step 2, its derivative.  Aᵢₗ is in row i of Y only, in each column j, with factor Bₗⱼ:
#
#                          ∂Yᵢⱼ/∂Aᵢₗ = Bₗⱼ
#
# Step 3, the chain rule.  L depends on Aᵢₗ through that whole row, so sum over j:
#
#                          dL/dAᵢₗ = Σⱼ Gᵢⱼ Bₗⱼ = Σⱼ Gᵢⱼ (Bᵀ)ⱼₗ
#
# Step 4, read that as a product, (n, p) @ (p, k):
#
#                          dL/dA = G Bᵀ
#
# Likewise Bₗⱼ is in column j of Y only, in each row i, with factor Aᵢₗ:
#
#                          dL/dBₗⱼ = Σᵢ Aᵢₗ Gᵢⱼ
#                          dL/dB = Aᵀ G                          (k, n) @ (n, p)
#
# Where n, k and p differ the shapes allow nothing else: of such products only G Bᵀ is
# (n, k), only Aᵀ G (k, p).
@primitive
def matmul(a, b, /):
    """Return the matrix product a @ b.

    (…, n, k) @ (…, k, p) -> (…, n, p); the axes in front broadcast. As in NumPy a
    vector on the left is one row, on the right one column, and the result lacks it.

    Raises: ValueError when the inner sizes differ.
    """
    checks.inner_sizes(a, b)
    if a.ndim > 2 and b.ndim == 2:
        return (all_rows(a) @ b).reshape((*a.shape[:-1], b.shape[1]))
    return a @ b


@matmul.rule
def _(g, y, a, b):
    if b.ndim == 1:  # a column, (k, 1), and g (…, n, 1)
        ga, gb = matmul.vjp(g[..., None], y, a, b[:, None])
        return ga, gb[..., 0]
    if a.ndim == 1:  # a row, (1, k), and g (…, 1, p)
        ga, gb = matmul.vjp(g[..., None, :], y, a[None, :], b)
        return ga[..., 0, :], gb
    if a.ndim > 2 and b.ndim == 2:
        ga, gb = matmul.vjp(all_rows(g), y, all_rows(a), b)
        return ga.reshape(a.shape), gb
    ga = g @ b.swapaxes(-1, -2)  # (…, n, p) @ (…, p, k) -> (…, n, k)
    gb = a.swapaxes(-1, -2) @ g  # (…, k, n) @ (…, n, p) -> (…, k, p)
    return ga, gb


def all_rows(x):
    """Return x (…, n, k) as one matrix of all its rows, (rows, k).

    One b serves the whole batch: one product of all rows is faster than many small.
    """
    return x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


Tensor.__matmul__, Tensor.__rmatmul__ = matmul, lambda b, a: matmul(a, b)
