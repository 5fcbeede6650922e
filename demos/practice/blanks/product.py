"""product: the rule of `multiply`, where one operand may have been broadcast."""

import numpy

from ..blank import Blank, Case, Mistake, first_copy, reduced

ASK = """\
L is a number that depends on y. Write the rule of this op: given g = dL/dy, return dL/da and dL/db.

    a, b    arrays; they broadcast against each other: one may lack axes in front, or
            have length 1 where the other has more
    g, y    the shape of the product; y is what the op returned

A gradient may have the shape of y. Where a or b was broadcast the engine sums it to the
shape of its input, as it must: one number stood in many places. (Blank `fit` is that.)
If you sum yourself, that is right too."""

HINTS = """\
y is one product for every place. Hold b still and move a by a little: by how much does
y move?

By the product rule a small da moves y by da times b, and dL = g dy. Which factor stands
in front of da? Where is the same true with a and b exchanged?

Each gradient has two factors. One is g for both; the other is the operand that the
gradient is not for."""


def cases(rng):
    """Return operands of one shape, and all ways to broadcast."""
    normal = rng.standard_normal
    return [
        Case("two matrices", (normal((3, 4)), normal((3, 4)))),
        Case("a batch", (normal((2, 3, 4)), normal((2, 3, 4)))),
        Case("b a row for every row", (normal((3, 4)), normal(4))),
        Case("b a column", (normal((3, 4)), normal((3, 1)))),
        Case("a lacks axes", (normal(4), normal((2, 3, 4)))),
        Case("both are stretched", (normal((3, 1)), normal((1, 4)))),
        Case("b one number", (normal((2, 3)), normal(()))),
    ]


MISTAKES = [
    Mistake(
        "own_factor",
        lambda g, y, a, b: (g * a, g * b),
        "a gradient has its own input as the factor; moving a moves y by the other one",
    ),
    Mistake(
        "no_g",
        lambda g, y, a, b: (b, a),
        "this is dy/da: the chain rule is missing, dL/da = dL/dy · dy/da",
    ),
    Mistake(
        "sum_rule",
        lambda g, y, a, b: (g, g),
        "this is the rule of a + b: the other operand is missing as a factor",
    ),
    Mistake(
        "added",
        lambda g, y, a, b: (g + b, g + a),
        "g and the other operand are added; the chain rule multiplies",
    ),
    Mistake(
        "y_for_operand",
        lambda g, y, a, b: (g * y, g * y),
        "the factor is y, both operands at once; a moves y by b only",
    ),
    Mistake(
        "y_for_g",
        lambda g, y, a, b: (y * b, y * a),
        "y stands where g = dL/dy belongs",
    ),
    Mistake(
        "quotient",
        lambda g, y, a, b: (g / b, g / a),
        "g is divided by the other operand; that would be the rule of a quotient",
    ),
    Mistake(
        "mean_over_copies",
        lambda g, y, a, b: (
            reduced(g * b, a, numpy.mean),
            reduced(g * a, b, numpy.mean),
        ),
        "a broadcast operand gets the mean over its copies; every copy counts in full: "
        "sum",
    ),
    Mistake(
        "one_copy",
        lambda g, y, a, b: (
            reduced(g * b, a, first_copy),
            reduced(g * a, b, first_copy),
        ),
        "a broadcast operand gets the gradient of one of its copies; all of them count",
    ),
]

BLANK = Blank(
    name="product",
    source="minigrad.ops.arithmetic.multiply.rule",
    teaches="the chain rule, and what a broadcast operand collects",
    minutes=5,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
