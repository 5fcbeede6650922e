"""From a Python dict to attention, in one screen.

A dict answers exact questions:

    capitals = {"paris": "France", "rome": "Italy"}
    capitals.get("paris")    ->  "France"        a hit
    capitals.get("pariss")   ->  None            a miss, however near

`hard_lookup` is that, over lists or rows of an array. Nothing can be learned through
it: move the query a little and the answer stays, or jumps; its gradient is zero almost
everywhere. So soften it:

    equal or not              ->  a score s(q, kᵢ), high where query and key are alike
    1 for the match, else 0   ->  weights αᵢ = softmax(s(q, kᵢ)), positive, of sum 1
    the value of the match    ->  the mean of all values under those weights

    ┌───────────────────────────────────────────────────────────────────┐
    │  attn(q, K, V) = Σᵢ αᵢ vᵢ,   αᵢ = exp s(q, kᵢ) / Σⱼ exp s(q, kⱼ)  │
    └───────────────────────────────────────────────────────────────────┘

Every step is smooth, so gradients reach the query, the keys and the values.
"""

from minigrad import matmul, softmax
from minigrad.backend import to_numpy
from minigrad.primitive import constants


def hard_lookup(query, keys, values, default=None):
    """Return the value of the first key that equals the query, or else the default.

    Keys may be strings, numbers, or the rows of an array (m, d) with a query (d,).

    Raises: ValueError when keys and values, or the shapes of query and key, differ.

    >>> hard_lookup("rome", ["paris", "rome"], ["France", "Italy"])
    'Italy'
    >>> hard_lookup("roma", ["paris", "rome"], ["France", "Italy"], default="nothing")
    'nothing'
    """
    if len(keys) != len(values):
        raise ValueError(f"hard_lookup: {len(keys)} keys for {len(values)} values")
    for key, value in zip(keys, values, strict=True):
        if hasattr(query, "shape") or hasattr(key, "shape"):
            shapes = [shape_of(query), shape_of(key)]
            if shapes[0] != shapes[1]:
                raise ValueError(
                    f"hard_lookup: a query and a key of different shapes {shapes} "
                    "can never be equal"
                )
        if to_numpy(query == key).all():  # rows are equal if all their numbers are
            return value
    return default


def shape_of(x):
    """Return the shape of an array, a number or a list; no array is read for it."""
    return x.shape if hasattr(x, "shape") else to_numpy(x).shape


def dot(Q, K):
    """Return the score q · k: large where both are long and point the same way.

    Q (…, n, d), K (…, m, d) -> (…, n, m), all pairs at once. Luong et al., "Effective
    Approaches to Attention-based Neural Machine Translation" (2015), section 3.1.
    """
    same_width("dot", Q, K)
    return Q @ K.swapaxes(-1, -2)  # (…, n, d) @ (…, d, m) -> (…, n, m)


def soft_lookup(query, keys, values, temperature=1.0, score=dot):
    """Return the mean of the values under the weights softmax(scores / temperature).

    query (d,), keys (m, d), values (m, d_v) -> (d_v,). A low temperature sharpens the
    weights towards the hard lookup of the best key; a high one flattens them towards
    the mean of all values. A soft dictionary always answers, with zeros if it is empty:
    for a miss, look at the top score or at the spread of the weights.

    Raises: ValueError for a temperature that is not above 0, and for other shapes.

    >>> keys, values = [[1.0, 0.0], [0.0, 1.0]], [[10.0], [20.0]]
    >>> soft_lookup([0.0, 1.0], keys, values, temperature=0.5).round(3)
    array([18.808])
    """
    query, keys, values = checked(query, keys, values, temperature, score)
    scores = score(query[None, :], keys)[0]  # (m,), of a batch of one query
    weights = softmax(scores / temperature)  # (m,), the αᵢ
    return matmul(weights, values)  # (d_v,), the Σᵢ αᵢ vᵢ


def checked(query, keys, values, temperature, score):
    """Return query, keys and values, lists as arrays, once it is sure that they fit."""
    if not temperature > 0:
        raise ValueError(
            f"soft_lookup: temperature {temperature} is not above 0; "
            "its limit at 0 is hard_lookup"
        )
    if not callable(score):
        raise TypeError(f"soft_lookup: score {score!r} is no function, such as dot")
    query, keys, values = constants("soft_lookup", (query, keys, values))
    q, k, v = query.shape, keys.shape, values.shape
    if (len(q), len(k)) != (1, 2) or len(v) not in (1, 2) or v[0] != k[0]:
        raise ValueError(
            f"soft_lookup: query {q}, keys {k}, values {v} must be "
            "(d,), (m, d), (m, d_v)"
        )
    return query, keys, values


def same_width(name, Q, K):
    """Raise a ValueError unless queries and keys have the same width."""
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"{name}: queries {Q.shape} and keys {K.shape} differ in their last axis; "
            "bilinear joins them"
        )
