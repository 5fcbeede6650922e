"""softmax: the rule of an op whose outputs all depend on all inputs."""

import numpy

from minigrad import softmax

from ..blank import Blank, Case, Mistake, Term, average, total

ASK = """\
L is a number that depends on y. Write the rule of this op: given g = dL/dy, return dL/dx.

    x       the scores; one of -inf is left out: its weight and its gradient are 0, and
            in a row of which all are left out all weights are 0
    y, g    the shape of x; y, the weights, is what the op returned
    axis    the axis along which the weights sum to 1; any axes beside it
    mask    who was left out, as well: where it is False, y is 0. You may ignore it

y is there already, so nothing needs to be exponentiated again."""

HINTS = """\
If one score rises, its weight rises. What happens to the other weights, which sum to 1
with it? So through which outputs does L depend on one score?

By the quotient rule ∂yᵢ/∂xⱼ is yᵢ (1 - yᵢ) if i = j, and -yᵢ yⱼ if not. L depends on xⱼ
through all yᵢ: sum gᵢ ∂yᵢ/∂xⱼ over i.

That sum is gⱼ yⱼ - yⱼ Σᵢ gᵢ yᵢ. The sum on the right is one number for each row: take
it along `axis`, and let that axis stay, with length 1, so that it broadcasts. Then yⱼ
is a common factor."""


def cases(rng):
    """Return rows of several lengths, batches, scores left out, and a large offset."""
    normal = rng.standard_normal
    left_out, low, empty = normal((3, 4)), normal((3, 4)), normal((3, 4))
    left_out[0, 1] = left_out[2, :3] = -numpy.inf
    low[0] -= 1e4
    empty[1] = -numpy.inf
    return [
        Case("one row", (normal(4),)),
        Case("a batch", (normal((2, 3, 3)),)),
        Case("a matrix", (normal((3, 5)),)),
        Case("axis 0", (normal((3, 3)),), {"axis": 0}),
        Case("axis 1 of 3", (normal((2, 3, 4)),), {"axis": 1}),
        Case("a mask", (normal((3, 4)),), {"mask": rng.random((3, 4)) < 0.6}),
        Case("scores of -inf", (left_out,)),
        Case("a row with nothing to choose from", (empty,)),
        Case(
            "scores of 10,000",
            (normal((2, 4)) + 1e4, *()),
        ),
        Case("scores of -10,000", (low,)),
    ]


def keepless(g, y, x, axis=-1, mask=None):
    """Answer without keepdims: where a row and its sum fit, they are the wrong ones."""
    return y * (g - (g * y).sum(axis=axis))


def unmasked(g, y, x, axis=-1, mask=None):
    """Answer with weights made of x anew, of which none is left out by the mask."""
    y = softmax(x, axis=axis)
    return y * (g - total(g * y, axis))


MISTAKES = [
    Mistake(
        "no_mask",
        unmasked,
        "the weights are made of x anew and the mask is forgotten: y has them already",
    ),
    Mistake(
        "diagonal_only",
        lambda g, y, x, axis=-1, mask=None: g * y * (1 - y),
        "the off-diagonal terms are missing: every output depends on every score",
    ),
    Mistake(
        "not_centred",
        lambda g, y, x, axis=-1, mask=None: g * y,
        "y is taken for the whole derivative: that the sum in the denominator changes "
        "as well is missing, so the rows do not sum to 0",
    ),
    Mistake(
        "no_y",
        lambda g, y, x, axis=-1, mask=None: g - total(g * y, axis),
        "the mean of g is taken off, but the factor y in front is missing: what has no "
        "weight cannot matter",
    ),
    Mistake(
        "y_once",
        lambda g, y, x, axis=-1, mask=None: g * y - total(g * y, axis),
        "the factor y stands at g only; it belongs to what is taken off, too",
    ),
    Mistake(
        "y_only_second",
        lambda g, y, x, axis=-1, mask=None: g - y * total(g * y, axis),
        "the factor y stands at what is taken off, but not at g",
    ),
    Mistake(
        "plain_sum",
        lambda g, y, x, axis=-1, mask=None: y * (g - total(g, axis)),
        "the plain sum of g is taken off; it is to be weighted by y",
    ),
    Mistake(
        "plain_mean",
        lambda g, y, x, axis=-1, mask=None: y * (g - average(g, axis)),
        "the plain mean of g is taken off; it is to be the mean under the weights y",
    ),
    Mistake(
        "mean_for_sum",
        lambda g, y, x, axis=-1, mask=None: y * (g - average(g * y, axis)),
        "a mean stands in the place of a sum: the weights y sum to 1, so Σ g y is a mean "
        "already",
    ),
    Mistake(
        "all_rows",
        lambda g, y, x, axis=-1, mask=None: y * (g - (g * y).sum()),
        "the sum is over the whole array; each row has its own",
    ),
    Mistake(
        "fixed_axis",
        lambda g, y, x, axis=-1, mask=None: y * (g - total(g * y)),
        "the sum is along the last axis always; `axis` says along which",
    ),
    Mistake(
        "first_axis",
        lambda g, y, x, axis=-1, mask=None: y * (g - total(g * y, 0)),
        "the sum is along the first axis always; `axis` says along which",
    ),
    Mistake(
        "keepdims",
        keepless,
        "the sum loses its axis and then meets the wrong numbers: keepdims=True",
    ),
    Mistake(
        "log_softmax",
        lambda g, y, x, axis=-1, mask=None: g - y * total(g, axis),
        "this is the rule of log_softmax",
    ),
    Mistake(
        "no_g",
        lambda g, y, x, axis=-1, mask=None: y * (1 - y),
        "this is ∂yᵢ/∂xᵢ alone: g, and the sum over the outputs, are missing",
    ),
    Mistake(
        "exp_y",
        lambda g, y, x, axis=-1, mask=None: (
            numpy.exp(y) * (g - total(g * numpy.exp(y), axis))
        ),
        "exp is taken of y; y are the weights already, not their logarithms",
    ),
    Mistake(
        "x_for_y",
        lambda g, y, x, axis=-1, mask=None: x * (g - total(g * x, axis)),
        "the scores x stand where the weights y belong",
    ),
    Mistake(
        "x_in_sum",
        lambda g, y, x, axis=-1, mask=None: y * (g - total(g * x, axis)),
        "within the sum the scores x stand where the weights y belong",
    ),
    Mistake(
        "y_squared",
        lambda g, y, x, axis=-1, mask=None: g * y - y**2 * total(g, axis),
        "within the sum over i it is yᵢ that weighs gᵢ, and not yⱼ a second time",
    ),
]

TERMS = (
    Term("g y, what a score does to its own weight", lambda g, y, x, **_: g * y, 1),
    Term(
        "what a score does to all weights through the denominator",
        lambda g, y, x, axis=-1, **_: y * total(g * y, axis),
        -1,
    ),
)

BLANK = Blank(
    name="softmax",
    source="minigrad.ops.softmax.softmax.rule",
    teaches="every output depends on every input",
    minutes=20,
    ask=ASK,
    offers="from minigrad import sum  # as np.sum",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
    terms=TERMS,
)
