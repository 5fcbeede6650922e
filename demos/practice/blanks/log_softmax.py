"""log_softmax: the rule of what every cross-entropy is made of."""

import numpy

from ..blank import Blank, Case, Mistake, Term, average, total

ASK = """\
L is a number that depends on y. Write the rule of this op: given g = dL/dy, return dL/dx.

    x       the scores
    y, g    the shape of x; y, the logarithms of the weights, is what the op returned
    axis    the axis along which the weights sum to 1; any axes beside it

Scores may be as large as 10,000, and a weight may be so small that it is 0: start from y
and nothing overflows."""

HINTS = """\
yᵢ = xᵢ - log Z has two parts. Which of the scores does each of them depend on?

∂yᵢ/∂xⱼ is 1 if i = j, else 0, less the derivative of log Z by xⱼ. That is a weight:
which one, and how does one get it from y?

dL/dxⱼ = Σᵢ gᵢ ∂yᵢ/∂xⱼ. The 1 leaves gⱼ alone. The weight of j is the same for every i
and comes out of the sum, which leaves the plain sum of g along the axis."""


def cases(rng):
    """Return rows of several lengths, batches, large scores, and a weight of 0."""
    normal = rng.standard_normal
    apart = normal((3, 4))
    apart[:, 1] -= 800
    return [
        Case("one row", (normal(4),)),
        Case("a batch", (normal((2, 3, 3)),)),
        Case("a matrix", (normal((3, 5)),)),
        Case("axis 0", (normal((3, 3)),), {"axis": 0}),
        Case("axis 1 of 3", (normal((2, 3, 4)),), {"axis": 1}),
        Case("scores of 10,000", (normal((2, 4)) + 1e4,)),
        Case("scores of -10,000", (normal((2, 4)) - 1e4,)),
        Case("a weight of 0", (apart,)),
    ]


def recomputed(g, y, x, axis=-1):
    """Answer with the weights made of x anew, without the maximum taken off."""
    e = numpy.exp(x)
    return g - e / total(e, axis) * total(g, axis)


def of_the_whole(g, y, x, axis=-1):
    """Answer with weights made of x anew, of which all together sum to 1."""
    e = numpy.exp(x - x.max())
    return g - e / e.sum() * total(g, axis)


MISTAKES = [
    Mistake(
        "no_exp",
        lambda g, y, x, axis=-1: g - y * total(g, axis),
        "y is the logarithm of the weights here; the weights themselves are its exp",
    ),
    Mistake(
        "not_centred",
        lambda g, y, x, axis=-1: g,
        "log Z depends on every score, and that is missing: the rows do not sum to 0",
    ),
    Mistake(
        "diagonal_only",
        lambda g, y, x, axis=-1: g * (1 - numpy.exp(y)),
        "the off-diagonal terms are missing: through log Z every output depends on every "
        "score",
    ),
    Mistake(
        "softmax",
        lambda g, y, x, axis=-1: numpy.exp(y) * (g - total(g * numpy.exp(y), axis)),
        "this is the rule of softmax; of its logarithm the derivative is another",
    ),
    Mistake(
        "softmax_of_y",
        lambda g, y, x, axis=-1: y * (g - total(g * y, axis)),
        "this is the rule of softmax, and with y for the weights, which is their "
        "logarithm",
    ),
    Mistake(
        "weighted_sum",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * total(g * numpy.exp(y), axis),
        "g is weighted within its sum; here the sum is plain: log Z is in every output "
        "alike",
    ),
    Mistake(
        "weighted_by_y",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * total(g * y, axis),
        "g is multiplied by y within its sum; the sum is plain",
    ),
    Mistake(
        "mean_for_sum",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * average(g, axis),
        "a mean stands in the place of a sum: log Z is in every output, once in each",
    ),
    Mistake(
        "no_weight",
        lambda g, y, x, axis=-1: g - total(g, axis),
        "the sum of g is taken off in full from every score; each takes its share of it, "
        "its weight",
    ),
    Mistake(
        "centred",
        lambda g, y, x, axis=-1: g - average(g, axis),
        "the plain mean of g is taken off: as if all weights were equal",
    ),
    Mistake(
        "no_g",
        lambda g, y, x, axis=-1: 1 - numpy.exp(y),
        "this is ∂yᵢ/∂xᵢ alone: g, and the sum over the outputs, are missing",
    ),
    Mistake(
        "no_sum",
        lambda g, y, x, axis=-1: g - numpy.exp(y),
        "the weight is taken off once; it is to be taken off as often as there is g in "
        "the row: times Σ g",
    ),
    Mistake(
        "cross_entropy",
        lambda g, y, x, axis=-1: numpy.exp(y) - g,
        "the weights less something: that is so if g is -1 in one place and 0 elsewhere, "
        "as in a cross-entropy, but here g is anything",
    ),
    Mistake(
        "all_weights",
        of_the_whole,
        "the weights of the whole array sum to 1; those of each row do",
    ),
    Mistake(
        "all_rows",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * g.sum(),
        "the sum is over the whole array; each row has its own",
    ),
    Mistake(
        "fixed_axis",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * total(g),
        "the sum is along the last axis always; `axis` says along which",
    ),
    Mistake(
        "first_axis",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * total(g, 0),
        "the sum is along the first axis always; `axis` says along which",
    ),
    Mistake(
        "keepdims",
        lambda g, y, x, axis=-1: g - numpy.exp(y) * g.sum(axis=axis),
        "the sum loses its axis and then meets the wrong numbers: keepdims=True",
    ),
    Mistake(
        "not_normalised",
        lambda g, y, x, axis=-1: g - numpy.exp(x) * total(g, axis),
        "exp x is not yet a weight, it is not divided by Z; exp y is",
    ),
    Mistake(
        "overflow",
        recomputed,
        "right, until exp x overflows: take the weights from y, or the maximum off first",
    ),
    Mistake(
        "factor_not_term",
        lambda g, y, x, axis=-1: numpy.exp(y) * (g - total(g, axis)),
        "the weight is a factor of the sum alone, not of g",
    ),
]

TERMS = (
    Term("g, of xᵢ in yᵢ", lambda g, y, x, **_: g, 1),
    Term(
        "what a score does to all outputs through log Z",
        lambda g, y, x, axis=-1: numpy.exp(y) * total(g, axis),
        -1,
    ),
)

BLANK = Blank(
    name="log_softmax",
    source="minigrad.ops.softmax.log_softmax.rule",
    teaches="why a classifier's gradient is softmax minus onehot",
    minutes=15,
    ask=ASK,
    offers="from minigrad import exp, sum  # as np.exp, np.sum",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
    terms=TERMS,
)
