"""What gradcheck refuses, and how it says so: inputs that are no real numbers, an f that
is random or leaves float64, an op that writes into what it is given, a wrong gradient.
"""

import contextlib
import inspect
import warnings

import numpy

from .. import backend, checks
from ..backward import pull_back
from ..graph.paths import nodes
from ..primitive import recording
from ..tensor import Tensor
from . import kinks
from .mistakes import Witness, name_mistake

ERRORS = AttributeError, IndexError, TypeError, ValueError  # that a rule may raise


class GradcheckError(AssertionError):
    """A gradient differs from its finite difference, or cannot be compared with it.

    `mistake` is the id of the mistake if what was seen leaves no other, or else None.
    """

    def __init__(self, message, mistake=None):
        super().__init__(f"gradcheck: {message}")
        self.mistake = mistake


def float64(inputs, order):
    """Return the inputs of gradcheck as NumPy arrays in float64, all of them copies."""
    if checks.integer()("gradcheck: order", order) not in (1, 2):
        raise ValueError(f"gradcheck: order {order} is neither 1 nor 2")
    if not inputs:
        raise ValueError("gradcheck: there are no inputs to differentiate by")
    if recording.paused:
        raise RuntimeError("gradcheck: inside no_grad nothing is recorded")
    points = []
    for k, x in enumerate(inputs):
        try:
            x = backend.to_numpy(x)
        except (TypeError, ValueError) as error:
            raise checks.explained(error, "gradcheck") from error
        if x.dtype.kind not in "biuf":
            raise TypeError(f"gradcheck: input {k} is {x.dtype}, not real numbers")
        if x.dtype.kind == "f" and x.dtype != float:
            text = f"gradcheck: input {k} is {x.dtype}; a float64 copy is checked"
            warnings.warn(text, stacklevel=3)
        if numpy.isnan(x).any():
            raise ValueError(
                f"gradcheck: input {k} holds NaN; nothing has a slope there"
            )
        # in order C, as its copies will be: another order may round otherwise
        points.append(x.astype(float, order="C"))
    return points


def unfit(f, points):
    """Raise GradcheckError unless differences can be taken of f at the points."""
    xs = [Tensor(x) for x in points]
    y = f(*xs)
    for k, x in enumerate(xs):
        if changed(x, points[k]):
            text = f"the forward changed input {k}; it must compute with a copy"
            raise GradcheckError(text, "input_changed")
    kind = getattr(y, "dtype", type(y).__name__)
    if kind != "float64":
        raise GradcheckError(f"f returned {kind}; it must keep float64")
    if changed(y, f(*map(Tensor, points))):
        raise GradcheckError("f is random: two calls differ; fix its seed")
    names = {x: f"input {k}" for k, x in enumerate(xs)}
    with numpy.errstate(all="ignore"):  # as f may have done
        for t in nodes(y) if isinstance(y, Tensor) else ():
            if t.op:
                replay(t, names)


def changed(a, b):
    """Return whether any number of a is not that of b."""
    a, b = backend.to_numpy(a), backend.to_numpy(b)
    return not numpy.array_equal(a, b, equal_nan=True)


def replay(t, names):
    """Run the op of t again on copies, forward and rule, and refuse it if it writes.

    Others may hold what it writes into: x all that use it, g the other inputs of a sum,
    and the next pass all of it. Their gradients are wrong then, though not this one.
    """
    op = t.op.__name__
    inputs, held = [], []
    for x, value in zip(t.inputs, t.values, strict=True):
        name = f"what {op} was given"
        if isinstance(x, Tensor):
            name, mine = names.get(x, name), Tensor(value)
        else:
            mine = value.copy() if hasattr(value, "copy") else value  # or a number
        inputs.append(mine)
        held.append((name, mine, value))
    given = inspect.signature(t.op).parameters  # and not what it keeps for its rule
    y = t.op(*inputs, **{name: p for name, p in t.params.items() if name in given})
    refuse_writing("the forward", op, held)
    numbers = [backend.to_numpy(x) for x in (y, t, *t.values)]
    scale = max(numpy.max(numpy.abs(x), initial=0) for x in numbers)
    if numpy.any(numpy.abs(numbers[0] - numbers[1]) > 1e-6 * scale):  # not by rounding
        text = f"a forward changed what {op} had made; it must compute with a copy"
        raise GradcheckError(text, "input_changed")

    y.data = backend.xp.array(y.data)  # which may be a view of an input
    kept = {**y.params, **getattr(y, "saved", {})}.values()
    held += [(f"what {op} keeps", p, p.copy()) for p in kept if hasattr(p, "dtype")]
    g = numpy.random.default_rng(0).standard_normal(y.shape).astype(y.dtype)
    held += [(f"what {op} had made", y, y.numpy()), ("g", backend.xp.array(g), g)]
    try:
        pull_back(y, held[-1][1])
    except ValueError as error:
        if "read-only" not in str(error):  # all but g are copies that can be written to
            raise
        held.append(("g", numpy.nan, g))
    refuse_writing("a rule", op, held)


