"""Compare gradients with finite differences.

A function f of many outputs is checked through L = Σ u · f with random u. Ones in the
place of u would hide the worst mistakes: softmax sums to 1, so the gradient of its
plain sum is 0, and a rule that returned 0, or 17 times too much, would pass.
"""

import functools
import math
import warnings

import numpy

from . import backend
from .backward import pull_back
from .ops.shapes import concatenate
from .primitive import recording
from .tensor import Tensor

STEP = 2.0**-18  # h of a difference at x, times the power of two next above |x| or 1
TOLERANCE = 1e-6  # on the relative error
EPS = float(numpy.finfo(float).eps)


class GradcheckError(AssertionError):
    """A gradient differs from its finite difference, or cannot be compared with it."""


def gradcheck(f, *inputs, order=1):
    """Return the largest relative error of dL/dx at any entry, where L = Σ u · f(x).

    f takes Tensors and returns a Tensor of any shape. The inputs are arrays or Tensors;
    float64 copies of them are checked. With order=2 the gradient is checked as well as
    a function of its own: its gradient against differences of it.

    Warns where an input was of another float type, and where f has a kink: there, any
    slope between those on the left and on the right passes. May refuse a gradient that
    is 0 only because terms cancel, as that of sum(softmax(x)): all digits are rounding.

    Raises: GradcheckError naming input, index, got and expected where the error exceeds
    1e-6, or when f is random or not float64.

    >>> from minigrad import gradcheck, softmax
    >>> gradcheck(softmax, [1.0, 2.0, 4.0], order=2) < 1e-6
    True
    """
    if order not in (1, 2):
        raise ValueError(f"gradcheck: order {order} is neither 1 nor 2")
    if not inputs:
        raise ValueError("gradcheck: there are no inputs to differentiate by")
    if recording.paused:
        raise RuntimeError("gradcheck: inside no_grad nothing is recorded")
    points = []
    for k, x in enumerate(inputs):
        x = backend.to_numpy(x)
        if x.dtype.kind not in "biuf":
            raise TypeError(f"gradcheck: input {k} is {x.dtype}, not real numbers")
        if x.dtype.kind == "f" and x.dtype != float:
            warnings.warn(
                f"gradcheck: input {k} is {x.dtype}; a float64 copy is checked",
                stacklevel=2,
            )
        # in order C, as its copies will be: another order may round otherwise
        points.append(x.astype(float, order="C"))
    worst = compare(f, points)
    if order == 2:  # the rules may compute with Tensors in a way of their own
        recorded = compare(f, points, record=True)
        worst = max(worst, recorded, compare(gradient(f), points))
    return worst


def gradient(f):
    """Return the function that computes dL/dx of all inputs, in one row.

    Here L = Σ u · f²/2, so that g = u · f depends on x: a rule must pass on that too.
    """

    def df(*xs):
        y = f(*xs)
        g = y * cotangent(y)
        leaves = pull_back(y, g, record=True) if type(y) is Tensor else {}
        rows = [
            leaves.get(x, backend.xp.zeros_like(x.data)).reshape((x.size,)) for x in xs
        ]
        return concatenate(rows)

    return df


def cotangent(y):
    """Return u, random numbers in the shape of y, the same for each y of that shape."""
    return backend.xp.asarray(numpy.random.default_rng(0).standard_normal(y.shape))


