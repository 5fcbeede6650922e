"""What spoils a difference: a step that is too long for f, and a kink.

At a kink, as relu has at 0, the slope on the left is not that on the right, and the
difference across both says nothing: any slope between the two is right.
"""

import warnings

import numpy

TOLERANCE = 1e-6  # on the relative error. That of the differences is some 1e-10, and a
#                   mistake in a formula seldom makes less than 1e-3
ROUNDINGS = 3  # f is taken to be off by so many eps |f|: six ops, each by half an eps
BLIND = 3  # a bend below so many times the noise is not seen: see `sides`
EPS = float(numpy.finfo(float).eps)
SHAKY = 99 * EPS  # such jitter may be the rounding of terms of size 1 to 30
TINY = float(numpy.finfo(float).tiny)


def slopes(formula, moved, y, h):
    """Return low, high, noise: the slope of each output, and how far it may be off.

    moved(s) is y = f with one entry of its inputs moved by s, and formula(near, h) makes
    the slope of such y. Where f is smooth, low and high are that slope; at a kink they
    are the slopes on the two sides.

    The step may be too long: for log at 1e-4, for softmax at 1e6, for relu at 1e-6. So
    h / 2¹⁰ and h / 2²⁰ are tried as well, and each output goes by the step of the least
    doubt: width between the sides + error of the formula + what rounding may hide. With
    a step 2¹⁰ times shorter the formula's error, of order h⁴, is gone, but the rounding,
    of order eps / h, is 2¹⁰ times as large: after two of them hardly a digit is right.
    Both errors are the noise that a gradient may differ by.
    """
    y = numpy.asarray(y)
    found = numpy.full((3, *y.shape), numpy.nan)
    least, rounding = numpy.full(y.shape, numpy.inf), numpy.zeros(y.shape)
    with numpy.errstate(all="ignore"):  # f may end within a step, as log near 0
        for step in (h, h / 2**10, h / 2**20):
            steps = (-step, -step / 2, 0.0, step / 2, step)
            near = numpy.stack([moved(s) if s else y for s in steps])
            stays = numpy.isinf(near).all(axis=0) & (near == near[0]).all(axis=0)
            near = numpy.where(stays, 0.0, near)  # inf - inf would be NaN
            middle = formula(near, step)
            off, noise = doubts(near, step, middle)
            rounding = numpy.fmax(rounding, jitter(near))
            noise = numpy.fmax(noise, 3 * rounding / step)
            low, high, kink = sides(near, step, noise)
            low, high = numpy.where(kink, [low, high], middle)
            off = numpy.where(kink, 0.0, off)
            known = high - low + off
            better = known + BLIND * noise < least  # not where it is NaN
            found = numpy.where(better, [low, high, noise + off], found)
            least = numpy.where(better, known + BLIND * noise, least)
            if numpy.all(known <= noise):  # a shorter step would have more noise
                break
    return found


def doubts(near, h, slope):
    """Return how far the slope may be off because h is not 0, and because y is rounded.

    The slope is (4 narrow - wide) / 3 of two differences that are off by terms in h²;
    what remains are terms in h⁴. If narrow and wide differ by a share s of the slope,
    that is a share s² or so.

    It makes (4 · 2 + 1) / 3h = 3/h times one error of y. An output may be the small rest
    of terms as large as the largest output that moves with it, so an error is some eps
    of that; one that has not moved hides less than one error of its own, and one as
    large as a mask's -1e30 nothing.
    """
    left_far, left, _, right, right_far = near
    apart = numpy.abs((right_far - left_far) / (2 * h) - (right - left) / h)
    off = apart * numpy.minimum(1.0, apart / numpy.maximum(numpy.abs(slope), TINY))
    size = numpy.abs(near).max(axis=0)
    same = (right_far == left_far) & (right == left)
    largest = size.max(where=numpy.isfinite(size) & ~same, initial=0.0)
    hidden = numpy.minimum(size, max(largest, 1.0))
    return off, EPS / h * numpy.where(same, hidden, 3 * ROUNDINGS * largest)


