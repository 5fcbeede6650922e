"""Reductions over one axis, several, or all of them: sum mean max min var std norm.

The rule of a reduction sends g back to every number that went into it, so g first gets
the reduced axes back, with length 1. Then it broadcasts against x.
"""

import math

from .. import backend, checks
from ..backward import total
from ..primitive import primitive
from ..tensor import Tensor, plain
from .elementwise import where
from .shapes import broadcast_to


def reduced_axes(x, axis):
    """Return the axes that `axis` means, as numbers from 0."""
    if axis is None:
        return list(range(x.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return [i % (x.ndim or 1) for i in axes]  # NumPy grants 0-d an axis


def expand(g, x, axis):
    """Return g, shaped like a reduction of x, with length 1 on every reduced axis."""
    axes = reduced_axes(x, axis)
    return g.reshape(tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def reduced_size(x, axis):
    """Return how many numbers of x go into each number of its reduction."""
    axes = reduced_axes(x, axis)
    return math.prod(n for i, n in enumerate(x.shape) if i in axes)


# y = Σᵢ xᵢ          dL/dxᵢ = g
@primitive
def sum(x, /, axis=None, keepdims=False):
    """Return the sum over an axis, a tuple of axes, or all."""
    return total(x, axis, keepdims)


@sum.rule
def _(g, y, x, axis=None, keepdims=False):
    return broadcast_to(expand(g, x, axis), shape=x.shape)


# y = Σᵢ xᵢ / n      dL/dxᵢ = g / n
@primitive
def mean(x, /, axis=None, keepdims=False):
    """Return the mean over an axis, a tuple of axes, or all."""
    return x.mean(axis=axis, keepdims=keepdims)


@mean.rule
def _(g, y, x, axis=None, keepdims=False):
    share = 1 / (reduced_size(x, axis) or 1)  # not g / n: float16 has no n of 70,000
    return broadcast_to(expand(g, x, axis) * share, shape=x.shape)


# y = maxᵢ xᵢ        dL/dxᵢ = g / the number that tie where xᵢ is the maximum, else 0
@primitive
def max(x, /, axis=None, keepdims=False):
    """Return the maximum over the axes; those that tie share g equally."""
    return x.max(axis=axis, keepdims=keepdims)


# y = minᵢ xᵢ        as for the maximum
@primitive
def min(x, /, axis=None, keepdims=False):
    """Return the minimum over the axes; those that tie share g equally."""
    return x.min(axis=axis, keepdims=keepdims)


@max.rule
@min.rule
def _(g, y, x, axis=None, keepdims=False):
    x, y = plain(x), expand(plain(y), x, axis)
    ties = (x == y) | backend.xp.isnan(x)  # a NaN counts as the maximum
    share = 1 / ties.sum(axis=axis, keepdims=True)  # in float64
    return where(ties, expand(g, x, axis) * share.astype(x.dtype), 0.0)


# y = Σᵢ (xᵢ - μ)² / (n - ddof)         dL/dxᵢ = 2 g (xᵢ - μ) / (n - ddof)
#
# The mean μ depends on x too, but what it adds, -2 g Σᵢ (xᵢ - μ) / (n - ddof) · dμ/dxⱼ,
# is 0: deviations sum to 0.
@primitive
def var(x, /, axis=None, keepdims=False, ddof=0):
    """Return the variance over the axes, Σ (x - μ)² / (n - ddof).

    Raises: ValueError where n numbers are too few, n ≤ ddof.
    """
    checks.enough_numbers(reduced_size(x, axis), ddof, x)
    y = x.var(axis=axis, keepdims=keepdims, ddof=ddof, dtype=backend.wide(x))
    return y.astype(backend.floats(x).dtype)


@var.rule
def _(g, y, x, axis=None, keepdims=False, ddof=0):
    deviation = x - mean(x, axis=axis, keepdims=True)
    share = 2 / ((reduced_size(x, axis) - ddof) or 1)
    return share * expand(g, x, axis) * deviation


# y = √var           dL/dx = g u / √(n - ddof), u = (x - μ) / ‖x - μ‖, and 0 at the kink y = 0
@primitive
def std(x, /, axis=None, keepdims=False, ddof=0):
    """Return the standard deviation over the axes, √var; its gradient at 0 is 0.

    Raises: ValueError where n numbers are too few, n ≤ ddof.
    """
    checks.enough_numbers(reduced_size(x, axis), ddof, x)
    y = x.std(axis=axis, keepdims=keepdims, ddof=ddof, dtype=backend.wide(x))
    return y.astype(backend.floats(x).dtype)


@std.rule
def _(g, y, x, axis=None, keepdims=False, ddof=0):
    share = ((reduced_size(x, axis) - ddof) or 1) ** -0.5
    g = share * expand(g, x, axis)
    for _ in range(2):  # the rounded mean of equal numbers may differ from them
        x = x - mean(x, axis=axis, keepdims=True)
    return g * direction(backend.widened(x), axis=axis)


# y = √(Σᵢ xᵢ²)      dL/dxᵢ = g xᵢ / y, and 0 at the kink y = 0
@primitive
def norm(x, /, axis=None, keepdims=False):
    """Return the 2-norm over the axes, √(Σ x²); its gradient at 0 is 0."""
    x = backend.floats(x)
    wide = x.astype(backend.wide(x), copy=False)  # float16 has no square of 300
    y = backend.xp.sqrt((wide * wide).sum(axis=axis, keepdims=keepdims))
    return y.astype(x.dtype)


@norm.rule
def _(g, y, x, axis=None, keepdims=False):
    return expand(g, x, axis) * direction(x, axis=axis)


# u = x / ‖x‖, and 0 at 0       dL/dx = (g - u Σ g u) / ‖x‖, and NaN at 0, where u jumps
@primitive
def direction(x, /, axis=None):
    """Return the vectors along the axes at length 1, and zero vectors as they are."""
    length = norm(x, axis=axis, keepdims=True)
    return x / where(length == 0, 1.0, length)


@direction.rule
def _(g, u, x, axis=None):
    length = norm(x, axis=axis, keepdims=True)
    length = where(length == 0, math.nan, length)
    return (g - u * sum(g * u, axis=axis, keepdims=True)) / length


Tensor.sum, Tensor.mean, Tensor.max, Tensor.min = sum, mean, max, min
Tensor.var, Tensor.std = var, std
