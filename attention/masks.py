"""Which query may look at which key: boolean arrays (…, n, m), True where it may."""

from minigrad import backend as B


def causal_mask(n, m, strict=False):
    """Return the (n, m) mask under which each of n queries sees the keys up to its own
    position.

    The last query stands at the last key: query i sees key j if j ≤ i + m - n, and with
    `strict`, which hides a query's own position from it, if j < i + m - n. (So the last
    n of m positions can be computed alone, with the same result: that is what a
    key/value cache does.) The first rows may see nothing.

    Raises: ValueError for negative sizes.

    >>> causal_mask(2, 3)
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    if n < 0 or m < 0:
        raise ValueError(f"causal_mask: sizes {n} and {m} must not be negative")
    return B.xp.tri(n, m, m - n - bool(strict), dtype=bool)
