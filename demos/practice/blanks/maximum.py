"""maximum: the rule of an op with a kink, where two inputs tie."""

import numpy

from ..blank import Blank, Case, Mistake

ASK = """\
L is a number that depends on y. Write the rule of this op: given g = dL/dy, return dL/da and dL/db.

    a, b    arrays that broadcast against each other
    g, y    the shape of both together; y is what the op returned, number by number the
            larger one

Where a and b are equal there is a kink; the package lets them share g equally there.
Where one was broadcast, a gradient may have the shape of y: the engine sums it."""

HINTS = """\
Move the smaller of two numbers a little. What does y do? And the larger one?

dy/da is 1 where a is larger and 0 where b is. Where they are equal, moving a up moves
y, moving it down does not: the mean of both slopes is 1/2.

So there are three places to tell apart, and a comparison gives True for one of them: a
> b, a == b, a < b. Booleans count as 1 and 0 in a product."""


def cases(rng):
    """Return numbers apart, ties, and both with an operand that is broadcast."""
    normal = rng.standard_normal
    a, b = rng.integers(-1, 2, (2, 3, 4)).astype(float)
    row = numpy.array([0.0, 1.0, -1.0, 0.0])
    return [
        Case("no ties", (normal((3, 4)), normal((3, 4)))),
        Case("ties", (a, b)),
        Case("a batch", (normal((2, 3, 4)), normal((2, 3, 4)))),
        Case("all equal", (a, a.copy())),
        Case("b a row for every row", (a, row)),
        Case("a a column", (a[:, :1], b)),
        Case("b one number", (a, numpy.array(0.0))),
        Case("0 and -0", (numpy.zeros(3), -numpy.zeros(3))),
    ]


def shares(of_a, of_b):
    """Return the answer with these factors of g, each of a and b."""
    return lambda g, y, a, b: (g * of_a(a, b), g * of_b(a, b))


def larger(a, b):
    return (a > b) + 0.5 * (a == b)


MISTAKES = [
    Mistake(
        "both",
        shares(lambda a, b: a >= b, lambda a, b: b >= a),
        "where they tie each gets all of g, twice as much as there is; they share it",
    ),
    Mistake(
        "a_wins",
        shares(lambda a, b: a >= b, lambda a, b: b > a),
        "where they tie a gets all of g; they share it",
    ),
    Mistake(
        "b_wins",
        shares(lambda a, b: a > b, lambda a, b: b >= a),
        "where they tie b gets all of g; they share it",
    ),
    Mistake(
        "neither",
        shares(lambda a, b: a > b, lambda a, b: b > a),
        "where they tie neither gets any of g; they share it",
    ),
    Mistake(
        "minimum",
        shares(lambda a, b: larger(b, a), lambda a, b: larger(a, b)),
        "g goes to the smaller one, which y does not depend on",
    ),
    Mistake(
        "minimum",
        shares(lambda a, b: a < b, lambda a, b: b < a),
        "g goes to the smaller one, which y does not depend on; and where they tie, to none",
    ),
    Mistake(
        "minimum",
        shares(lambda a, b: a <= b, lambda a, b: b <= a),
        "g goes to the smaller one, which y does not depend on; and where they tie, to both",
    ),
    Mistake(
        "half_to_smaller",
        shares(
            lambda a, b: numpy.where(a > b, 1, 0.5),
            lambda a, b: numpy.where(b > a, 1, 0.5),
        ),
        "the smaller one gets half of g; only where they tie, each gets half",
    ),
    Mistake(
        "all",
        lambda g, y, a, b: (g, g),
        "both get all of g everywhere; y depends on the larger one only",
    ),
    Mistake(
        "half",
        lambda g, y, a, b: (g / 2, g / 2),
        "both get half of g everywhere; away from ties the larger one gets all of it",
    ),
    Mistake(
        "no_g",
        lambda g, y, a, b: (larger(a, b), larger(b, a)),
        "this is dy/da: the chain rule multiplies it by g",
    ),
    Mistake(
        "no_g",
        lambda g, y, a, b: (1.0 * (a > b), 1.0 * (b > a)),
        "this is dy/da, away from ties: the chain rule multiplies it by g",
    ),
    Mistake(
        "value",
        lambda g, y, a, b: (y * (a > b), y * (b > a)),
        "the larger number itself is returned; the slope is 1, so what arrives is g",
    ),
    Mistake(
        "value",
        lambda g, y, a, b: (y * larger(a, b), y * larger(b, a)),
        "the larger number itself is returned; the slope is 1, so what arrives is g",
    ),
    Mistake(
        "value_factor",
        lambda g, y, a, b: (g * y * larger(a, b), g * y * larger(b, a)),
        "g is multiplied by the larger number; the slope is 1",
    ),
    Mistake(
        "sign_of_difference",
        lambda g, y, a, b: (g * numpy.sign(a - b), g * numpy.sign(b - a)),
        "the smaller one gets -g; y does not depend on it: 0",
    ),
    Mistake(
        "sign_of_g",
        lambda g, y, a, b: (numpy.maximum(g, 0), numpy.minimum(g, 0)),
        "g is split by its own sign; who gets it depends on which of a and b is larger",
    ),
]

BLANK = Blank(
    name="maximum",
    source="minigrad.ops.elementwise.maximum.rule",
    teaches="a gradient that is routed, and what to do at a kink",
    minutes=10,
    ask=ASK,
    offers="from minigrad import where  # as np.where",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
