"""Ops on each element by itself: functions, and choices between two.

NumPy's names, and NumPy's behaviour at the edges: log(0) is -inf with a warning, and
NaN stays NaN.
"""

import math

from .. import backend, checks
from ..primitive import primitive
from ..tensor import Tensor, plain


# y = eˣ             dL/dx = g y
@primitive
def exp(x, /):
    """Return eˣ."""
    return backend.xp.exp(x)


@exp.rule
def _(g, y, x):
    return g * y


# y = log x          dL/dx = g / x
@primitive
def log(x, /):
    """Return the natural logarithm of x."""
    return backend.xp.log(x)


@log.rule
def _(g, y, x):
    return g / x


# y = √x             dL/dx = g / (2 y)
@primitive
def sqrt(x, /):
    """Return √x."""
    return backend.xp.sqrt(x)


@sqrt.rule
def _(g, y, x):
    return g / (2 * y)


# y = sin x          dL/dx = g cos x
@primitive
def sin(x, /):
    """Return sin x, of radians."""
    return backend.xp.sin(x)


@sin.rule
def _(g, y, x):
    return g * cos(x)


# y = cos x          dL/dx = -g sin x
@primitive
def cos(x, /):
    """Return cos x, of radians."""
    return backend.xp.cos(x)


@cos.rule
def _(g, y, x):
    return -g * sin(x)


# y = |x|            dL/dx = g sign x       which is 0 at the kink x = 0
@primitive
def abs(x, /):
    """Return |x|."""
    return backend.xp.abs(x)


@abs.rule
def _(g, y, x):
    return g * backend.xp.sign(plain(x))


# y = a where the condition holds, else b     dL/da = g there, dL/db = g elsewhere
#
# The gradient is selected, not multiplied by 0 or 1: 0 · inf would be NaN. But a branch
# that is not taken can still make a NaN of its own. At x < 0, in
#
#     where(x > 0, sqrt(x), 2 * x)
#
# the rule of sqrt computes 0 / NaN. Choose a harmless input first:
#
#     where(x > 0, sqrt(where(x > 0, x, 1.0)), 2 * x)
@primitive
def where(condition, a, b, /):
    """Return a where the boolean condition holds, and b elsewhere.

    >>> from minigrad import Tensor, where
    >>> x = Tensor([-1.0, 2.0])
    >>> where(x > 0, x, 0.1 * x).sum().backward()
    >>> x.grad
    array([0.1, 1. ])
    """
    if getattr(condition, "dtype", None) != bool:
        raise TypeError("the condition must be boolean, as x > 0 is")
    return backend.xp.where(condition, a, b)


@where.rule
def _(g, y, condition, a, b):
    return None, where(condition, g, 0.0), where(condition, 0.0, g)


# y = max(a, b)      dL/da = g where y is a, g / 2 where it is b too, else 0; dL/db likewise
@primitive
def maximum(a, b, /):
    """Return the larger of a and b; where they tie each gets half of g."""
    return backend.xp.maximum(a, b)


# y = min(a, b)      as for the maximum
@primitive
def minimum(a, b, /):
    """Return the smaller of a and b; where they tie each gets half of g."""
    return backend.xp.minimum(a, b)


@maximum.rule
@minimum.rule
def _(g, y, a, b):
    return to_winner(g, a, b, y), to_winner(g, b, a, y)


def to_winner(g, a, b, y):
    """Return g where y is a, g / 2 where it is b too, and 0 elsewhere."""
    # where y is NaN, g goes to whichever of a and b is NaN
    is_a, is_b = ((x == y) | backend.xp.isnan(plain(x)) for x in (a, b))
    return where(is_a, where(is_b, 0.5 * g, g), 0.0)


# y = min(max(x, low), high)          dL/dx = g where low ≤ x ≤ high, else 0
@primitive
def clip(x, /, low, high):
    """Return x, or the nearer of the two numbers low and high where it is beyond."""
    low, high = (
        float(checks.number(what, bound))
        for what, bound in [("low", low), ("high", high)]
    )
    return backend.xp.clip(x, low, high)


@clip.rule
def _(g, y, x, low, high):
    return where((low <= x) & (x <= high), g, 0.0)


# y = aᵇ             dL/da = g b aᵇ⁻¹       dL/db = g y log a
#
# Where b = 0, y is 1 for every a, so dL/da is 0, at a = 0 too, where aᵇ⁻¹ is infinite.
# Where a = 0, y is 0 for every b > 0, so dL/db is 0 although log a is infinite; at b = 0
# it is set to that. Where a < 0, y is defined at single points b only: dL/db is NaN.
#
# A second derivative needs b aᵇ⁻¹ to stay a function of b, also where b = 0 makes it 0
# now. So only the power at a = b = 0 is replaced, by one that is finite.
@primitive
def power(a, b, /):
    """Return aᵇ."""
    return a**b


@power.rule
def _(g, y, a, b):
    if type(b) in (int, float):  # x**2 and the like
        return (g * (b * a ** (b - 1)) if b else 0 * g), None
    both_0 = (a == 0) & (b == 0)
    ga = g * b * a ** where(both_0, 1.0, b - 1)
    gb = g * y * log(where(a > 0, a, 1.0))
    return ga, where(a < 0, math.nan, gb)


Tensor.__abs__ = abs
Tensor.__pow__, Tensor.__rpow__ = power, lambda b, a: power(a, b)
