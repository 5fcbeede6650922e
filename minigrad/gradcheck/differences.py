"""Compare gradients with finite differences.

    for each entry of x:
        expected = (L(x + h) - L(x - h)) / 2h          that one entry moved by h
        assert gradient[entry] ≈ expected

Three questions decide whether these lines check anything.

Which L? f may have many outputs, so it is checked through L = Σ u · f with random u.
Ones in the place of u would hide the worst mistakes: softmax sums to 1, so the gradient
of its plain sum is 0, and a rule that returned 0, or 17 times too much, would pass.

Which h? The formula is off by f''' h²/6 since h is not 0, and by eps |f| / h since f is
rounded. The sum of both is least near h = ∛eps, where it is some eps^⅔. Two such
differences, mixed so that the h² terms cancel (`slope`), leave the rounding.

Which numbers? In float64 eps is 2.2e-16: with h = 6e-6 ten digits are right. In float32
it is 1.2e-7: with the best h, 5e-3, not five digits of exp are right, and with h = 1e-6
hardly two. A rule that is off by 1e-5 would pass, and a deep f loses more digits. So a
check in float32 is worth nothing; this one computes in float64, whatever it is given.
"""

import functools
import math

import numpy

from .. import backend, checks
from ..backward import pull_back
from ..ops.shapes import concatenate
from ..tensor import Tensor
from . import kinks, refusals
from .kinks import TOLERANCE
from .refusals import GradcheckError

STEP = 2.0**-17  # h for |x| < 2, near ∛eps; a power of two, so x + h is mostly exact


def gradcheck(f, *inputs, order=1):
    """Return the largest relative error of dL/dx at any entry, where L = Σ u · f(x).

    f takes Tensors and returns a Tensor of any shape. The inputs are arrays or Tensors;
    float64 copies of them are checked. With order=2 so is (x, g) ↦ Jᵀg, the gradient as
    a function of its own, by x and by g, and the gradient that rules make of Tensors.

    Warns where an input was of another float type; where f has a kink, for there any
    slope between those on the left and on the right passes; and where f moves no more
    than its rounding does, as x² + 1e10 or sum(softmax(x)): a gradient of 0 would pass.
    An output that is infinite is left out. May refuse a right gradient below 1e-6 that
    is the rest of terms of size 1.

    Raises: GradcheckError where the error exceeds 1e-6, naming input, index, got and
    expected, which inputs are right, and the mistake if undoing it makes the whole
    gradient right (see mistakes.py); when a forward or a rule changes what it is given;
    when f is random or not float64.

    No such check can see a mistake in the forward that its rule shares: the gradient of
    the wrong function is then right. Compare the values with something else.

    >>> from minigrad import gradcheck, softmax
    >>> gradcheck(softmax, [1.0, 2.0, 4.0], order=2) < 1e-6
    True
    """
    checks.function("gradcheck: f", f)
    points = refusals.float64(inputs, order)
    refusals.unfit(f, points)
    names = [f"input {k}" for k in range(len(points))]
    worst, y, kinked = compare(f, points, names, modes=(False, True)[:order])
    kinks.warn(names, kinked)
    if order == 2:
        points.append(cotangent(y, seed=3))
        names = [f"second derivative by {name}" for name in (*names, "g")]
        # where f has a kink its gradient jumps, and has no slope
        product = transposed_jacobian(f)
        second, _, kinked = compare(product, points, names, spared=kinked)
        kinks.warn(names, kinked)
        worst = max(worst, second)
    return worst


