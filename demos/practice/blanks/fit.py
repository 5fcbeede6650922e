"""fit: undo broadcasting, for all rules at once."""

import numpy

from ..blank import Blank, Case
from .wrong_fit import MISTAKES

ASK = """\
Write the function that the engine calls when a rule's gradient has another shape or dtype
than the input x that it is for. It returns the gradient in those of x.

    x       an array, which was broadcast: it may lack axes in front that g has, and may
            have length 1 where g has more
    g       an array, the gradient as if every copy of a number were an input of its own
    name    that of the op, for messages; you may ignore it

The shapes go together always: you need not check that. And g may be float64 where x is
float32, as a rule may compute in a wider type than its input."""

HINTS = """\
Broadcasting copies one number of x to many places. If that number moves, which of the
copies move? So what is dL/d of it, given dL/d of every copy?

Two kinds of axes hold copies: those in front that x lacks, g.ndim - x.ndim of them, and
those where x has length 1. How do you number the second kind in g?

Axis i of x is axis i + g.ndim - x.ndim of g. Gather the axes of both kinds in one
tuple, sum over it with keepdims=True, and the numbers are right: what is left to do are
the shape and the dtype."""


class Input(numpy.ndarray):
    """An array that has its numbers in `array` too, as the engine's Tensor has: NumPy's
    functions take it, which refuse a Tensor."""

    array = property(numpy.asarray)


def cases(rng):
    """Return all ways to broadcast, and to widen."""
    normal = rng.standard_normal

    def case(name, g, x, dtype="float64"):
        x = numpy.array(normal(x), dtype).view(Input)
        return Case(name, (normal(g), x, "multiply"))

    return [
        case("x a row", (3, 3), (3,)),
        case("x a column", (3, 3), (3, 1)),
        case("two axes in front", (2, 3, 4), (4,)),
        case("a batch, and a row of length 1", (2, 3, 4), (1, 4)),
        case("one number in a row", (3, 4), (1,)),
        case("one number without axes", (3, 4), ()),
        case("an axis of length 1 in both", (2, 1, 4), (1, 4)),
        case("a middle axis", (2, 3, 4), (2, 1, 4)),
        case("the shape of x already", (3, 4), (3, 4)),
        case("x in float32, its shape already", (3, 4), (3, 4), "float32"),
        case("x in float32, a row", (3, 4), (4,), "float32"),
        case("no copies at all", (0, 4), (1, 4)),
    ]


BLANK = Blank(
    name="fit",
    source="minigrad.backward.fit",
    teaches="broadcasting is undone by a sum over the copies",
    minutes=15,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