def jitter(near):
    """Return how far five values lie from a smooth curve, if that can be rounding.

    It shows what f rounds within, where terms are larger than all that it returns: the 1
    in 1 - tanh² x of a large x. What is smooth drops out of the fourth difference, and of
    the third as well but for what h³ leaves: that counts from half an eps on, as the
    rounding of terms of size 1 does. More than SHAKY is a kink, or a curve.
    """
    third, fourth = (numpy.diff(near, n=n, axis=0) for n in (3, 4))
    third = numpy.abs(third).max(axis=0)
    shown = numpy.fmax(numpy.abs(fourth[0]), numpy.where(third < EPS / 2, 0.0, third))
    return numpy.where(shown < SHAKY, shown, 0.0)


def sides(near, h, noise):
    """Return the slopes on the left and on the right, the lower first, and whether f
    has a kink between them.

    The bend is the slope from x to x + h minus that from x - h to x. At a kink it is
    the same for every h; where f is smooth it is c h, for h/2 half as much. So what has
    kept more than 3/4 of it is a kink: unless the bend is within rounding, 4 errors of
    f in h/2, which is less than BLIND times the noise, 3 of them in h; or below the
    tolerance as a share of the slopes, for then it cannot matter.

    The slope over h/2 on one side is off by c h/2, that over h by c h. Twice the one
    minus the other is off by neither.
    """
    left_far, left, y, right, right_far = near
    before, before_far = (y - left) / (h / 2), (y - left_far) / h
    after, after_far = (right - y) / (h / 2), (right_far - y) / h
    bend, bend_far = numpy.abs(after - before), numpy.abs(after_far - before_far)
    steepest = numpy.fmax.reduce(numpy.abs([before, after]), axis=None, initial=0.0)
    kink = (bend > 3 / 4 * bend_far) & (bend > BLIND * noise + TOLERANCE * steepest)
    ends = 2 * before - before_far, 2 * after - after_far
    return numpy.minimum(*ends), numpy.maximum(*ends), kink


def weigh(u, low, high, noise):
    """Return low, high, noise of L = Σ u · f, given those of each output of f."""
    low, high = numpy.sort([u * low, u * high], axis=0)  # u may be negative
    return low.sum(), high.sum(), (numpy.abs(u) * noise).sum()


def relative_error(got, bounds):
    """Return |got - expected| over the larger of them: 0 between low and high, and no
    more than the tolerance if it is no more than the noise. bounds: (…, 3)."""
    low, high, noise = numpy.moveaxis(bounds, -1, 0)
    got = 0.0 if got is None else got
    expected = numpy.clip(got, low, high)
    size = numpy.maximum(numpy.abs(got), numpy.abs(expected)) + noise / TOLERANCE
    with numpy.errstate(invalid="ignore"):  # inf / inf is nan, no agreement
        error = numpy.abs(got - expected) / numpy.where(size == 0, 1.0, size)
        return numpy.where(high - low == numpy.inf, 0.0, error)  # nothing is known


def warn_where_0_would_pass(names, got, bounds):
    """Warn of inputs whose slopes are not 0, but no larger than their noise."""
    for name, g, b in zip(names, got, bounds, strict=True):
        smooth = b[..., 0] == b[..., 1]
        steep = numpy.fmax(abs(b[..., 0]), 0 if g is None else abs(g)) > TOLERANCE
        if (smooth & steep).any() and (relative_error(None, b) <= TOLERANCE).all():
            text = f"{name}: its slopes are lost in the rounding of f, 0 would pass too"
            warnings.warn(f"gradcheck: {text}", stacklevel=4)


def warn(names, kinked):
    """Warn of the kinks, (k, index) each."""
    if kinked:
        found = ", ".join(f"{names[k]} index {i}" for k, i in kinked)
        text = f"kink at {found}: any slope between left and right passes there"
        warnings.warn(f"gradcheck: {text}", stacklevel=3)
