"""attention: n soft lookups at once, with a score, masks, and rows without a key."""

import numpy

from attention import cosine, dot

from ..blank import Blank, Case
from .wrong_attention import MISTAKES

ASK = """\
Write attention: every query looks up a weighted mean of the values.

    Y = softmax(score(Q, K)) V

    Q                 (…, n, d_k)
    K                 (…, m, d_k)
    V                 (…, m, d_v); … are any axes in front, which broadcast
    score             takes Q and K and returns the scores (…, n, m); `scaled_dot`, its
                      default, is q · k / √d_k
    mask              None, or booleans that broadcast against (…, n, m): True where a
                      query may attend to a key
    causal            whether `causal_mask(n, m)` hides keys too; a key must pass both
    return_weights    whether to return (Y, A), A the weights (…, n, m), or Y alone
    Y                 (…, n, d_v)

A query that may attend to nothing gets weights 0 and zeros, without NaN. Scores may be in
the thousands. `softmax(scores, mask=…)` of the package knows both."""

HINTS = """\
Write down the shape of every step: from Q (…, n, d_k) and K (…, m, d_k) to scores, to
weights, to Y. Along which axis do the weights of one query sum to 1?

There are two masks and either may be absent. What is allowed is their `&`; what is not
allowed must have weight 0 before the weights are made to sum to 1, not after.

Call the score on Q and K. Make `allowed`: mask, causal_mask(n, m), both joined by &, or
None. softmax over the last axis with mask=allowed gives A; then A meets V in a matrix
product."""


def cases(rng):
    """Return lookups of all shapes, masks alone and together, and empty rows."""
    normal = rng.standard_normal
    Q, K, V = normal((3, 4)), normal((3, 4)), normal((3, 4))
    few = normal((2, 4)), normal((5, 4)), normal((5, 3))
    many = normal((5, 4)), normal((2, 4)), normal((2, 3))
    allowed = numpy.array([[1, 0, 1, 1, 0], [0, 1, 0, 1, 0]], bool)
    empty = allowed & numpy.array([[True], [False]])
    padding = numpy.arange(5) < numpy.array([3, 5])[:, None, None]
    batch = normal((2, 2, 4)), normal((2, 5, 4)), normal((2, 5, 3))
    return [
        Case("as many keys as queries", (Q, K, V)),
        Case("a batch", batch),
        Case("n = 2, m = 5", few),
        Case("two axes in front, one set of keys", (normal((2, 3, 2, 4)), *few[1:])),
        Case("the score dot", (Q, K, V), {"score": dot}),
        Case("the score cosine", few, {"score": cosine}),
        Case("a mask", few, {"mask": allowed}),
        Case("a mask with an empty row", few, {"mask": empty}),
        Case("a mask for each text of a batch", batch, {"mask": padding}),
        Case("causal, n = m", (Q, K, V), {"causal": True}),
        Case("causal, n = 2, m = 5", few, {"causal": True}),
        Case("causal, n = 5, m = 2", many, {"causal": True}),
        Case("causal, a batch", batch, {"causal": True}),
        Case("a mask, and causal", few, {"mask": ~allowed, "causal": True}),
        Case("the weights", few, {"return_weights": True, "mask": empty}),
        Case("scores in the thousands", (3000 * Q, K, V)),
    ]


BLANK = Blank(
    name="attention",
    source="attention.attend.attention",
    teaches="all lookups at once, and who may look at what",
    minutes=25,
    ask=ASK,
    offers="from attention import causal_mask, scaled_dot\nfrom minigrad import softmax",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
