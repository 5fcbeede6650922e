"""Attention without the n × m matrix: exact, in memory that grows with n + m.

The scores are made tile by tile, used, and forgotten.

Forward. A softmax seems to need all scores of a query at once, for their maximum M and
their sum Z. But both can be kept up to date. After some of the keys let

    M = max s          Z = Σ e^(s - M)          Y = Σ e^(s - M) v

Then more keys come, with scores s'. The maximum grows to M' = max(M, max s'), and what
was summed under M is too large by one factor, r = e^(M - M'), for e^(s - M') =
e^(s - M) e^(M - M'). So put that right, and go on summing:

    Z' = r Z + Σ e^(s' - M')                    Y' = r Y + Σ e^(s' - M') v

After the last key Y / Z is softmax(S) V: nothing is approximated.

Backward. One number a query is kept, its logsumexp, E = M + log Z = log Σ eˢ, from
which the weights of any tile can be made again: A = e^(S - E). With g = dL/dY, by the
rules of matmul and softmax,

    dV = Aᵀ g        dA = g Vᵀ        dS = A (dA - D)        dQ = dS K / √d_k
                                                             dK = dSᵀ Q / √d_k

where D, the mean of dA under the weights, would take a whole row of A. But it is known:
D = Σⱼ Aⱼ dAⱼ = Σⱼ Aⱼ (g · vⱼ) = g · Σⱼ Aⱼ vⱼ = g · Y.

Milakov & Gimelshein, "Online normalizer calculation for softmax" (2018), algorithm 3;
Rabe & Staats, "Self-attention Does Not Need O(n²) Memory" (2021); Dao et al.,
"FlashAttention" (2022), algorithms 2 and 4.

Letters: n queries, m keys, d_k and d_v the widths of keys and values; b queries and c
keys in a tile; … any axes in front, which broadcast.
"""

import itertools
import math

from minigrad import backend, softmax, sum
from minigrad.checks import flag, integer, optional, takes
from minigrad.primitive import primitive

from . import checks
from .masks import partners
from .scores import scaled_dot
from .tiles import Tiles

BLOCK = 512  # a tile of float32 takes 1 MiB and stays in a core's cache


@takes("… n d, … m d, … m d_v", causal=flag, block=optional(integer(1)))
def tiled_attention(Q, K, V, mask=None, causal=False, block=None):
    """Return what `attention` returns, and its gradients, in linear memory.

    Q (…, n, d_k), K (…, m, d_k), V (…, m, d_v) -> (…, n, d_v), with the score
    q · k / √d_k. `mask` and `causal` are those of `attention`; tiles in which they
    leave nothing are skipped. `block` is the number of keys in a tile, and of queries;
    of those half as many if causal.

    A second derivative is right too, but takes the memory of `attention`.

    Raises: ValueError when shapes do not fit or block < 1, TypeError for a mask that is
    not boolean, mixed dtypes, or a block that is not an integer.

    >>> import numpy as np
    >>> Q, K = np.zeros((1, 2)), np.eye(2)
    >>> tiled_attention(Q, K, np.array([[10.0], [20.0]]), block=1)
    array([[15.]])
    """
    checks.one_dtype(Q, K, V)
    mask = None if mask is None else checks.mask(mask, Q, K, V)
    return _tiled_attention(Q, K, V, mask=mask, causal=causal, block=block or BLOCK)


