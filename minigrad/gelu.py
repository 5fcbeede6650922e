"""gelu, a smooth relu, computed block by block.

    y = x (1 + t) / 2       t = tanh u      u = √(2/π) (x + 0.044715 x³)

dt/dx = (1 - t²) du/dx and du/dx = √(2/π) (1 + 3 · 0.044715 x²), so by the product rule,
and with 1 - t² = (1 + t) (1 - t),

    dL/dx = g (1 + t) / 2 · (1 + (1 - t) x du/dx)

Hendrycks & Gimpel, "Gaussian Error Linear Units" (2016), section 2. Within 5e-4 it is
x Φ(x), with Φ the normal distribution function; NumPy has no erf for Φ itself.

A dozen steps over a large array cost more in memory traffic than in arithmetic. So they
are done in place, on one part after the other, each small enough for the cache of a
core. The formula written out is beside them in the rule, for Tensors.
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
    x = x if x.dtype.kind == "f" else x.astype(float)
    y = B.xp.empty(x.shape, dtype=x.dtype)
    for x_part, y_part in parts(x, y):
        y_part[...] = cubic(x_part, C)
        B.xp.tanh(y_part, out=y_part)
        y_part += 1
        y_part *= 0.5
        y_part *= x_part
    return y


@gelu.rule
def _(g, y, x):
    if type(y) is Tensor:
        t = tanh(ROOT_2_OVER_PI * x * (1 + C * x * x))
        dudx = ROOT_2_OVER_PI * (1 + 3 * C * x * x)
        return g * (0.5 * (1 + t) * (1 + (1 - t) * x * dudx))
    dx = B.xp.empty(x.shape, dtype=x.dtype)
    for g_part, x_part, dx_part in parts(g, x, dx):
        t = cubic(x_part, C)
        B.xp.tanh(t, out=t)
        dx_part[...] = cubic(x_part, 3 * C)
        dx_part *= 1 - t
        dx_part += 1
        t += 1
        t *= 0.5
        dx_part *= t
        dx_part *= g_part
    return dx


def cubic(x, c):
    """Return √(2/π) (x + c x³): u with c = C, and x du/dx with c = 3 C."""
    if x.dtype == "float16":  # in which 300² overflows; beyond 10, tanh u is ±1
        x = x.clip(-10, 10)
    u = x * x
    u *= ROOT_2_OVER_PI * c
    u += ROOT_2_OVER_PI
    u *= x
    return u


def parts(*arrays):
    """Yield the same part of each array, flat, and then the next part of each."""
    flat = [a.reshape((a.size,)) for a in arrays]
    for start in range(0, flat[0].size, BLOCK):
        yield [a[start : start + BLOCK] for a in flat]
