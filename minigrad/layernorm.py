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

from . import backend as B
from .elementwise import sqrt
from .primitive import primitive
from .reductions import mean
from .tensor import Tensor


# y = x - mean(x)       ∂yᵢ/∂xⱼ = 1[i=j] - 1/n         dL/dx = g - mean(g)
@primitive
def center(x, /):
    """Return the rows x (…, n) without their mean; equal numbers become exactly 0."""
    x = B.floats(x)
    # The first number is taken off first. The rounded mean of many equal numbers may
    # differ from them, and rms_norm would blow the difference up.
    y = x - x[..., :1]
    y -= row_mean(y)
    return y


@center.rule
def _(g, y, x):
    return g - (mean(g, axis=-1, keepdims=True) if type(y) is Tensor else row_mean(g))


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
    return x * inverse_rms(x, eps)


@rms_norm.rule
def _(g, y, x, eps=1e-5):
    if type(y) is Tensor:
        r = 1 / sqrt(mean(x * x, axis=-1, keepdims=True) + eps)
        return r * (g - y * mean(g * y, axis=-1, keepdims=True))
    dx = without_length(g, y)
    dx *= inverse_rms(x, eps)
    return dx


# y = rms_norm(center(x)) w         dL/dw = g rms_norm(center(x)), summed over the rows
#
# The two, and the weights of a layer, in one op: the same numbers with fewer arrays.
@primitive
def layer_norm(x, w, /, eps=1e-5):
    """Return the rows x (…, n), centred and over their size, times the weights w (n,)."""
    normed = center(x)
    r = inverse_rms(normed, eps)
    normed *= r
    return normed * w, {"normed": normed, "r": r}


@layer_norm.rule
def _(g, y, x, w, normed, r, eps=1e-5):
    if type(y) is Tensor:
        centred = center(x)
        normed = rms_norm(centred, eps=eps)
        dx = rms_norm.rule(g * w, normed, centred, eps=eps)
        return center.rule(dx, centred, x), g * normed
    gw = g * w
    dx = without_length(gw, normed)  # r (gw - mean(gw) - normed mean(gw normed))
    dx -= row_mean(gw)
    dx *= r
    return dx, g * normed


def without_length(g, y):
    """Return g - y mean(g y) for the rows (…, n), in one new array instead of three."""
    dx = y * row_mean(g, y)
    B.xp.subtract(g, dx, out=dx)
    return dx


def inverse_rms(x, eps):
    """Return r for every row of the array x: (…, n) -> (…, 1)."""
    r = 1 / B.xp.sqrt(row_mean(x, x) + eps)
    return r.astype(B.xp.result_type(x, 1.0))


def row_mean(*arrays):
    """Return the mean over each row of a product, (…, n) -> (…, 1).

    einsum does not store the product, and passes through short rows faster than mean.
    It sums in float32 at least: the squares of a row soon exceed float16.
    """
    subscripts = ",".join(["...i"] * len(arrays)) + "->..."
    dtype = B.xp.result_type(arrays[0], "float32")
    total = B.xp.einsum(subscripts, *arrays, dtype=dtype)  # (…,)
    return total[..., None] / arrays[0].shape[-1]
