"""getitem: the rule of x[index], where one number may be read several times."""

import numpy

from ..blank import Blank, Case, Mistake

ASK = """\
L is a number that depends on y. Write the rule of this op: given g = dL/dy, return dL/dx.

    x        any shape
    index    what NumPy takes between brackets: an integer, a slice, None, an array of
             integers or of booleans, or a tuple of these
    y, g     the shape of x[index]; y is what the op returned

The package hands this on to another op; here it is yours to write, in NumPy alone or as a
loop. An integer in the index may be negative, and may come twice."""

HINTS = """\
Which numbers of x does L not depend on? And if one is read twice, through how many
numbers of y does L depend on it?

dL/dx has the shape and dtype of x. It begins as zeros, and every number of g is added
at the place that its number of y was read from. What does NumPy do with `a[[0, 0]] +=
1`? Try it.

`a[index] += g` reads all, adds, and writes all: of a place that comes twice the last
writing remains. NumPy has an unbuffered form of each of its operations, the method
`at`, which works on the places one after the other."""


def cases(rng):
    """Return every kind of index, first one that repeats."""
    x, batch = rng.standard_normal((5, 3)), rng.standard_normal((2, 4, 3))
    pairs = numpy.array([0, 2, 0, 0]), numpy.array([1, 1, 1, 2])
    ids = numpy.array([[0, 1, 1], [4, 0, 1]])
    return [
        Case("rows, one of them twice", (x,), {"index": numpy.array([1, 0, 1, 4])}),
        Case("a batch of row numbers", (x,), {"index": ids}),
        Case("one row", (x,), {"index": 2}),
        Case("a slice", (batch,), {"index": (slice(None), slice(1, 3))}),
        Case("pairs, one of them twice", (x,), {"index": pairs}),
        Case("negative numbers", (x,), {"index": numpy.array([-1, 4, -1])}),
        Case("booleans", (x,), {"index": x > 0}),
        Case("a new axis", (x,), {"index": (None, ..., 0)}),
        Case("nothing", (x,), {"index": numpy.array([], int)}),
    ]


def written(value, start=numpy.zeros_like, add=False):
    """Return the answer that writes, or adds, something at the index of a new array."""

    def answer(g, y, x, index):
        z = start(x)
        if add:
            numpy.add.at(z, index, value(g, y))
        else:
            z[index] = value(g, y)
        return z

    return answer


def first_wins(g, y, x, index):
    """Answer with the first of several readings."""
    z, places = numpy.zeros_like(x), numpy.arange(x.size).reshape(x.shape)[index]
    for i, gi in zip(places.ravel()[::-1], g.ravel()[::-1], strict=True):
        z.reshape(-1)[i] = gi
    return z


def averaged(g, y, x, index):
    """Answer with the mean of g over the readings of a place."""
    z, n = numpy.zeros_like(x), numpy.zeros_like(x)
    numpy.add.at(z, index, g)
    numpy.add.at(n, index, 1)
    return z / numpy.maximum(n, 1)


MISTAKES = [
    Mistake(
        "last_wins",
        written(lambda g, y: g),
        "of a place that is read twice only the last reading counts; it is in L twice: "
        "add",
    ),
    Mistake(
        "first_wins",
        first_wins,
        "of a place that is read twice only the first reading counts; it is in L twice: "
        "add",
    ),
    Mistake(
        "averaged",
        averaged,
        "a place that is read twice gets the mean of both; it is in L twice: the sum",
    ),
    Mistake(
        "read_again",
        lambda g, y, x, index: g[index],
        "this reads g at the index; the rule goes the other way and writes there",
    ),
    Mistake(
        "g_itself",
        lambda g, y, x, index: g,
        "g has the shape of y; it must be put at the places of x that were read",
    ),
    Mistake(
        "no_g",
        written(lambda g, y: 1, add=True),
        "this counts how often a place was read; what is added each time is g",
    ),
    Mistake(
        "no_g_once",
        written(lambda g, y: 1),
        "this marks the places that were read; what is added there is g",
    ),
    Mistake(
        "y_for_g",
        written(lambda g, y: y, add=True),
        "y is put back to where it came from; it is g that goes there",
    ),
    Mistake(
        "y_for_g",
        written(lambda g, y: y),
        "y is written back to where it came from; it is g that is added there",
    ),
    Mistake(
        "y_factor",
        written(lambda g, y: g * y, add=True),
        "g times y is added; reading a number has derivative 1",
    ),
    Mistake(
        "onto_x",
        written(lambda g, y: g, numpy.copy, add=True),
        "g is added to x; the gradient begins as zeros",
    ),
    Mistake(
        "into_x",
        written(lambda g, y: g, numpy.copy),
        "g is written into x; what was not read has gradient 0",
    ),
    Mistake(
        "from_ones",
        written(lambda g, y: g, numpy.ones_like, add=True),
        "what was not read has gradient 1 here; L does not depend on it: 0",
    ),
]

BLANK = Blank(
    name="getitem",
    source="minigrad.ops.indexing.getitem.rule",
    teaches="what is used twice gets two gradients, which add",
    minutes=10,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
