"""`takes`: a line over a function that says what it takes, and sees to it.

    @takes("q, m k, m v?", temperature=above(0))
    def soft_lookup(query, keys, values, temperature=1.0): ...

The pattern names the axes of the first arguments, which become arrays: letters that
recur must have one size, a number is one, … stands for axes in front, which broadcast,
and v? for an axis that may be missing. A demand looks at the argument of its name, and
returns it or raises. Masked arrays are refused. Whatever error arises then, within the
function too, begins with its name.
"""

import functools
import inspect
import numbers
import operator

import numpy

from .. import backend
from .arrays import as_arrays
from .errors import ERRORS, explained, shown

SAID_BY_ITSELF = "__init__", "__call__"  # Linear: …, not Linear.__init__: …


def takes(pattern="", **demands):
    """Return a decorator that looks at what a function is given, before it runs."""
    terms = parsed(pattern)

    def decorate(function):
        parameters = inspect.signature(function).parameters.values()
        names = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        first = names[:1] == ["self"]
        patterned = names[first : first + len(terms)]
        called = function.__qualname__.partition(".<")[0]
        method = "" if function.__name__ in SAID_BY_ITSELF else f".{function.__name__}"

        @functools.wraps(function)
        def checked(*args, **kwargs):
            # of the class itself, so that super().__init__ says no other name
            name = f"{type(args[0]).__name__}{method}" if first and args else called
            given, inputs = dict(zip(names, args, strict=False)) | kwargs, None
            try:
                backend.unmasked(name, *given.values())
                if terms and all(letter in given for letter in patterned):
                    fitted = [given[letter] for letter in patterned]
                    fitted = shaped(name, terms, fitted, patterned)
                    given.update(zip(patterned, fitted, strict=True))
                for what, demand in demands.items():
                    if what in given:
                        given[what] = demand(what, given[what])
                inputs = [given[what] for what in patterned if what in given] or None
                some = [given[what] for what in names[: len(args)]]
                rest = {what: given[what] for what in kwargs}
                return function(*some, *args[len(some) :], **rest)
            except ERRORS as error:
                if str(error).startswith(f"{name}:"):
                    raise
                raise explained(error, name, inputs) from error

        return checked

    return decorate


@functools.cache
def parsed(pattern):
    """Return (whether axes may stand in front, the axes, whether one may be missing)
    for each term of a pattern."""
    terms = []
    for text in pattern.split(",") if pattern else []:
        letters = text.split()
        front, optional = letters[0] == "…", letters[-1].endswith("?")
        axes = [letter.removesuffix("?") for letter in letters[front:]]
        terms.append((front, axes, optional))
    return terms


def shaped(name, terms, inputs, names):
    """Return the inputs as arrays or Tensors, whose shapes fit the terms."""
    inputs = as_arrays(name, inputs)
    sizes, fronts, reason = {}, set(), ""
    for (front, axes, optional), x in zip(terms, inputs, strict=True):
        axes = axes[:-1] if optional and x.ndim == len(axes) - 1 else axes
        extra = x.ndim - len(axes)
        if extra < 0 or (extra and not front):
            reason = f"{x.shape} has {x.ndim} axes"
            break
        fronts.add(x.shape[:extra])
        for axis, n in zip(axes, x.shape[extra:], strict=True):
            if sizes.setdefault(axis, int(axis) if axis.isdigit() else n) != n:
                reason = reason or f"{axis} is both {sizes[axis]} and {n}"
    if len(fronts) > 1 and not reason:
        try:
            numpy.broadcast_shapes(*fronts)
        except ValueError:
            reason = "the axes in front do not broadcast"
    if not reason:
        return inputs
    pairs = zip(names, inputs, strict=True)
    got = ", ".join(f"{letter} {x.shape}" for letter, x in pairs)
    wanted = ", ".join(
        f"({', '.join(['…'] * front + axes)}{'?' * optional})"
        for front, axes, optional in terms
    )
    raise ValueError(f"{name}: {got} must be {wanted}: {reason}")


def number(what, x):
    """Demand one real number: NumPy's, which would make float64 of float32, become
    Python's."""
    kind = x.dtype.kind if hasattr(x, "dtype") else ""
    real = isinstance(x, numbers.Real) or kind in ("i", "u", "f")
    if isinstance(x, bool) or not real:
        raise TypeError(f"{what} {shown(x)} is not a number")
    bounded(what, x, not getattr(x, "ndim", 0), "one number")
    return x.item() if isinstance(x, (numpy.generic, numpy.ndarray)) else x


def above(low):
    """Return the demand for a number above this one."""
    return lambda what, x: bounded(what, number(what, x), x > low, f"above {low}")


def at_least(low):
    """Return the demand for a number that is not below this one."""
    return lambda what, x: bounded(what, number(what, x), x >= low, f"at least {low}")


def bounded(what, x, fits, wanted):
    if not fits:
        raise ValueError(f"{what} {shown(x)} is not {wanted}")
    return x


def integer(low=None):
    """Return the demand for an integer, of at least this size if one is given."""

    def demand(what, x):
        try:
            x = operator.index("" if isinstance(x, bool) else x)
        except TypeError:
            raise TypeError(f"{what} {shown(x)} is not an integer") from None
        return bounded(what, x, low is None or x >= low, f"at least {low}")

    return demand


def one_of(*words):
    """Return the demand for one of a few words."""
    text = " or ".join(map(repr, words))
    return lambda what, x: bounded(what, x, isinstance(x, str) and x in words, text)


def flag(what, x):
    """Demand True or False."""
    if not isinstance(x, (bool, numpy.bool_)):
        raise TypeError(f"{what} {shown(x)} is not True or False")
    return bool(x)


def function(what, x):
    """Demand what can be called."""
    if not callable(x):
        raise TypeError(f"{what} {shown(x)} is no function")
    return x


def optional(demand):
    """Return the demand that lets None pass."""
    return lambda what, x: None if x is None else demand(what, x)
