"""`takes`: a line over a function that says what it takes, and sees to it.

    @takes("d, m d, m v", temperature=above(0))
    def soft_lookup(query, keys, values, temperature=1.0): ...

The pattern names the axes of the first arguments, which become arrays: letters that
recur must have one size, … stands for axes in front, which broadcast, and v? for an
axis that may be missing. The rules look at the argument of their name, and return it or
raise. Whatever error arises then, within the function too, begins with its name.
"""

import functools
import inspect
import numbers
import operator

import numpy

from .errors import ERRORS, explained


def takes(pattern="", **rules):
    """Return a decorator that looks at what a function is given, before it runs."""
    terms = parsed(pattern)

    def decorate(function):
        parameters = inspect.signature(function).parameters.values()
        names = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        first = names[:1] == ["self"]
        patterned = names[first : first + len(terms)]
        name = function.__qualname__
        name = name.removesuffix(".__init__").removesuffix(".__call__").split(".<")[0]

        @functools.wraps(function)
        def checked(*args, **kwargs):
            given = dict(zip(names, args, strict=False)) | kwargs
            try:
                if terms and all(letter in given for letter in patterned):
                    inputs = [given[letter] for letter in patterned]
                    inputs = shaped(name, terms, inputs, patterned)
                    given.update(zip(patterned, inputs, strict=True))
                for what, rule in rules.items():
                    if what in given:
                        given[what] = rule(what, given[what])
                some = [given[what] for what in names[: len(args)]]
                rest = {what: given[what] for what in kwargs}
                return function(*some, *args[len(some) :], **rest)
            except ERRORS as error:
                if str(error).startswith(f"{name}:"):
                    raise
                inputs = [given[letter] for letter in patterned if letter in given]
                raise explained(error, name, inputs or None) from error

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
    from ..primitive import arrays  # which stands above, as all that calls this

    inputs = arrays(name, inputs)
    sizes, fronts, reason = {}, set(), ""
    for (front, axes, optional), x in zip(terms, inputs, strict=True):
        axes = axes[:-1] if optional and x.ndim == len(axes) - 1 else axes
        extra = x.ndim - len(axes)
        if extra < 0 or (extra and not front):
            reason = f"{x.shape} has {x.ndim} axes"
            break
        fronts.add(x.shape[:extra])
        for axis, n in zip(axes, x.shape[extra:], strict=True):
            if sizes.setdefault(axis, n) != n:
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


def number(what, x, fits=lambda x: True, wanted=""):
    """The rule for one real number; as a part of others, for one that fits."""
    real = isinstance(x, numbers.Real) or getattr(x, "dtype", "").kind in "iuf"
    if not real or getattr(x, "size", 1) != 1:
        raise TypeError(f"{what} is {x!r:.60}; it must be one number {wanted}".rstrip())
    if not fits(x):
        raise ValueError(f"{what} is {x!r:.60}; it must be {wanted}")
    return x


def above(low):
    return lambda what, x: number(what, x, lambda x: x > low, f"above {low}")


def at_least(low):
    return lambda what, x: number(what, x, lambda x: x >= low, f"at least {low}")


def integer(low=None):
    """Return the rule for an integer, of at least this size if one is given."""

    def rule(what, x):
        wanted = "an integer" if low is None else f"an integer of at least {low}"
        if isinstance(x, (bool, numpy.bool_)) or not hasattr(x, "__index__"):
            raise TypeError(f"{what} is {x!r:.60}; it must be {wanted}")
        return operator.index(number(what, x, lambda x: low is None or x >= low, wanted))

    return rule


def one_of(*choices):
    """Return the rule for one of a few words."""

    def rule(what, x):
        if not isinstance(x, str) or x not in choices:
            raise ValueError(
                f"{what} is {x!r:.60}; it must be {' or '.join(map(repr, choices))}"
            )
        return x

    return rule


def flag(what, x):
    """The rule for True or False."""
    if not isinstance(x, (bool, numpy.bool_)):
        raise TypeError(f"{what} is {x!r:.60}; it must be True or False")
    return bool(x)


def function(what, x):
    """The rule for what can be called."""
    if not callable(x):
        raise TypeError(f"{what} {x!r:.60} is no function")
    return x


def optional(rule):
    """Return the rule that lets None pass."""
    return lambda what, x: None if x is None else rule(what, x)
