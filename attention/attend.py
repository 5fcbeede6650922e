"""Attention: n soft lookups at once, as two matrix products and one softmax.

Letters: n queries, m keys, d_k the width of queries and keys, d_v that of values; … any
axes in front, such as batch and heads, which broadcast.
"""

import math

from minigrad import backend as B
from minigrad import matmul, softmax, where
from minigrad.primitive import constants

from .masks import causal_mask
from .scores import scaled_dot


def attention(Q, K, V, score=scaled_dot, mask=None, causal=False, return_weights=False):
    """Return softmax(score(Q, K)) V: for each query a weighted mean of the values.

    Q (…, n, d_k), K (…, m, d_k), V (…, m, d_v) -> (…, n, d_v), and with
    `return_weights` also the weights (…, n, m). Vaswani et al., "Attention Is All You
    Need" (2017), eq. 1, with any score in the place of q · k / √d_k.

    `mask` is boolean, True where a query may attend to a key, and broadcasts against
    (…, n, m); `causal` hides later keys, see `causal_mask`; a key must pass both. A
    query that may attend to nothing gets zeros, and so do the gradients through it.

    NaN in, NaN out, with one exception: a key, with its value, that `mask` hides from
    all queries has no influence, nor has a query from which it hides all keys. A NaN
    that only some queries may see reaches the others too, as 0 · NaN.

    Raises: ValueError when shapes do not fit, TypeError for a mask that is not boolean,
    a score that is no function or mixed dtypes, MemoryError when there is no room for
    (…, n, m) numbers.

    >>> import numpy as np
    >>> Q, K = np.zeros((1, 2)), np.eye(2)
    >>> attention(Q, K, np.array([[10.0], [20.0]]))  # alike: the mean
    array([[15.]])
    """
    Q, K, V, mask = checked("attention", Q, K, V, mask)
    if not callable(score):
        raise TypeError(f"attention: score {score!r} is no function, such as dot")
    make_sure_of_memory(Q, K, mask)
    Q, K, V, allowed = partners(Q, K, V, mask, causal)
    S = score(Q, K)  # (…, n, m)
    A = softmax(S, axis=-1, mask=allowed)  # (…, n, m)
    Y = matmul(A, V)  # (…, n, d_v)
    return (Y, A) if return_weights else Y


def partners(Q, K, V, mask, causal):
    """Return Q, K, V and who may attend to whom: None, or boolean as (…, n, m).

    A query, key or value that `mask` leaves without a partner is returned as 0. Its
    weights and gradients are 0 in any case, but 0 · NaN is NaN.
    """
    allowed = mask
    if causal:
        past = causal_mask(Q.shape[-2], K.shape[-2])  # (n, m)
        allowed = past if mask is None else mask & past
    if mask is not None:
        asks = allowed.any(axis=-1)[..., None]  # (…, 1 | n, 1)
        used = allowed.any(axis=-2)[..., None]  # (…, 1 | m, 1)
        Q, K, V = where(asks, Q, 0.0), where(used, K, 0.0), where(used, V, 0.0)
    return Q, K, V, allowed


def checked(name, Q, K, V, mask):
    """Return the inputs, lists as arrays, once it is sure that they fit together."""
    Q, K, V = constants(name, (Q, K, V))
    for letter, x in zip("QKV", (Q, K, V), strict=True):
        if x.ndim < 2:
            raise ValueError(
                f"{name}: {letter} must be (…, rows, width), got shape {x.shape}; "
                "soft_lookup takes one query"
            )
    n, m = Q.shape[-2], K.shape[-2]
    if V.shape[-2] != m:
        raise ValueError(
            f"{name}: keys {K.shape} and values {V.shape} differ in number, "
            f"{m} and {V.shape[-2]}"
        )
    if len({x.dtype for x in (Q, K, V) if x.dtype.kind == "f"}) > 1:
        raise TypeError(
            f"{name}: mixed dtypes {Q.dtype}, {K.dtype}, {V.dtype}; convert by .astype"
        )
    front = [x.shape[:-2] for x in (Q, K, V)]
    if mask is not None:
        (mask,) = constants(name, [mask])
        if mask.dtype != bool:
            raise TypeError(
                f"{name}: the mask is {mask.dtype}, not boolean; True means may attend"
            )
        mask = mask.reshape((1,) * (2 - mask.ndim) + mask.shape)  # (…, 1 | n, 1 | m)
        if mask.shape[-2] not in (1, n) or mask.shape[-1] not in (1, m):
            raise ValueError(
                f"{name}: a mask of shape {mask.shape} does not broadcast against "
                f"(…, {n}, {m})"
            )
        front.append(mask.shape[:-2])
    try:
        B.xp.broadcast_shapes(*front)
    except ValueError as error:
        raise ValueError(
            f"{name}: the axes in front of Q {Q.shape}, K {K.shape}, V {V.shape}"
            f"{'' if mask is None else f' and the mask {mask.shape}'} do not broadcast"
        ) from error
    return Q, K, V, mask


def make_sure_of_memory(Q, K, mask):
    """Raise a MemoryError, before anything is computed, if the scores will not fit."""
    front = [x.shape[:-2] for x in (Q, K, mask) if x is not None]
    shape = (*B.xp.broadcast_shapes(*front), Q.shape[-2], K.shape[-2])
    gib = math.prod(shape) * Q.dtype.itemsize / 2**30  # below 0.5 not worth asking
    if gib > 0.5 and 2 * gib > (free := B.free_memory() / 2**30):
        raise MemoryError(
            f"attention: scores and weights of shape {shape} take {gib:.1f} GiB each, "
            f"{free:.1f} GiB are free; tiled_attention needs neither"
        )
