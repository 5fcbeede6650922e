"""Normalisation of rows: `center` takes out their mean, `rms_norm` their size.

Layer normalisation is one after the other, rms_norm(center(x)), for the mean square of
a centred row is its variance:

    y = (x - μ) / √(σ² + ε)

Each rule takes out of g what cannot change y: center forgets what the numbers of a row
have in common, and rms_norm, but for ε, how long the row is. By the chain rule, with
r = 1 / √(σ² + ε), and since the y of a row sum to 0,

    dL/dx = r (g - mean(g) - y mean(g y))

Ba, Kiros & Hinton, "Layer Normalization" (2016), eq. 4; Zhang & Sennrich, "Root Mean
Square Layer Normalization" (2019), eq. 4. Means are over the n numbers of a row.
"""

from .. import backend, checks
from ..primitive import primitive
from .elementwise import sqrt
from .reductions import mean


# y = x - mean(x)       ∂yᵢ/∂xⱼ = 1[i=j] - 1/n         dL/dx = g - mean(g)
@primitive
def center(x, /):
    """Return the rows x (…, n) without their mean; equal numbers become exactly 0."""
    x = backend.floats(x)
    # The first number is taken off first. The rounded mean of many equal numbers may
    # differ from them, and rms_norm would blow the difference up.
    y = backend.widened(x) - x[..., :1]
    return (y - y.mean(axis=-1, keepdims=True)).astype(x.dtype, copy=False)


@center.rule
def _(g, y, x):
    return g - mean(g, axis=-1, keepdims=True)


# y = r x               r = 1 / √(mean(x²) + ε)
#
# Step 1, how r changes with xⱼ. With s = mean(x²) + ε, ∂s/∂xⱼ = 2 xⱼ / n. And r is
# s^(-1/2), so ∂r/∂s = -s^(-3/2) / 2 = -r³ / 2:
#
#     ∂r/∂xⱼ = -r³ xⱼ / n
#
# Step 2, how yᵢ = r xᵢ changes, by the product rule, with r xᵢ = yᵢ and r xⱼ = yⱼ:
#
#     ∂yᵢ/∂xⱼ = r 1[i=j] - xᵢ r³ xⱼ / n = r (1[i=j] - yᵢ yⱼ / n)
#
# Step 3, the chain rule, over all the yᵢ of the row:
#
#     dL/dxⱼ = Σᵢ gᵢ r (1[i=j] - yᵢ yⱼ / n) = r (gⱼ - yⱼ mean(g y))
#
# ε stayed within r, so this is exact for every ε.
@primitive
def rms_norm(x, /, eps=1e-5):
    """Return the rows x (…, n) over their root mean square: x / √(mean(x²) + ε)."""
    checks.at_least(0)("eps", eps)
    return x * inverse_rms(x, eps)


@rms_norm.rule
def _(g, y, x, eps=1e-5):
    return inverse_rms(x, eps) * (g - y * mean(g * y, axis=-1, keepdims=True))


def inverse_rms(x, eps):
    """Return r for every row of x, (…, n) -> (…, 1), with squares in float32 at least."""
    wide = backend.widened(backend.floats(x))
    r = 1 / sqrt(mean(wide * wide, axis=-1, keepdims=True) + eps)
    return r.astype(backend.floats(x).dtype)
