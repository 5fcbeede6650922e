"""Attention: n soft lookups at once, as two matrix products and one softmax.

Letters: n queries, m keys, d_k the width of queries and keys, d_v that of values; … any
axes in front, such as batch and heads, which broadcast.
"""

import math

from minigrad import matmul, softmax, where
from minigrad.primitive import constants

from .masks import causal_mask
from .scores import scaled_dot


def attention(Q, K, V, score=scaled_dot, mask=None, causal=False, return_weights=False):
    """Return softmax(score(Q, K)) V: for each query the mean of the values under its
    weights.

    Q (…, n, d_k), K (…, m, d_k), V (…, m, d_v) -> (…, n, d_v), and with
    `return_weights` also (…, n, m). Vaswani et al., "Attention Is All You Need" (2017),
    eq. 1, with any score in the place of q · k / √d_k.

    `mask` is boolean, True where a query may attend to a key, and broadcasts against
    (…, n, m); `causal` hides later keys, see `causal_mask`; a key must pass both. A
    query that may attend to nothing gets zeros, as do the gradients through it. A key
    that `mask` hides from every query has no influence even if it is NaN.

    Raises: ValueError when shapes do not fit, TypeError for a mask that is not boolean
    or for mixed dtypes.

    >>> import numpy as np
    >>> Q, K = np.zeros((1, 2)), np.eye(2)
    >>> attention(Q, K, np.array([[10.0], [20.0]]))  # alike: the mean
    array([[15.]])
    """
    check("attention", Q, K, V)
    allowed = allowed_pairs("attention", Q, K, mask, causal)  # (…, n, m) or None
    if mask is not None:
        seen = allowed.any(axis=-2)[..., None]  # (…, m, 1)
        K, V = where(seen, K, 0.0), where(seen, V, 0.0)  # 0 · NaN would be NaN
    S = score(Q, K)  # (…, n, m)
    if allowed is not None:
        S = where(allowed, S, -math.inf)
    A = softmax(S, axis=-1)  # (…, n, m)
    Y = matmul(A, V)  # (…, n, d_v)
    return (Y, A) if return_weights else Y


def check(name, Q, K, V):
    """Raise an error unless Q, K and V are matrices, or batches, that fit together."""
    for letter, x in zip("QKV", (Q, K, V), strict=True):
        if getattr(x, "ndim", 0) < 2:
            given = f"shape {x.shape}" if hasattr(x, "shape") else type(x).__name__
            raise ValueError(
                f"{name}: {letter} must be (…, rows, width), got {given}; soft_lookup takes one query"
            )
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"{name}: keys {K.shape} and values {V.shape} differ in number, {K.shape[-2]} and {V.shape[-2]}"
        )
    floats = {str(x.dtype) for x in (Q, K, V) if x.dtype.kind == "f"}
    if len(floats) > 1:
        raise TypeError(
            f"{name}: mixed dtypes {Q.dtype}, {K.dtype}, {V.dtype}; convert with .astype"
        )


def allowed_pairs(name, Q, K, mask, causal):
    """Return which pairs pass both `mask` and `causal`, boolean (…, n, m), or None."""
    n, m = Q.shape[-2], K.shape[-2]
    if mask is not None:
        (mask,) = constants(name, [mask])
        if mask.dtype != bool:
            raise TypeError(
                f"{name}: the mask is {mask.dtype}, not boolean; True means may attend"
            )
        mask = mask.reshape((1,) * (2 - mask.ndim) + mask.shape)
        if mask.shape[-2] not in (1, n) or mask.shape[-1] not in (1, m):
            raise ValueError(
                f"{name}: a mask of shape {mask.shape} does not broadcast against (…, {n}, {m})"
            )
    if not causal:
        return mask
    return causal_mask(n, m) if mask is None else mask & causal_mask(n, m)
