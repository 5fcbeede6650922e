"""Activations: what bends the straight lines of a network."""

import math

from .. import backend
from ..primitive import primitive
from .elementwise import clip, where

C = 0.044715
ROOT_2_OVER_PI = math.sqrt(2 / math.pi)


# y = max(x, 0)      dL/dx = g where x > 0, else 0; at the kink x = 0 it is 0
@primitive
def relu(x, /):
    """Return x where it is positive, else 0."""
    return backend.xp.maximum(x, 0)


@relu.rule
def _(g, y, x):
    return where(x > 0, g, 0.0)


# y = tanh x         dL/dx = g (1 - y²)
@primitive
def tanh(x, /):
    """Return tanh x, in (-1, 1)."""
    return backend.xp.tanh(x)


@tanh.rule
def _(g, y, x):
    return g * (1 - y * y)


# y = 1 / (1 + e⁻ˣ)  dL/dx = g y (1 - y)
#
# With e = e^-|x|, which never overflows: y = 1 / (1 + e) for x ≥ 0, and e / (1 + e)
# below.
@primitive
def sigmoid(x, /):
    """Return 1 / (1 + e⁻ˣ), in (0, 1)."""
    x = backend.floats(x)  # -|3| is 253 in uint8
    e = backend.xp.exp(-backend.xp.abs(x))
    return backend.xp.where(x >= 0, 1.0, e) / (1 + e)


@sigmoid.rule
def _(g, y, x):
    return g * y * (1 - y)


# gelu, a smooth relu:    y = x h       h = (1 + tanh u) / 2       u = √(2/π) (x + C x³)
#
# The derivative of tanh is 1 - tanh² = 4 h (1 - h), so dh/dx = 2 h (1 - h) du/dx, with
# du/dx = √(2/π) (1 + 3 C x²), and by the product rule, with x h = y,
#
#     dL/dx = g (h + x dh/dx) = g (h + y (1 - h) 2 du/dx)
#
# Hendrycks & Gimpel, "Gaussian Error Linear Units" (2016), section 2. Within 5e-4 it is
# x Φ(x), with Φ the normal distribution function; NumPy has no erf for Φ itself.
@primitive
def gelu(x, /):
    """Return x (1 + tanh u) / 2, a smooth relu, of the cubic u above."""
    h = half_of_1_plus_tanh(x)
    return x * h, {"h": h}


@gelu.rule
def _(g, y, x, h=None):
    h = half_of_1_plus_tanh(x) if h is None else h
    x = clip(x, -10, 10)
    twice_du = 2 * ROOT_2_OVER_PI + 6 * ROOT_2_OVER_PI * C * (x * x)
    return g * (h + y * (1 - h) * twice_du)


def half_of_1_plus_tanh(x):
    """Return h. Beyond ±10, where x² may overflow, it is 0 or 1 in any case."""
    x = clip(x, -10, 10)
    u = x * (ROOT_2_OVER_PI + ROOT_2_OVER_PI * C * (x * x))
    return 0.5 + 0.5 * tanh(u)
