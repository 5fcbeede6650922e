"""fit: undo broadcasting, for all rules at once."""

import numpy

from ..blank import Blank, Case, Mistake, first_copy, reduced

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


def cases(rng):
    """Return all ways to broadcast, and to widen."""
    normal = rng.standard_normal

    def case(name, g, x, dtype="float64"):
        return Case(name, (normal(g), normal(x).astype(dtype), "multiply"))

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


def by(reduce):
    """Return the answer that reduces over the copies in some other way."""
    return lambda g, x, name: reduced(g, x, reduce).astype(x.dtype)


def in_front_only(g, x, name):
    """Answer with the sum over the axes that x lacks, and over no other."""
    return g.sum(axis=tuple(range(g.ndim - x.ndim))).astype(x.dtype)


def stretched_only(g, x, name):
    """Answer with the sum over axes where x has length 1, and over no other."""
    extra = g.ndim - x.ndim
    axes = tuple(extra + i for i, n in enumerate(x.shape) if n == 1)
    return g.sum(axis=axes, keepdims=True).astype(x.dtype)


def unshifted(g, x, name):
    """Answer with axes of x taken for axes of g, which has more in front."""
    axes = (i for i, n in enumerate(x.shape) if n == 1)
    axes = {*range(g.ndim - x.ndim), *axes}
    return g.sum(axis=tuple(axes), keepdims=True).reshape(x.shape).astype(x.dtype)


def from_the_left(g, x, name):
    """Answer with the axes that x lacks looked for at the end."""
    axes = (i for i, n in enumerate(x.shape) if n == 1)
    axes = (*axes, *range(x.ndim, g.ndim))
    return g.sum(axis=axes, keepdims=True).reshape(x.shape).astype(x.dtype)


def no_keepdims(g, x, name):
    """Answer with the sum over all copies, and its axes gone."""
    extra = g.ndim - x.ndim
    stretched = (extra + i for i, n in enumerate(x.shape) if n == 1)
    return g.sum(axis=(*range(extra), *stretched)).astype(x.dtype)


def kept_axes(g, x, name):
    """Answer with the sum over all copies, and its axes still there."""
    extra = g.ndim - x.ndim
    stretched = (extra + i for i, n in enumerate(x.shape) if n == 1)
    return g.sum(axis=(*range(extra), *stretched), keepdims=True).astype(x.dtype)


MISTAKES = [
    Mistake(
        "mean",
        by(numpy.mean),
        "the mean over the copies is taken; every copy counts in full: the sum",
    ),
    Mistake(
        "one_copy",
        by(first_copy),
        "the gradient of the first copy is taken; all copies move together: the sum",
    ),
    Mistake(
        "largest", by(numpy.max), "the largest of the copies is taken, not the sum"
    ),
    Mistake(
        "in_front_only",
        in_front_only,
        "the axes that x lacks are summed, those where it has length 1 are not",
    ),
    Mistake(
        "stretched_only",
        stretched_only,
        "the axes where x has length 1 are summed, those that it lacks are not",
    ),
    Mistake(
        "unshifted",
        unshifted,
        "axis i of x is taken for axis i of g; g has more axes in front",
    ),
    Mistake(
        "from_the_left",
        from_the_left,
        "the axes that x lacks are looked for at the end; broadcasting adds them in front",
    ),
    Mistake(
        "no_keepdims",
        no_keepdims,
        "the axes of length 1 are gone: the sum over the copies needs the shape of x",
    ),
    Mistake(
        "kept_axes",
        kept_axes,
        "the axes that x lacks are still there, with length 1",
    ),
    Mistake(
        "sum_of_all",
        lambda g, x, name: numpy.full(x.shape, g.sum(), x.dtype),
        "every number gets the sum of all of g; it is to get that of its own copies",
    ),
    Mistake(
        "nothing",
        lambda g, x, name: g.astype(x.dtype),
        "the shape is still that of g",
    ),
    Mistake(
        "cut",
        lambda g, x, name: g.reshape(-1)[: x.size].reshape(x.shape).astype(x.dtype),
        "the first numbers of g are taken; the sum over the copies is asked for",
    ),
]

BLANK = Blank(
    name="fit",
    source="minigrad.backward.fit",
    teaches="a copy's gradients add up, so broadcasting is undone by a sum",
    minutes=15,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
