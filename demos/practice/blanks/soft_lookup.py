"""soft_lookup: a dictionary that answers every question, by a weighted mean."""

from attention import cosine, gaussian

from ..blank import Blank, Case
from .wrong_lookup import MISTAKES

ASK = """\
Write the soft lookup of one query in a dictionary of m keys and values.

    αᵢ = exp(s(q, kᵢ) / T) / Σⱼ exp(s(q, kⱼ) / T)        answer = Σᵢ αᵢ vᵢ

    query          (d,)
    keys           (m, d)
    values         (m, d_v), or (m,): then the answer is one number
    temperature    T, a number above 0
    score          s, a function: it takes queries (n, d) and keys (m, d), and returns
                   the scores of all pairs (n, m)
    the answer     (d_v,)

Scores may be in the thousands: exp overflows at 710. An empty dictionary, m = 0, gives
zeros. `softmax` knows both."""

HINTS = """\
A dict compares the query with every key, finds one match, and returns its value. What
takes the place of each of these three steps here?

The score wants a batch of queries and returns (n, m): query[None, :] is a batch of one.
The temperature acts on the scores, before they are made into weights.

With the scores (m,) of the one query, over T, softmax gives the weights (m,). The sum
over i of weight times value is a product of a vector (m,) and a matrix (m, d_v)."""


def cases(rng):
    """Return dictionaries with other scores and temperatures, large scores, and none."""
    normal = rng.standard_normal
    q, keys, values = normal(3), normal((4, 3)), normal((4, 3))
    return [
        Case("a dictionary", (q, keys, values)),
        Case("values of another width", (q, keys, normal((4, 2)))),
        Case("T = 0.5", (q, keys, values), {"temperature": 0.5}),
        Case("T = 3", (q, keys, values), {"temperature": 3.0}),
        Case("the score gaussian", (q, keys, values), {"score": gaussian(1.0)}),
        Case("the score cosine", (q, keys, values), {"score": cosine}),
        Case("as many keys as numbers", (q, normal((3, 3)), normal((3, 3)))),
        Case("values that are numbers", (q, keys, normal(4))),
        Case("one key", (q, keys[:1], values[:1])),
        Case("scores in the thousands", (50_000 * q, keys, values)),
        Case("cold, T = 0.001", (q, keys, values), {"temperature": 0.001}),
        Case("no keys", (q, keys[:0], values[:0])),
    ]


BLANK = Blank(
    name="soft_lookup",
    source="attention.lookup.soft_lookup",
    teaches="compare with every key, weigh, take the mean",
    minutes=10,
    ask=ASK,
    offers="from attention import dot\nfrom minigrad import softmax",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
