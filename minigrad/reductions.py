"""Reductions over one axis, several, or all of them: sum mean max min var norm.

The rule of a reduction sends g back to every number that went into it, so g first gets
the reduced axes back, with length 1. Then it broadcasts against x.
"""

import math

from . import backend as B
from .elementwise import where
from .primitive import primitive
from .shapes import broadcast_to
from .tensor import Tensor, plain


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
    return x.sum(axis=axis, keepdims=keepdims)


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
    return broadcast_to(expand(g, x, axis) / reduced_size(x, axis), shape=x.shape)


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


def share(g, y, x, axis=None, keepdims=False):
    """The rule of both: g in equal parts to the numbers that tie."""
    x, y = plain(x), expand(plain(y), x, axis)
    ties = (x == y) | B.xp.isnan(x)  # a NaN counts as the maximum
    number = ties.sum(axis=axis, keepdims=True).astype(x.dtype)
    return where(ties, expand(g, x, axis) / number, 0.0)


max.rule(share)
min.rule(share)


# y = Σᵢ (xᵢ - μ)² / (n - ddof)         dL/dxᵢ = 2 g (xᵢ - μ) / (n - ddof)
#
# The mean μ depends on x too, but what it adds, -2 g Σᵢ (xᵢ - μ) / (n - ddof) · dμ/dxⱼ,
# is 0: deviations sum to 0.
@primitive
def var(x, /, axis=None, keepdims=False, ddof=0):
    """Return the variance over the axes, Σ (x - μ)² / (n - ddof)."""
    return x.var(axis=axis, keepdims=keepdims, ddof=ddof)


@var.rule
def _(g, y, x, axis=None, keepdims=False, ddof=0):
    deviation = x - mean(x, axis=axis, keepdims=True)
    return 2 * expand(g, x, axis) * deviation / (reduced_size(x, axis) - ddof)


# y = √(Σᵢ xᵢ²)      dL/dxᵢ = g xᵢ / y, and 0 at the kink y = 0
@primitive
def norm(x, /, axis=None, keepdims=False):
    """Return the 2-norm over the axes, √(Σ x²); its gradient at 0 is 0."""
    # float16 holds neither the square of 300 nor that of 1e-4
    wide = x.astype(B.xp.result_type(x, "float32"), copy=False)
    y = B.xp.sqrt((wide * wide).sum(axis=axis, keepdims=keepdims))
    return y.astype(B.xp.result_type(x, 1.0))


@norm.rule
def _(g, y, x, axis=None, keepdims=False):
    y = expand(y, x, axis)
    kink = y == 0
    return expand(g, x, axis) * where(kink, 0.0, x / where(kink, 1.0, y))


Tensor.sum, Tensor.mean, Tensor.max, Tensor.min, Tensor.var = sum, mean, max, min, var