def refuse_writing(who, op, held):
    """Raise GradcheckError if one of (what, array, array as it should be) has changed."""
    for what, now, before in held:
        if changed(now, before):
            text = f"{who} changed {what}: {op} must compute with a copy"
            raise GradcheckError(text, "g_changed" if what == "g" else "input_changed")


def wrong(names, points, got, bounds, errors, look):
    """Return the GradcheckError for gradients that are out of bounds.

    look(points) returns y, several u, and what rules and differences say for them.
    """
    failed = [k for k, e in enumerate(errors) if not numpy.all(e <= kinks.TOLERANCE)]
    k = failed[0]
    i = tuple(map(int, numpy.argwhere(~(errors[k] <= kinks.TOLERANCE))[0]))
    a = 0.0 if got[k] is None else got[k][i]
    right = [name for k, name in enumerate(names) if k not in failed]
    low, high, _ = bounds[k][i]
    expected = numpy.clip(low if numpy.isnan(a) else a, low, high)
    text = (
        f"{names[k]}, index {i}: got {a:.9g}, expected {expected:.9g}, "
        f"relative error {errors[k][i]:.1e} (right: {', '.join(right) or 'none'})"
    )
    if numpy.isnan(low):
        return GradcheckError(f"{text}; f ends, overflows or is NaN there")
    witnesses = [witness(look, points)]
    # f may refuse the points nearby, about which nobody asked: then there is no name
    refusing = ArithmeticError, AssertionError, LookupError, ValueError, Warning
    with numpy.errstate(all="ignore"), contextlib.suppress(*refusing):
        witnesses.append(witness(look, nearby(points)))
    for k in failed if len(witnesses) == 2 else ():
        if named := name_mistake(k, witnesses, names):
            return GradcheckError(f"{text}\n{named[1]}", named[0])
    return GradcheckError(text)


def nearby(points):
    """Return points some 5 to 10 % away, of the same signs, in which no entry is 0."""
    rng = numpy.random.default_rng(0)
    steps = [rng.uniform(0.05, 0.1, x.shape) * (x + (x == 0)) for x in points]
    return [numpy.asarray(x + step) for x, step in zip(points, steps, strict=True)]


def witness(look, points):
    """Return what is known of the gradients at the points."""
    y, us, got, slopes = look(points)
    shapes = [(len(us), *x.shape) for x in points]
    bounds = [numpy.full((*s, 3), (-numpy.inf, numpy.inf, 0.0)) for s in shapes]
    own = [numpy.zeros(s) if s[1:] == y.shape else None for s in shapes]
    for k, i, outputs in slopes:
        at = (slice(None), *i)
        bounds[k][at] = [kinks.weigh(u, *outputs) for u in us]
        if own[k] is not None:
            own[k][at] = [u[i] * outputs[0][i] for u in us]

    def right(k, a):
        return bool(numpy.all(kinks.relative_error(a, bounds[k]) <= kinks.TOLERANCE))

    got = list(zip(*got, strict=True))  # for every input: for every u
    path = [a[0] is not None for a in got]
    for k, shape in enumerate(shapes):
        got[k] = numpy.array(got[k]) if path[k] else numpy.zeros(shape)
    # at a kink any slope will do
    expected = [numpy.where(b[..., 0] < b[..., 1], 0.0, b[..., 0]) for b in bounds]
    return Witness(y.size, path, got, expected, own, right)
