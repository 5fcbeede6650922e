"""Which query may look at which key: boolean arrays (…, n, m), True where it may."""

from numbers import Integral

from minigrad import backend as B


def causal_mask(n, m, strict=False):
    """Return the (n, m) mask that hides from each query the keys after its position.

    The last query stands at the last key, so query i stands at key i + m - n. It sees
    key j if j ≤ i + m - n; with `strict`, which hides its own position too, if
    j < i + m - n. Thus the last n of m positions can be computed alone, with the same
    result, as a key/value cache does. Where n > m the first queries see nothing.

    Raises: ValueError for negative sizes, TypeError for others than integers.

    >>> causal_mask(2, 3)
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    if not (isinstance(n, Integral) and isinstance(m, Integral)):
        raise TypeError(f"causal_mask: sizes {n!r} and {m!r} must be integers")
    if n < 0 or m < 0:
        raise ValueError(f"causal_mask: sizes {n} and {m} must not be negative")
    # tri(n, m, k) is True where j ≤ i + k
    return B.xp.tri(n, m, m - n - bool(strict), dtype=bool)