def compare(f, points, record=False):
    """Compare dL/dx with differences at every entry; return the largest relative error.

    With `record` it is the gradient that the rules compute with Tensors.
    """
    xs = [Tensor(x) for x in points]
    y = f(*xs)
    kind = getattr(y, "dtype", type(y).__name__)
    if kind != "float64":
        raise GradcheckError(f"gradcheck: f returned {kind}; it must keep float64")
    u = cotangent(y)
    leaves = pull_back(y, u, record=record) if type(y) is Tensor else {}
    u, y = backend.to_numpy(u), backend.to_numpy(y)

    @numpy.errstate(all="ignore")  # f may end within a step of x, as log near 0
    def at(k, i, step):
        """Return f with `step` added to entry i of input k."""
        moved = [x.copy() for x in points]
        moved[k][i] += step
        return backend.to_numpy(f(*map(Tensor, moved)))

    if not numpy.array_equal(at(0, (), 0), y, equal_nan=True):
        raise GradcheckError("gradcheck: f is random: two calls differ; fix its seed")

    worst, kinks = 0.0, []
    for k, x in enumerate(points):
        got_all = (
            backend.to_numpy(leaves[xs[k]]) if xs[k] in leaves else numpy.zeros(x.shape)
        )
        for i in numpy.ndindex(x.shape):
            got = float(got_all[i])
            f_near = functools.partial(at, k, i)
            expected, error, kink = difference(got, u, y, f_near, float(x[i]))
            if kink:
                kinks.append(f"input {k} index {i}")
            if not error <= TOLERANCE:
                raise GradcheckError(
                    f"gradcheck: input {k}, index {i}: got {got:.9g}, "
                    f"expected {expected:.9g}, relative error {error:.1e}"
                )
            worst = max(worst, error)
    if kinks:
        between = "any slope between left and right passes there"
        warnings.warn(f"gradcheck: kink at {', '.join(kinks)}: {between}", stacklevel=3)
    return worst


def difference(got, u, y, at, x):
    """Return the slope of L at x, the error of `got`, and whether f has a kink there.

    at(h) is f at x + h. A kink or an error may mean no more than that h is too long, as
    it is for log at 1e-4, or softmax at 1e6. Then shorter ones are tried, as long as
    their rounding could not hide the error.
    """
    h = STEP * 2.0 ** math.frexp(max(1.0, abs(x)))[1]  # a power of two: x ± h is exact
    found, missed = [], math.inf
    for step in (h, h / 2**10, h / 2**20):
        near = [at(-step), at(-step / 2), y, at(step / 2), at(step)]
        expected, noise = slope(u, near, step)
        if 8 * noise > missed:
            break
        sides = slopes_at_kink(u, near, step, noise)
        if not found:  # the first step says how large an error there is to hide
            missed = abs(got - expected)
        if sides:  # at a kink any slope in between will do
            expected = min(max(got, sides[0]), sides[1])
        size = max(abs(got), abs(expected)) + noise / TOLERANCE
        error = abs(got - expected) / size if size else 0.0
        found.append((expected, error, bool(sides)))
        if error <= TOLERANCE and not sides:
            return found[-1]
    # a kink is seen best with the shortest step, an error with the least rounding
    return found[-1 if any(kink for *_, kink in found) else 0]


def slope(u, near, h):
    """Return dL/dx and its rounding error; `near` is f at x - h, x - h/2, x, … x + h.

    The central differences over 2h and over h are off by c h² and c h²/4, so that
    (4 narrow - wide) / 3 is off by neither (Richardson 1911). What remains is rounding:
    8 eps |f| / h, say, where f moved, and up to eps |f| / h where it stayed the same.
    """
    left_far, left, _, right, right_far = near
    wide = float(numpy.sum(u * (right_far - left_far))) / (2 * h)
    narrow = float(numpy.sum(u * (right - left))) / h
    moved = (right_far != left_far) | (right != left)
    noise = numpy.abs(u) * numpy.max(numpy.abs(near), axis=0) * EPS / h
    noise = float(numpy.sum(noise * numpy.where(moved, 8, 1)))
    return (4 * narrow - wide) / 3, noise


def slopes_at_kink(u, near, h, noise):
    """Return the lowest and the highest slope of L if an output has a kink, or None.

    Where f is smooth its left and right slopes differ by h f'': half the step, half the
    difference. At a kink they differ by as much for every step. Each output of f has
    kinks of its own, and its own slope in between.
    """
    left_far, left, y, right, right_far = near
    sides = numpy.sort([u * (y - left) / (h / 2), u * (right - y) / (h / 2)], axis=0)
    bend = sides[1] - sides[0]
    bend_far = numpy.abs(u * (right_far - 2 * y + left_far)) / h
    least = 1e-4 * numpy.max(numpy.abs(sides), axis=0) + 8 * noise
    if not numpy.any((bend > least) & (bend > 0.6 * bend_far)):
        return None
    return tuple(map(float, numpy.sum(sides.reshape((2, -1)), axis=1)))