@primitive
def _tiled_attention(Q, K, V, /, mask, causal, block):
    t = Tiles(Q, K, V, mask, causal, block)
    n, dtype = Q.shape[-2], backend.xp.result_type(Q, K, V, 1.0)
    wide = backend.xp.result_type(t.Q, t.K, t.V, 1.0)
    Y = backend.xp.zeros((*t.front, n, V.shape[-1]), wide)  # (…, n, d_v)
    E = backend.xp.zeros((*t.front, n, 1), wide)  # (…, n, 1)

    def look_up(place, rows):
        """Fill these rows of Y and E."""
        y = Y[place][rows]  # (b, d_v)
        M = backend.xp.full((len(y), 1), -math.inf, wide)  # (b, 1)
        Z = backend.xp.zeros_like(M)  # (b, 1)
        for keys in t.keys_of(rows):
            allowed = t.allowed(place, rows, keys)
            if allowed is None:
                continue
            S, _, _, v = t.scores(place, rows, keys, allowed)  # (b, c)
            M_new = backend.xp.maximum(M, S.max(axis=-1, keepdims=True))  # (b, 1)
            top = finite(M_new)  # (b, 1)
            r = backend.xp.exp(M - top)  # (b, 1)
            S -= top
            e = backend.xp.exp(S, out=S)  # (b, c)
            Z = r * Z + e.sum(axis=-1, keepdims=True)  # (b, 1)
            y *= r
            y += e @ v  # (b, d_v)
            M = M_new
        Z = backend.xp.where(Z == 0, 1.0, Z)  # a query that may meet no key: 0 / 1
        y /= Z
        E[place][rows] = finite(M) + backend.xp.log(Z)

    # the longest first: if causal, the last queries see most keys
    tasks = list(itertools.product(t.batch, t.rows[::-1]))
    for _ in t.run(look_up, tasks):
        pass
    return Y.astype(dtype, copy=False), {"E": E}


@_tiled_attention.rule
def _(g, y, Q, K, V, mask, causal, block, E):
    if E is None:  # the gradient is to be differentiated again
        return plain_rule(g, y, Q, K, V, mask, causal)
    t = Tiles(Q, K, V, mask, causal, block)
    D = (backend.widened(g) * y).sum(axis=-1, keepdims=True)  # (…, n, 1)
    dQ, dK, dV = (backend.xp.zeros(x.shape, E.dtype) for x in (t.Q, t.K, t.V))

    def pull(place, rows, keys):
        """Return what a tile adds to these rows of dQ and these keys of dK and dV."""
        allowed = t.allowed(place, rows, keys)
        if allowed is None:
            return 0.0, 0.0, 0.0
        S, q, k, v = t.scores(place, rows, keys, allowed)  # (b, c)
        S -= E[place][rows]
        A = backend.xp.exp(S, out=S)  # (b, c)
        dY = g[place][rows]  # (b, d_v)
        dv = A.T @ dY  # (c, d_v)
        dS = dY @ v.T  # (b, c)
        dS -= D[place][rows]
        dS *= A
        return dS @ k, dS.T @ q, dv  # (b, d_k), (c, d_k), (c, d_v)

    tiles = [(place, r, k) for place in t.batch for r in t.rows for k in t.keys_of(r)]
    # added here, in order: no two threads write to one place, and no bit changes
    for (place, rows, keys), (dq, dk, dv) in zip(
        tiles, t.run(pull, tiles), strict=True
    ):
        dQ[place][rows] += dq
        dK[place][keys] += dk  # with the 1 / √d_k that is in q
        dV[place][keys] += dv
    dQ *= t.scale
    return dQ, dK, dV


def finite(M):
    """Return M with 0 for -inf: where no score is left, -inf less -inf would be NaN."""
    return backend.xp.where(M == -math.inf, 0.0, M)


def plain_rule(g, y, Q, K, V, mask, causal):
    """Return dL/dQ, dL/dK and dL/dV by the whole matrix: what the tiles add up to."""
    Q, K, V, allowed = partners(Q, K, V, mask, causal)
    A = softmax(scaled_dot(Q, K), mask=allowed)  # (…, n, m)
    dA = g @ V.swapaxes(-1, -2)  # (…, n, m)
    dS = A * (dA - sum(g * y, axis=-1, keepdims=True))  # (…, n, m)
    dS = dS / math.sqrt(max(Q.shape[-1], 1))
    return dS @ K, dS.swapaxes(-1, -2) @ Q, A.swapaxes(-1, -2) @ g
