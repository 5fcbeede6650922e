"""Derivatives as functions: `grad` takes a function and returns its derivative."""

import functools

from . import backend, checks
from .backward import pull_back, reverse_order
from .primitive import recording
from .tensor import Tensor, plain


def grad(f, argnum=0):
    """Return the function df/dx, where x is an argument of f and f returns one number.

    `argnum` counts the arguments from 0; of a tuple, a tuple of derivatives comes back.
    Given an array it returns an array. Given a Tensor, or where f uses other Tensors,
    it returns a Tensor that remembers how it depends on them, so that grad(grad(f)) is
    the second derivative; but an array where it does not, as for f(x) = 3 x.

    Raises: ValueError when f returns more than one number, TypeError when it returns
    no number, IndexError when there is no argument `argnum`.

    >>> from minigrad import grad
    >>> grad(grad(lambda x: x**3))(2.0)                         # 6x
    array(12.)
    """
    both = value_and_derivative("grad", f, argnum)
    return functools.wraps(f)(lambda *args, **kwargs: both(*args, **kwargs)[1])


def value_and_grad(f, argnum=0):
    """Return the function (f, df/dx): as `grad`, and the value of the same evaluation.

    >>> from minigrad import value_and_grad
    >>> value_and_grad(lambda x: x**3)(2.0)
    (array(8.), array(12.))
    """
    return functools.wraps(f)(value_and_derivative("value_and_grad", f, argnum))


OVER = {"over": True}  # params of a leaf that was made here, once the call is over


def new_leaf(name, x):
    """Return a Tensor with the values of x; one made from x, +x, if that is a Tensor.

    Not x itself: f may use that too, as a constant.
    """
    return +x if isinstance(x, Tensor) else Tensor(checks.copied_floats(name, x))


def held_outside(t, xs):
    """Return whether the caller holds t, or what it was made from.

    Of the x that were made here, those made from a Tensor of the caller. Of all else
    that f used, the leaves; but not the x of a call of `grad` within f, which is over.
    """
    if t in set(xs):
        return t.op is not None
    return t.op is None and t.params != OVER


def value_and_derivative(name, f, argnum):
    """Return the function of f's arguments that gives its value and its derivative."""
    checks.function(f"{name}: f", f)

    def both(*args, **kwargs):
        args = list(args)
        places = checks.argument_places(name, argnum, args)
        paused = recording.paused
        recording.paused = 0  # f is recorded, even within no_grad
        try:
            for i in {*places}:
                args[i] = new_leaf(name, args[i])
            y = f(*args, **kwargs)
        finally:
            recording.paused = paused
        xs = [args[i] for i in places]
        y = checks.one_number(name, y)
        record, found = False, {}
        if isinstance(y, Tensor):
            made_from = list(reverse_order(y, frozenset(xs)))
            # the caller may differentiate again by what it holds: so record
            record = not paused and any(held_outside(t, xs) for t in made_from)
            found = pull_back(y, backend.xp.ones_like(y.array), frozenset(xs), record)
        for x in xs:
            if not x.op:
                x.params = OVER
        gradients = [found.get(x, backend.xp.zeros_like(x.array)) for x in xs]
        # a copy, for others may hold an array that a rule returned
        copies = [
            gx if isinstance(gx, Tensor) else backend.xp.array(gx) for gx in gradients
        ]
        y = y if record else plain(y)
        return y, tuple(copies) if isinstance(argnum, tuple) else copies[0]

    return both
