"""From a Python dict to attention, in one screen.

A dict answers exact questions: {"paris": "France"}.get("pariss") is None, however near
the miss. `hard_lookup` is that. Nothing can be learned through it: move the query a
little and the answer stays, or jumps; its gradient is 0 almost everywhere. So soften it:

    equal or not              ->  a score s(q, kᵢ), high where query and key are alike
    1 for the match, else 0   ->  weights αᵢ = softmax(s(q, kᵢ)), positive, of sum 1
    the value of the match    ->  the mean of all values under those weights

    ┌───────────────────────────────────────────────────────────────────┐
    │  attn(q, K, V) = Σᵢ αᵢ vᵢ,   αᵢ = exp s(q, kᵢ) / Σⱼ exp s(q, kⱼ)  │
    └───────────────────────────────────────────────────────────────────┘

Every step is smooth, so gradients reach the query, the keys and the values.
"""

from minigrad import softmax
from minigrad.backend import to_numpy
from minigrad.checks import above, takes

from . import checks


# `takes` names the axes of the arguments, and refuses what does not fit: … stands for any
# axes in front, and d_v? may be missing.
@takes()
def hard_lookup(query, keys, values, default=None):
    """Return the value of the first key that equals the query, or else the default.

    Keys may be strings, numbers, or the rows of an array (m, d) with a query (d,).

    >>> hard_lookup("rome", ["paris", "rome"], ["France", "Italy"])
    'Italy'
    """
    for key, value in checks.comparable(query, keys, values):
        if to_numpy(query == key).all():  # rows are equal if all their numbers are
            return value
    return default


@takes("… n d, … m d")
def dot(Q, K):
    """Return the score q · k: large where both are long and point the same way.

    Q (…, n, d), K (…, m, d) -> (…, n, m), all pairs at once. Luong et al., "Effective
    Approaches to Attention-based Neural Machine Translation" (2015), section 3.1.
    """
    return Q @ K.swapaxes(-1, -2)  # (…, n, d) @ (…, d, m) -> (…, n, m)


@takes("d_q, m d_k, m d_v?", temperature=above(0), score=checks.score)
def soft_lookup(query, keys, values, temperature=1.0, score=dot):
    """Return the mean of the values under the weights softmax(scores / temperature).

    query (d_q,), keys (m, d_k), values (m, d_v) -> (d_v,); dot needs d_q = d_k. The
    colder, the nearer to the best key's value: its weight lacks at most
    (m - 1) e^(-gap / T) of 1, with the gap to the next score (`demos soft_argmax`). The
    warmer, the nearer to the mean. With the score dot, ∂answer/∂query is Cov(v, k) / T,
    under the weights (`demos covariance`). A soft dictionary always answers, with zeros
    if it is empty: for a miss, look at the scores.

    >>> soft_lookup([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], [[10.0], [20.0]]).round(3)
    array([17.311])
    """
    scores = score(query[None, :], keys)[0]  # (m,), of a batch of one query
    weights = softmax(scores / temperature)  # (m,), the αᵢ
    return weights @ values  # (d_v,), the Σᵢ αᵢ vᵢ
