"""rms_norm: the rule of a normalisation, which divides by what depends on all inputs."""

import numpy

from ..blank import Blank, Case, Mistake, Term, average, total

ASK = """\
L is a number that depends on y. Write the rule of this op: given g = dL/dy, return dL/dx. It works on rows, the last axis,
and n is their length.

    x       (…, n)
    y, g    (…, n); y is what the op returned
    eps     the ε in r; a row of zeros has r = 1 / √ε

`inverse_rms(x, eps)` computes r, (…, 1), as the op does."""

HINTS = """\
y = r x, and r is made of the whole row. So in how many ways does yᵢ depend on xⱼ, if i
= j, and if not?

First ∂r/∂xⱼ. With s = mean(x²) + ε, r is s to the power -1/2, and ∂s/∂xⱼ = 2 xⱼ / n:
∂r/∂xⱼ = -r³ xⱼ / n. Then ∂yᵢ/∂xⱼ by the product rule; r xᵢ and r xⱼ may be written as
yᵢ and yⱼ.

∂yᵢ/∂xⱼ = r (1[i=j] - yᵢ yⱼ / n). In the sum over i of gᵢ times that, r and yⱼ are the
same for all i and come out; what is left, divided by n, is a mean along the row, one
number each."""


def cases(rng):
    """Return rows of several lengths, batches, other ε, small rows, and one of zeros."""
    normal = rng.standard_normal
    zeros, small = normal((3, 4)), normal((3, 4))
    zeros[1], small[0] = 0, small[0] / 100
    return [
        Case("one row", (normal(4),)),
        Case("a batch", (normal((2, 3, 3)),)),
        Case("a matrix", (normal((3, 5)),)),
        Case("ε = 0.5", (normal((2, 4)),), {"eps": 0.5}),
        Case("a row of zeros", (zeros,)),
        Case("a row of small numbers", (small,)),
        Case("a row of one number", (normal((3, 1)),)),
        Case("large numbers", (normal((2, 4)) * 100,)),
    ]


def root(x, eps=1e-5):
    """Return r."""
    return 1 / numpy.sqrt(average(x * x) + eps)


def layer_norm(g, y, x, eps=1e-5):
    """Answer with the gradient of layer norm."""
    return root(x, eps) * (g - average(g) - y * average(g * y))


MISTAKES = [
    Mistake(
        "constant_r",
        lambda g, y, x, eps=1e-5: root(x, eps) * g,
        "r is taken for a constant; it depends on every number of the row",
    ),
    Mistake(
        "diagonal_only",
        lambda g, y, x, eps=1e-5: root(x, eps) * g * (1 - y * y / x.shape[-1]),
        "the off-diagonal terms are missing: through r every output depends on every "
        "number of the row",
    ),
    Mistake(
        "diagonal_only",
        lambda g, y, x, eps=1e-5: root(x, eps) * g * (1 - y * y),
        "the off-diagonal terms are missing, and on the diagonal the 1/n of the mean "
        "square is",
    ),
    Mistake(
        "centred",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - average(g)),
        "the mean of g is taken off; that would be so if the mean of x were taken off",
    ),
    Mistake(
        "no_r",
        lambda g, y, x, eps=1e-5: g - y * average(g * y),
        "the factor r in front is missing",
    ),
    Mistake(
        "r_lost",
        lambda g, y, x, eps=1e-5: root(x, eps) * g - y * average(g * y),
        "a factor r is lost in what is taken off: each of its two y is r x, and the r in "
        "front belongs to it as well",
    ),
    Mistake(
        "sum_for_mean",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - y * total(g * y)),
        "a sum stands in the place of a mean: the 1/n of the mean square is missing",
    ),
    Mistake(
        "x_for_y",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - x * average(g * x)),
        "x stands where y = r x belongs, twice: a factor r² is lost",
    ),
    Mistake(
        "layer_norm",
        layer_norm,
        "this is the gradient of layer norm: here no mean of x is taken off, so none of g",
    ),
    Mistake(
        "softmax",
        lambda g, y, x, eps=1e-5: y * (g - average(g * y)),
        "the factor in front is r, not y",
    ),
    Mistake(
        "mean_of_g",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - y * average(g)),
        "the mean is of g alone; it is of g times y",
    ),
    Mistake(
        "no_y",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - average(g * y)),
        "the mean of g y is there, but the factor y before it is missing",
    ),
    Mistake(
        "no_eps",
        lambda g, y, x, eps=1e-5: root(x, 0) * (g - y * average(g * y)),
        "ε is missing in r; a row of zeros shows it",
    ),
    Mistake(
        "fixed_eps",
        lambda g, y, x, eps=1e-5: root(x) * (g - y * average(g * y)),
        "r has a fixed ε; `eps` says which",
    ),
    Mistake(
        "eps_outside",
        lambda g, y, x, eps=1e-5: (
            (g - y * average(g * y)) / (numpy.sqrt(average(x * x)) + eps)
        ),
        "ε is added to the root; it stands under it",
    ),
    Mistake(
        "no_root",
        lambda g, y, x, eps=1e-5: root(x, eps) ** 2 * (g - y * average(g * y)),
        "the factor in front is 1 / (mean(x²) + ε), without the root",
    ),
    Mistake(
        "all_rows",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - y * (g * y).mean()),
        "the mean is over the whole array; each row has its own",
    ),
    Mistake(
        "all_rows",
        lambda g, y, x, eps=1e-5: (
            root(x, eps) * g - root(x, eps) ** 3 * x * (g * x).mean()
        ),
        "the mean is over the whole array; each row has its own",
    ),
    Mistake(
        "keepdims",
        lambda g, y, x, eps=1e-5: root(x, eps) * (g - y * (g * y).mean(axis=-1)),
        "the mean loses its axis and then meets the wrong numbers: keepdims=True",
    ),
    Mistake(
        "no_g",
        lambda g, y, x, eps=1e-5: root(x, eps) * (1 - y * y / x.shape[-1]),
        "this is ∂yᵢ/∂xᵢ alone: g, and the sum over the outputs, are missing",
    ),
]

TERMS = (
    Term(
        "what a number does to its own output",
        lambda g, y, x, eps=1e-5: root(x, eps) * g,
        1,
    ),
    Term(
        "what a number does to the whole row through r",
        lambda g, y, x, eps=1e-5: root(x, eps) * y * average(g * y),
        -1,
    ),
)

BLANK = Blank(
    name="rms_norm",
    source="minigrad.ops.layernorm.rms_norm.rule",
    teaches="what a normalisation forgets, its gradient forgets",
    minutes=20,
    ask=ASK,
    offers="from minigrad import mean  # as np.mean\nfrom minigrad.ops.layernorm import inverse_rms",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
    terms=TERMS,
)
