"""What came out of an answer, for each of its outputs: an array, or why there is none."""

import numbers
from typing import NamedTuple

import numpy

from minigrad.backward import fit

TOLERANCE = {"float64": (1e-6, 1e-8), "float32": (1e-3, 1e-4)}  # relative, absolute


class Refusal(NamedTuple):
    """Why what came out cannot be compared with numbers."""

    id: str
    text: str
    key: str = ""  # two refusals are alike if their ids and this agree,
    came: numpy.ndarray | None = None  # and the numbers that came, if any did
    words: str = ""  # of an error


def parts(y, n, tuple_of_one):
    """Return a list of what came out for n outputs, or a Refusal for each of them."""
    if y is None:
        text = "it returns None; is there a `return` at the end?"
        return [Refusal("none", text)] * n
    if type(y) is tuple and (n > 1 or tuple_of_one):
        if len(y) == n:
            return list(y)
        text = f"it returns {len(y)} arrays, and {n} are asked for"
        return [Refusal("count", text, str(len(y)))] * n
    if n == 1:
        return [y]
    if is_array(y):
        text = f"it returns one array, and {n} are asked for, in a tuple"
        return [Refusal("count", text, "1")] * n
    text = f"it returns a {type(y).__name__}, and a tuple of {n} arrays is asked for"
    return [Refusal("type", text, type(y).__name__)] * n


def is_array(x):
    """Return whether x is an array of NumPy, or one number."""
    return isinstance(x, (numpy.ndarray, numpy.generic, numbers.Real))


def checked(part, right, name, is_rule):
    """Return one output in the shape that it should have, or a Refusal.

    What a rule returns for an input that was broadcast may have the shape of y.
    """
    if part is None:
        return Refusal("none", f"{name} is None")
    if not is_array(part):
        kind = type(part).__name__
        return Refusal("type", f"{name} is a {kind}, and an array is asked for", kind)
    part = numpy.asarray(part)
    if part.dtype.kind not in ("b" if right.dtype == bool else "iuf"):
        text = f"{name} is {part.dtype}, and {right.dtype} is asked for"
        came = part.astype(float) if part.dtype.kind in "biuf" else None
        return Refusal("dtype", text, came=came)
    if part.shape == right.shape:
        return part
    try:
        if is_rule:
            return fit(part, right, name)
    except ValueError:
        pass  # of no shape that sums to the right one
    text = f"{name} has shape {part.shape}, and {right.shape} is asked for"
    return Refusal("shape", text, came=part)


def alike(a, b):
    """Return whether two outputs are the same numbers, up to rounding, or refusals.

    NaN and infinities count as the same: which of them a mistake makes depends on the
    order of its steps.
    """
    if isinstance(a, Refusal) or isinstance(b, Refusal):
        if not (isinstance(a, Refusal) and isinstance(b, Refusal)):
            return False
        if (a.id, a.key) != (b.id, b.key) or a.came is None or b.came is None:
            return (a.id, a.key, a.came, b.came) == (b.id, b.key, None, None)
        a, b = a.came, b.came
    return a.shape == b.shape and bool(numpy.all(near(a, b)))


def near(a, b):
    """Return where two arrays of one shape have the same numbers."""
    if b.dtype == bool:
        return a == b
    widest = "float32" if "float32" in (a.dtype, b.dtype) else "float64"
    rtol, atol = TOLERANCE[widest]
    finite = numpy.isfinite(a) & numpy.isfinite(b)
    with numpy.errstate(invalid="ignore"):
        close = numpy.abs(a - b) <= atol + rtol * numpy.abs(b)
    return numpy.where(finite, close, numpy.isfinite(a) == numpy.isfinite(b))
