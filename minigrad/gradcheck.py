"""Compare gradients with finite differences.

A function f of many outputs is checked through L = Σ u · f with random u. Ones in the
place of u would hide the worst mistakes: softmax sums to 1, so the gradient of its
plain sum is 0, and a rule that returned 0, or 17 times too much, would pass."""

import warnings

import numpy

from . import backend as B
from .backward import pull_back
from .shapes import concatenate
from .tensor import Tensor

STEP = 1e-5  # of a difference, relative to inputs larger than 1
TOLERANCE = 1e-6  # on the relative error
EPS = numpy.finfo(float).eps


class GradcheckError(AssertionError):
    """A gradient differs from its finite difference, or cannot be compared with it."""


def gradcheck(f, *inputs, order=1):
    """Check dL/dx for every entry x of every input, with L = Σ u · f(inputs); return
    the largest relative error.

    f takes Tensors and returns a Tensor of any shape. The inputs are arrays or Tensors;
    float64 copies of them are checked. With order=2 the gradient is checked as well as
    a function of its own: its gradient against differences of it.

    Warns where an input was not float64, and where f has a kink: there, any slope
    between those on the left and on the right passes.

    Raises: GradcheckError naming input, index, got and expected; or when f is random or
    not float64.

    >>> from minigrad import gradcheck, softmax
    >>> gradcheck(softmax, [1.0, 2.0, 4.0], order=2) < 1e-6
    True
    """
    if order not in (1, 2):
        raise ValueError(f"gradcheck: order {order} is neither 1 nor 2")
    points = []
    for k, x in enumerate(inputs):
        x = B.to_numpy(x)
        if x.dtype.kind == "f" and x.dtype != float:
            warnings.warn(
                f"gradcheck: input {k} is {x.dtype}; a float64 copy is checked",
                stacklevel=2,
            )
        points.append(x.astype(float))
    worst = compare(f, points)
    return worst if order == 1 else max(worst, compare(gradient(f), points))


def gradient(f):
    """Return the function that computes all of dL/dx, for all inputs in one row."""

    def df(*xs):
        y = f(*xs)
        leaves = pull_back(y, cotangent(y), record=True) if type(y) is Tensor else {}
        return concatenate(
            [leaves.get(x, B.xp.zeros_like(x.data)).reshape((x.size,)) for x in xs]
        )

    return df


def cotangent(y):
    return B.xp.asarray(numpy.random.default_rng(0).standard_normal(y.shape))


def compare(f, points):
    """Compare dL/dx with differences at every entry; return the largest relative error."""
    xs = [Tensor(x) for x in points]
    y = f(*xs)
    if y.dtype != float:
        raise GradcheckError(
            f"gradcheck: f returned {y.dtype} for float64 inputs; differences need float64"
        )
    leaves = pull_back(y, cotangent(y)) if type(y) is Tensor else {}
    u, y = B.to_numpy(cotangent(y)), B.to_numpy(y)

    def at(k, i, step):
        """Return f with `step` added to entry i of input k."""
        moved = points[k].copy()
        moved[i] += step
        return B.to_numpy(
            f(*(Tensor(moved if j == k else x) for j, x in enumerate(points)))
        )

    if not numpy.array_equal(at(0, (), 0), y, equal_nan=True):
        raise GradcheckError(
            "gradcheck: f is random, two calls gave different values; fix its seed within f"
        )

    worst, kinks = 0.0, []
    for k, x in enumerate(points):
        got_all = B.to_numpy(leaves[xs[k]]) if xs[k] in leaves else numpy.zeros(x.shape)
        for i in numpy.ndindex(x.shape):
            h = STEP * max(1.0, abs(x[i]))
            got = float(got_all[i])
            error, expected, kink = compare_entry(
                got, u, y, [at(k, i, s * h) for s in (-1, -0.5, 0.5, 1)], h
            )
            if kink:
                kinks.append(f"input {k} index {i}")
            if not error <= TOLERANCE:
                raise GradcheckError(
                    f"gradcheck: input {k}, index {i}: got {got:.9g}, expected {expected:.9g}, "
                    f"relative error {error:.1e}"
                )
            worst = max(worst, error)
    if kinks:
        warnings.warn(
            f"gradcheck: kink at {', '.join(kinks)}: any slope between left and right passes",
            stacklevel=3,
        )
    return worst


def compare_entry(got, u, y, near, h):
    """Return (relative error of got, expected slope, whether there is a kink), from f
    at -h, -h/2, h/2 and h.

    Central differences over 2h and over h err by c h² and c h²/4. Richardson's
    combination, (4 d - D) / 3, cancels that term. What remains is rounding, about eps
    |f| / h, below which no error is seen."""
    left_far, left, right, right_far = near
    wide = numpy.sum(u * (right_far - left_far)) / (2 * h)
    narrow = numpy.sum(u * (right - left)) / h
    expected = float((4 * narrow - wide) / 3)
    moved = (right_far != left_far) | (right != left)
    noise = float(8 * EPS * numpy.sum(numpy.abs(u * y), where=moved)) / h

    # Left and right slopes of a smooth f differ by h f'', so half the step halves the
    # difference. At a kink not.
    bend = abs(float(numpy.sum(u * (right_far - 2 * y + left_far)))) / h
    bend_near = abs(float(numpy.sum(u * (right - 2 * y + left)))) / (h / 2)
    slopes = sorted(float(numpy.sum(u * d)) / (h / 2) for d in (y - left, right - y))
    kink = (
        max(bend, bend_near) > 1e-4 * max(map(abs, slopes)) + 8 * noise
        and not 0.4 * bend <= bend_near <= 0.6 * bend
    )
    if kink:
        expected = min(max(got, slopes[0]), slopes[1])
    return (
        abs(got - expected)
        / (max(abs(got), abs(expected)) + noise / TOLERANCE + 1e-300),
        expected,
        kink,
    )
