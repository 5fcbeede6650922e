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

Backward. One number a query is kept, L = M + log Z = log Σ eˢ, from which the weights
of any tile can be made again: P = e^(S - L). With dL/dY = g, by the rules of matmul and
softmax,

    dV = Pᵀ g        dP = g Vᵀ        dS = P (dP - D)        dQ = dS K / √d_k
                                                             dK = dSᵀ Q / √d_k

where D, the mean of dP under the weights, would take a whole row of P. But it is known:
D = Σⱼ Pⱼ dPⱼ = Σⱼ Pⱼ (g · vⱼ) = g · Σⱼ Pⱼ vⱼ = g · Y.

Milakov & Gimelshein, "Online normalizer calculation for softmax" (2018), algorithm 3;
Rabe & Staats, "Self-attention Does Not Need O(n²) Memory" (2021); Dao et al.,
"FlashAttention" (2022), algorithms 2 and 4.

Letters: n queries, m keys, d_k and d_v the widths of keys and values; b queries and c
keys in a tile; … any axes in front, which broadcast.
"""

import itertools
import math
from numbers import Integral

from minigrad import Tensor, sum
from minigrad import backend as B
from minigrad.primitive import primitive

from .attend import attention, checked
from .lookup import same_width
from .tiles import Tiles, workers

BLOCK = 512  # a tile of float32 takes 1 MiB and stays in a core's cache


def tiled_attention(Q, K, V, mask=None, causal=False, block=None):
    """Return what `attention` returns, and its gradients, in linear memory.

    Q (…, n, d_k), K (…, m, d_k), V (…, m, d_v) -> (…, n, d_v), with the score
    q · k / √d_k. `mask` and `causal` are those of `attention`; tiles in which they
    leave nothing are skipped. `block` is the number of queries, and of keys, in a tile.

    A second derivative is right too, but takes the memory of `attention`.

    Raises: ValueError when shapes do not fit or block < 1, TypeError for a mask that is
    not boolean, mixed dtypes, or a block that is not an integer.

    >>> import numpy as np
    >>> Q, K = np.zeros((1, 2)), np.eye(2)
    >>> tiled_attention(Q, K, np.array([[10.0], [20.0]]), block=1)
    array([[15.]])
    """
    Q, K, V, mask = checked("tiled_attention", Q, K, V, mask)
    same_width("tiled_attention", Q, K)
    block = BLOCK if block is None else block
    if not isinstance(block, Integral):
        raise TypeError(f"tiled_attention: block {block!r} is not an integer")
    if block < 1:
        raise ValueError(f"tiled_attention: block {block} is not at least 1")
    return _tiled_attention(Q, K, V, mask=mask, causal=causal, block=block)


@primitive
def _tiled_attention(Q, K, V, /, mask, causal, block):
    t = Tiles(Q, K, V, mask, causal, block)
    dtype = B.xp.result_type(Q, K, V, 1.0)
    Y = B.xp.zeros((*t.front, t.n, V.shape[-1]), dtype)  # (…, n, d_v)
    L = B.xp.zeros((*t.front, t.n, 1), dtype)  # (…, n, 1)
    lowest = B.xp.finfo(dtype).min / 2  # not -inf: -inf less that would be NaN

    def look_up(at, rows):
        y, M = Y[at][rows], L[at][rows] + lowest  # (b, d_v), (b, 1)
        Z = B.xp.zeros_like(M)  # (b, 1)
        for keys in t.keys_of(rows):
            seen = t.seen(at, rows, keys)
            if seen is None:
                continue
            S, _, _, v = t.scores(at, rows, keys, seen)  # (b, c)
            top = B.xp.maximum(M, S.max(axis=-1, keepdims=True))  # (b, 1)
            r = B.xp.exp(M - top)  # (b, 1)
            S -= top
            P = B.xp.exp(S, out=S)  # (b, c)
            Z = r * Z + P.sum(axis=-1, keepdims=True)  # (b, 1)
            y *= r
            y += P @ v  # (b, d_v)
            M = top
        Z = B.xp.where(Z == 0, 1.0, Z)  # a query that sees nothing: 0 / 1
        y /= Z
        L[at][rows] = M + B.xp.log(Z)

    with workers(t.in_threads) as run:
        # from the end: if causal, the last queries see most keys
        for _ in run(look_up, itertools.product(t.batch, t.rows[::-1])):
            pass
    return Y, {"L": L}


@_tiled_attention.rule
def _(g, y, Q, K, V, mask, causal, block, L):
    if type(y) is Tensor:  # to be differentiated again, and then L is no constant
        return plain_rule(g, y, Q, K, V, mask, causal)
    t = Tiles(Q, K, V, mask, causal, block)
    D = (g * y).sum(axis=-1, keepdims=True)  # (…, n, 1)
    dQ, dK, dV = (B.xp.zeros(x.shape, y.dtype) for x in (t.Q, t.K, t.V))

    def pull(at, rows, keys):
        seen = t.seen(at, rows, keys)
        if seen is None:
            return None
        S, q, k, v = t.scores(at, rows, keys, seen)  # (b, c)
        S -= L[at][rows]
        P = B.xp.exp(S, out=S)  # (b, c)
        dY = g[at][rows]  # (b, d_v)
        dv = P.T @ dY  # (c, d_v)
        dS = dY @ v.T  # (b, c)
        dS -= D[at][rows]
        dS *= P
        return at, rows, keys, dS @ k, dS.T @ q, dv  # (b, d_k), (c, d_k), (c, d_v)

    with workers(t.in_threads) as run:
        tiles = ((at, r, k) for at in t.batch for r in t.rows for k in t.keys_of(r))
        for tile in run(pull, tiles):
            if tile is not None:
                at, rows, keys, dq, dk, dv = tile
                dQ[at][rows] += dq
                dK[at][keys] += dk  # q, and so dk, has the 1 / √d_k in it
                dV[at][keys] += dv
    dQ *= t.scale
    return dQ, dK, dV


def plain_rule(g, y, Q, K, V, mask, causal):
    """Return dL/dQ, dL/dK and dL/dV in four products: what the tiles add up to."""
    scale = 1 / math.sqrt(max(Q.shape[-1], 1))
    _, P = attention(Q, K, V, mask=mask, causal=causal, return_weights=True)
    dP = g @ V.swapaxes(-1, -2)  # (…, n, m)
    dS = P * (dP - sum(g * y, axis=-1, keepdims=True)) * scale  # (…, n, m)
    return dS @ K, dS.swapaxes(-1, -2) @ Q, P.swapaxes(-1, -2) @ g
