"""How undoing a broadcast goes wrong: which axes are reduced, by what, to which shape."""

import numpy

from ..blank import Mistake, first_copy, reduced


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


def from_the_end(g, x, name):
    """Answer the same, one axis after the other."""
    while g.ndim > x.ndim:
        g = g.sum(axis=-1)
    for i, n in enumerate(x.shape):
        g = g.sum(axis=i, keepdims=True) if n == 1 else g
    return g.astype(x.dtype)


def mixed(in_front, stretched):
    """Return the answer with one reduction for each of the two kinds of axes."""

    def answer(g, x, name):
        g = in_front(g, axis=tuple(range(g.ndim - x.ndim)))
        axes = tuple(i for i, n in enumerate(x.shape) if n == 1)
        return stretched(g, axis=axes, keepdims=True).astype(x.dtype)

    return answer


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
        "mean",
        mixed(numpy.sum, numpy.mean),
        "where x has length 1 the mean is taken; every copy counts in full: the sum",
    ),
    Mistake(
        "mean",
        mixed(numpy.mean, numpy.sum),
        "over the axes that x lacks the mean is taken; every copy counts in full: the sum",
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
        "from_the_left",
        from_the_end,
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
