"""Where a token stands.

Attention sees a set: permute the tokens, and the outputs are permuted with them. So the
position is put into the vectors, added (sinusoidal) or as a rotation of queries and
keys (rope).

Letters: T positions, d the width, i < d / 2 a pair of numbers; … any axes in front.
"""

from minigrad import backend
from minigrad.backend import floats
from minigrad.checks import integer, number, takes
from minigrad.primitive import primitive

from . import checks

BASE = 10000.0  # the slowest pair turns once in 2π · 10000^(1 - 2/d) positions


def angles(positions, d):
    """Return t · 10000^(-2i/d) in radians, (T, d / 2), for an array of positions t.

    Pair 0 turns by 1 radian from one position to the next, each further pair more
    slowly. In float64: at position 10,000 float16 has no digits left for the fast
    pairs, float32 three.
    """
    checks.even("a rotation", d)
    i = backend.xp.arange(d // 2, dtype=float)
    return positions[:, None] * BASE ** (-2 * i / d)


@takes(n=integer(0), d=integer(0))
def sinusoidal(n, d):
    """Return the position vectors P (n, d) in float64, to be added to n tokens.

    P[t, 2i] = sin(t · 10000^(-2i/d)), P[t, 2i + 1] = cos of the same. Vaswani et al.,
    "Attention Is All You Need" (2017), section 3.5. Each shift by k is one rotation of
    all pairs, the same at every t. For float32 tokens write .astype(x.dtype).

    Raises: ValueError for an odd width or a negative n.

    >>> sinusoidal(2, 2).round(4)
    array([[0.    , 1.    ],
           [0.8415, 0.5403]])
    """
    a = angles(backend.xp.arange(n, dtype=float), d)  # (n, d / 2)
    P = backend.xp.stack(
        [backend.xp.sin(a), backend.xp.cos(a)], axis=-1
    )  # (n, d / 2, 2)
    return P.reshape((n, d))


@takes("… T d", offset=number)
def rope(x, offset=0):
    """Return x (…, T, d), its rows rotated by the angles of their positions.

    The rows stand at positions offset, offset + 1, … The score of a rotated query and
    key then depends on how far apart they are, not on where:

        (R_s q) · (R_t k) = q · R_(t-s) k

    Su et al., "RoFormer" (2021), section 3.2.2. The pairs are x[i] and x[i + d/2]: halves, as
    in GPT-NeoX and Llama; the paper pairs neighbours. Either is right, weights trained
    with one are wrong with the other.

    Raises: ValueError for an odd width, or an offset that is not one number.

    >>> import numpy as np
    >>> rope(np.array([[1.0, 2.0, 3.0, 4.0]]), offset=1).round(6)
    array([[-1.984111,  1.959901,  2.462378,  4.0198  ]])
    """
    x = floats(x)
    T, d = x.shape[-2:]
    a = angles(offset + backend.xp.arange(T, dtype=float), d)  # (T, d / 2)
    xp = backend.xp
    cos, sin = (f(a).astype(x.dtype) for f in (xp.cos, xp.sin))  # (T, d / 2) each
    return rotate(x, cos=cos, sin=sin)


# y₁ = x₁ cos a - x₂ sin a          dL/dx₁ =  g₁ cos a + g₂ sin a
# y₂ = x₁ sin a + x₂ cos a          dL/dx₂ = -g₁ sin a + g₂ cos a
#
# The transpose of a rotation turns back: the gradient is g rotated by -a.
@primitive
def rotate(x, /, cos, sin):
    half = x.shape[-1] // 2
    x1, x2 = x[..., :half], x[..., half:]  # (…, T, d / 2) each
    y = backend.xp.empty_like(x)  # (…, T, d)
    y[..., :half] = x1 * cos - x2 * sin
    y[..., half:] = x1 * sin + x2 * cos
    return y


@rotate.rule
def _(g, y, x, cos, sin):
    return rotate(g, cos=cos, sin=-sin)
