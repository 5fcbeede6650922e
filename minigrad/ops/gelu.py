"""gelu, a smooth relu.

    y = x h       h = (1 + tanh u) / 2       u = √(2/π) (x + 0.044715 x³)

The derivative of tanh is 1 - tanh² = 4 h (1 - h), so dh/dx = 2 h (1 - h) du/dx, with
du/dx = √(2/π) (1 + 3 · 0.044715 x²), and by the product rule

    dL/dx = g (h + x dh/dx)

Hendrycks & Gimpel, "Gaussian Error Linear Units" (2016), section 2. Within 5e-4 it is
x Φ(x), with Φ the normal distribution function; NumPy has no erf for Φ itself.
"""

import math

from ..primitive import primitive
from .elementwise import clip, tanh

C = 0.044715
ROOT_2_OVER_PI = math.sqrt(2 / math.pi)


def h_and_slope(x):
    """Return h and dh/dx. Beyond ±10, where x² may overflow, they are 0 or 1, and 0."""
    x = clip(x, -10, 10)
    square = x * x
    h = 0.5 + 0.5 * tanh(ROOT_2_OVER_PI * x * (1 + C * square))
    return h, 2 * ROOT_2_OVER_PI * h * (1 - h) * (1 + 3 * C * square)


@primitive
def gelu(x, /):
    """Return x (1 + tanh u) / 2, a smooth relu, of the cubic u above."""
    return x * h_and_slope(x)[0]


@gelu.rule
def _(g, y, x):
    h, slope = h_and_slope(x)
    return g * (h + x * slope)