def compare(f, points, names, modes=(False,), spared=()):
    """Compare dL/dx with differences at every entry; return the largest relative error,
    f at the points, and where it has kinks.

    The modes: the gradient that the rules make of arrays (False), of Tensors (True).
    """
    xs = [Tensor(x) for x in points]
    y = f(*xs)
    u, kinked, worst = cotangent(y), [], 0.0
    # low, high and noise of every dL/dx: what is spared may be anything
    bounds = [numpy.full((*x.shape, 3), (-math.inf, math.inf, 0.0)) for x in points]
    for k, i, slopes in differences(f, points, y, spared):
        bounds[k][i] = low, high, _ = kinks.weigh(u, *slopes)
        if low < high:
            kinked.append((k, i))
    for record in modes:
        got = pulled(y, u, xs, record)
        errors = [kinks.relative_error(*pair) for pair in zip(got, bounds, strict=True)]
        if not all(numpy.all(error <= TOLERANCE) for error in errors):
            again = functools.partial(look, f, record=record, spared=spared)
            raise refusals.wrong(names, points, got, bounds, errors, again)
        worst = max(worst, *(float(numpy.max(e, initial=0.0)) for e in errors))
    kinks.warn_where_0_would_pass(names, got, bounds)
    return worst, y, kinked


def pulled(y, u, xs, record):
    """Return dL/dx for each input as the rules make it, or None without a path to it."""
    u = backend.xp.asarray(u)
    try:
        leaves = pull_back(y, u, record=record) if isinstance(y, Tensor) else {}
    except refusals.ERRORS as error:
        if record:  # what an op saved for its rule, say, is no Tensor
            raise GradcheckError(f"with Tensors a rule fails: {error}") from error
        raise
    return [backend.to_numpy(leaves[x]) if x in leaves else None for x in xs]


def differences(f, points, y, spared=()):
    """Yield k, i, and low, high, noise of the slopes of f's outputs by entry i of input
    k: low is high but at a kink."""
    y = backend.to_numpy(y)
    for k, x in enumerate(points):
        for i in numpy.ndindex(x.shape):

            def moved(step, k=k, i=i):
                copies = [x.copy() for x in points]
                copies[k][i] += step
                return backend.to_numpy(f(*map(Tensor, copies)))

            # larger x need larger steps, for the floats there lie further apart
            h = STEP * 2.0 ** (math.frexp(max(1.0, abs(x[i])))[1] - 1)
            if (k, i) not in spared:
                yield k, i, kinks.slopes(slope, moved, y, h)


def slope(near, h):
    """Return dy/dx, given y at x - h, x - h/2, x, x + h/2 and x + h.

    The central difference over 2h is off by c h², that over h by c h²/4. Their mixture
    (4 narrow - wide) / 3 is off by neither (Richardson 1911).
    """
    left_far, left, _, right, right_far = near
    wide, narrow = (right_far - left_far) / (2 * h), (right - left) / h
    return (4 * narrow - wide) / 3


def cotangent(y, seed=0):
    """Return u, random numbers in the shape of y, the same for each y of that shape.

    They must not be those that somebody draws for x from a seed of 0 or 42: with u = A
    the gradient Aᵀ U of a product A B is symmetric, and its transpose would pass.
    Where y is infinite, as the log of a weight of 0, u is 0: it has no slope.
    """
    u = numpy.random.default_rng([seed, 1911]).standard_normal(y.shape)
    return numpy.where(numpy.isinf(backend.to_numpy(y)), 0.0, u)


def transposed_jacobian(f):
    """Return the function (x, g) ↦ Jᵀg: dL/dx of all inputs in one row, given g."""

    def product(*xs_and_g):
        *xs, g = xs_and_g
        y = f(*xs)
        leaves = pull_back(y, g, record=True) if isinstance(y, Tensor) else {}
        rows = [leaves.get(x, backend.xp.zeros(x.shape)).reshape((x.size,)) for x in xs]
        return concatenate(rows)

    return product


def look(f, points, record, spared):
    """Return y = f at the points, several u, and for those what rules and differences
    say: with these mistakes.py names what is wrong."""
    xs = [Tensor(x) for x in points]
    y = f(*xs)
    us = [cotangent(y, seed) for seed in range(3)] + [numpy.zeros(y.shape)]
    got = [pulled(y, u, xs, record) for u in us]
    return y, us, got, differences(f, points, y, spared)
