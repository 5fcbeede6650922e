"""What the lookups refuse, and how it is said; the tools are those of minigrad/checks.

Read this file last. Letters: n queries, m keys, d the width, h heads.
"""

import math

import numpy

from minigrad import backend, checks


def comparable(query, keys, values):
    """Return the pairs (key, value), where every key could equal the query."""
    if len(keys) != len(values):
        raise ValueError(f"{len(keys)} keys for {len(values)} values")
    for key in keys:
        if hasattr(query, "shape") or hasattr(key, "shape"):
            q, k = (checks.shape(x) for x in (query, key))
            if q != k:
                raise ValueError(
                    f"a query and a key of different shapes {q}, {k} can never be equal"
                )
    return zip(keys, values, strict=True)


def score(what, x):
    """Demand a score, which stands where others expect the mask, and of that one number
    for each pair."""
    if not callable(x):
        raise TypeError(
            f"the score {checks.shown(x)} is no function such as dot; a mask is given "
            "by its name, mask="
        )

    def scores(Q, K):
        S = x(Q, K)
        front = numpy.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
        pairs, got = (*front, Q.shape[-2], K.shape[-2]), checks.shape(S)
        if got != pairs:
            raise ValueError(
                f"the score returned {got} for Q {Q.shape} and K {K.shape}; it must be "
                f"{pairs}, a number for each pair"
            )
        return S

    return scores


def one_dtype(*inputs):
    """Refuse floats of several types."""
    if len({x.dtype for x in inputs if x.dtype.kind == "f"}) > 1:
        dtypes = ", ".join(str(x.dtype) for x in inputs)
        raise TypeError(f"mixed dtypes {dtypes}; convert by .astype")


def mask(mask, Q, K, V):
    """Return the mask as an array (…, 1 | n, 1 | m) that fits the scores."""
    (mask,) = checks.as_arrays("mask", [mask])
    if mask.dtype != bool:
        raise TypeError(f"the mask is {mask.dtype}, not boolean; True means may attend")
    mask = mask.reshape((1,) * (2 - mask.ndim) + mask.shape)
    n, m = Q.shape[-2], K.shape[-2]
    try:
        front = [x.shape[:-2] for x in (Q, K, V)]
        front = numpy.broadcast_shapes(*front, mask.shape[:-2])
        if mask.shape[-2] in (1, n) and mask.shape[-1] in (1, m):
            return mask
    except ValueError:
        front = "…"
    raise ValueError(
        f"a mask of shape {mask.shape} does not broadcast against (…, {n}, {m}) of "
        f"Q {Q.shape}, K {K.shape}, V {V.shape}; padding_mask makes one of lengths"
    )


def lengths(values, m):
    """Return the lengths of texts padded to m, (B,)."""
    values = checks.integers("padding_mask", values, m + 1)
    if values.ndim != 1:
        raise ValueError(f"lengths must be (B,), got shape {values.shape}")
    return values


def room_for_scores(Q, K, mask):
    """Raise a MemoryError, before anything is computed, if the scores will not fit."""
    front = [x.shape[:-2] for x in (Q, K, mask) if x is not None]
    shape = (*numpy.broadcast_shapes(*front), Q.shape[-2], K.shape[-2])
    gib = math.prod(shape) * Q.dtype.itemsize / 2**30  # below 0.5 not worth asking
    if gib > 0.5 and 2 * gib > (free := backend.free_memory() / 2**30):
        raise MemoryError(
            f"attention: scores and weights of shape {shape} take {gib:.1f} GiB each, "
            f"{free:.1f} GiB are free; tiled_attention needs neither"
        )


def even(what, width):
    """Refuse a width that cannot be turned in pairs."""
    if width % 2 or width < 2:
        raise ValueError(
            f"the width {width} is not even and above 0; {what} turns numbers in pairs"
        )


def heads_divide(width, heads, rope=False):
    """Refuse a number of heads that does not divide the width, or into what rope turns."""
    if width % heads:
        raise ValueError(f"{heads} heads do not divide the width {width}")
    if rope:
        even("rope", width // heads)


def source(layer, x, cache, context):
    """Return what keys and values are made from: x, or a context that goes with it."""
    if cache is not None and not hasattr(cache, "followed_by"):
        raise TypeError(
            f"a cache of {type(cache).__name__}; queries, keys and values are all made "
            "from x, and caches by Cache(); context= gives keys and values"
        )
    if context is None:
        return x
    if cache is not None or layer.causal or layer.rope:
        raise ValueError(
            "a context has no positions in common with x: no cache, causal or rope"
        )
    return checks.as_arrays("context", [context])[0]


def mask_of_heads(mask, x):
    """Return a mask with an axis for the heads, if it has others in front but not that."""
    if mask is None:
        return None
    (mask,) = checks.as_arrays("mask", [mask])
    return mask[..., None, :, :] if 2 < mask.ndim <= x.ndim else mask


def tokens(model, ids, cache):
    """Return ids (B, T) as integers below the vocabulary, T of them within the context."""
    ids = checks.integers("GPT", ids, model.vocab)
    if ids.ndim != 2 or not ids.size:
        raise ValueError(f"ids must be (B, T), not empty, got {ids.shape}")
    pasts = {len(block_cache) for block_cache in cache or []} or {0}
    if len(pasts) > 1:
        raise ValueError(
            f"the caches hold {sorted(pasts)} positions, of an interrupted call; begin "
            "again with new_cache()"
        )
    past, T = max(pasts), ids.shape[1]
    if past + T > model.context:
        raise ValueError(
            f"{past} + {T} positions exceed the context {model.context}; crop to the "
            "last ones"
        )
    return ids


def prompt(ids, vocab):
    """Return the ids of a prompt, one row of at least one, in a list."""
    ids = checks.integers("generate", backend.to_numpy(ids), vocab)
    if ids.ndim != 1 or not ids.size:
        raise ValueError(
            f"the prompt must be a row of at least one id, got {ids.shape}"
        )
    return backend.to_numpy(ids).tolist()


def no_nan(scores):
    """Refuse the scores of a model whose weights have gone wrong."""
    if numpy.isnan(scores).any():
        raise ValueError("the model scores a next token with NaN; look at its weights")
    return scores
