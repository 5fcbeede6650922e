"""gelu, a smooth relu, computed block by block.

    y = x h       h = (1 + tanh u) / 2       u = √(2/π) (x + 0.044715 x³)

The derivative of tanh is 1 - tanh² = 4 h (1 - h), so dh/dx = 2 h (1 - h) du/dx, with
du/dx = √(2/π) (1 + 3 · 0.044715 x²), and by the product rule

    dL/dx = g h (1 + 2 (1 - h) x du/dx)

Hendrycks & Gimpel, "Gaussian Error Linear Units" (2016), section 2. Within 5e-4 it is
x Φ(x), with Φ the normal distribution function; NumPy has no erf for Φ itself.

A dozen steps over a large array cost more in memory traffic than in arithmetic. So they
are done in place, on one part after the other, each small enough for the cache of a
core, and the slope dy/dx, of the same ingredients, is made along with y. The formula
written out is in the rule, for Tensors.
"""

import math

from . import backend as B
from .elementwise import tanh
from .primitive import primitive
from .tensor import Tensor

C = 0.044715
ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
BLOCK = 2**15  # numbers in a part


@primitive
def gelu(x, /):
    """Return x (1 + tanh u) / 2, a smooth relu, of the cubic u above."""
    x = B.floats(x)
    y, slope = B.xp.empty(x.shape, x.dtype), B.xp.empty(x.shape, x.dtype)
    for x_part, y_part, slope_part in parts(x, y, slope):
        y_part[...], slope_part[...] = value_and_slope(x_part)
    return y, {"slope": slope}


@gelu.rule
def _(g, y, x, slope):
    if type(y) is not Tensor:
        return g * slope
    h = 0.5 + 0.5 * tanh(ROOT_2_OVER_PI * x * (1 + C * x * x))
    dudx = ROOT_2_OVER_PI * (1 + 3 * C * x * x)
    return g * h * (1 + 2 * (1 - h) * x * dudx)


def value_and_slope(x):
    """Return y and dy/dx for the array x."""
    bounded = x.clip(-10, 10)  # or x² may overflow; beyond, tanh u is ±1 anyhow
    slope = bounded * bounded  # x²
    h = slope * (ROOT_2_OVER_PI * C)
    h += ROOT_2_OVER_PI
    h *= bounded  # u
    B.xp.tanh(h, out=h)
    h *= 0.5
    h += 0.5
    slope *= 6 * ROOT_2_OVER_PI * C
    slope += 2 * ROOT_2_OVER_PI  # 2 du/dx
    slope *= bounded
    slope *= 1 - h
    slope += 1
    slope *= h
    return h * x, slope


def parts(*arrays):
    """Yield the same part of each array, flat, and then the next part of each."""
    flat = [a.reshape((a.size,)) for a in arrays]
    for start in range(0, flat[0].size, BLOCK):
        yield [a[start : start + BLOCK] for a in flat]
