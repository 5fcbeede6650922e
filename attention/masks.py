"""Which query may look at which key: boolean arrays (…, n, m), True where it may."""

from minigrad import backend, where
from minigrad.checks import flag, integer, takes

from . import checks


@takes(n=integer(0), m=integer(0), strict=flag)
def causal_mask(n, m, strict=False):
    """Return the (n, m) mask that hides from each query the keys after its position.

    The last query stands at the last key, so query i stands at key i + m - n. It sees
    key j if j ≤ i + m - n; with `strict`, which hides its own position too, if
    j < i + m - n. Thus the last n of m positions can be computed alone, with the same
    result, as a key/value cache does. Where n > m the first queries see nothing.

    >>> causal_mask(2, 3)
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    # tri(n, m, k) is True where j ≤ i + k
    return backend.xp.tri(n, m, m - n - strict, dtype=bool)


@takes(m=integer(0))
def padding_mask(lengths, m):
    """Return the mask (B, 1, m) of B texts, padded to m keys: True where j < length.

    It hides the padding from every query of its text. A (B, m) array would be read as
    (n, m), for a mask broadcasts against (…, n, m) from the right.

    Raises: ValueError for a length outside [0, m], TypeError for one not an integer.

    >>> padding_mask([1, 3], 3)[:, 0]
    array([[ True, False, False],
           [ True,  True,  True]])
    """
    lengths = checks.lengths(lengths, m)  # (B,)
    return backend.xp.arange(m) < lengths[:, None, None]  # (B, 1, m)


def partners(Q, K, V, mask, causal):
    """Return Q, K, V and who may attend to whom: None, or boolean as (…, 1 | n, 1 | m).

    A query, key or value that `mask` leaves without a partner is returned as 0. Its
    weights and gradients are 0 in any case, but 0 · NaN is NaN.
    """
    checks.one_dtype(Q, K, V)
    n, m = Q.shape[-2], K.shape[-2]
    if mask is None:
        return Q, K, V, causal_mask(n, m) if causal else None
    mask = checks.mask(mask, Q, K, V)
    allowed = mask & causal_mask(n, m) if causal else mask
    asks = allowed.any(axis=-1)[..., None]  # (…, 1 | n, 1)
    used = allowed.any(axis=-2)[..., None]  # (…, 1 | m, 1)
    return where(asks, Q, 0.0), where(used, K, 0.0), where(used, V, 0.0), allowed
