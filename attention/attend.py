"""Attention: n soft lookups at once, as two matrix products and one softmax.

    attn(Q, K, V) = softmax(Q Kᵀ / √d_k) V

No query waits for another. From an output the gradient passes 1 op to a value and 4 to
a key, 2 and 5 with a mask, however far away they stand; in a recurrent net it passes one
more for every step between, in a stack of convolutions one for every window (`demos
paths`).

Letters: n queries, m keys, their widths d_q and d_k, d_v that of values; … any axes in
front, such as batch and heads, which broadcast.
"""

from minigrad import softmax
from minigrad.checks import flag, takes

from . import checks
from .masks import partners
from .scores import scaled_dot


@takes(
    "… n d_q, … m d_k, … m d_v", score=checks.score, causal=flag, return_weights=flag
)
def attention(Q, K, V, score=scaled_dot, mask=None, causal=False, return_weights=False):
    """Return softmax(score(Q, K)) V: for each query a weighted mean of the values.

    Q (…, n, d_q), K (…, m, d_k), V (…, m, d_v) -> (…, n, d_v), and with
    `return_weights` also the weights (…, n, m). Vaswani et al., "Attention Is All You
    Need" (2017), eq. 1, with any score in the place of q · k / √d_k, for which d_q = d_k.

    `mask` is boolean, True where a query may attend to a key, and broadcasts against
    (…, n, m); `causal` hides later keys, see `causal_mask`; a key must pass both. A
    query that may attend to nothing gets zeros, and so do the gradients through it.
    What `mask` leaves without any partner may even be NaN. A NaN value that one query
    may see reaches every query, and a NaN key every gradient, for 0 · NaN is NaN.

    Raises: ValueError when shapes do not fit, TypeError for a mask that is not boolean,
    a score that is no function or mixed dtypes, MemoryError when there is no room for
    (…, n, m) numbers.

    >>> import numpy as np
    >>> Q, K = np.zeros((1, 2)), np.eye(2)
    >>> attention(Q, K, np.array([[10.0], [20.0]]))  # alike: the mean
    array([[15.]])
    """
    Q, K, V, allowed = partners(Q, K, V, mask, causal)
    checks.room_for_scores(Q, K, allowed)
    S = score(Q, K)  # (…, n, m)
    A = softmax(S, mask=allowed)  # (…, n, m)
    Y = A @ V  # (…, n, d_v)
    return (Y, A) if return_weights else Y
