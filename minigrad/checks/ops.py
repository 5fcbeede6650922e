"""What an op, its rule, and the reverse pass are given and give back."""

import functools
import inspect
import operator

import numpy
from numpy.exceptions import AxisError

from .. import backend
from .arrays import as_arrays, same_backend
from .errors import explained
from .takes import integer, number

signature = functools.cache(inspect.signature)
PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def arity(forward, known):
    """Return how many inputs an op takes, or None if any number."""
    parameters = signature(forward).parameters
    name = known.__name__ if known else forward.__name__
    kinds = [p.kind for p in parameters.values()]
    if known and known.__module__ != forward.__module__:
        raise ValueError(
            f"primitive: {known.__module__} has an op {name}; choose another name"
        )
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    if inspect.Parameter.POSITIONAL_ONLY not in kinds:
        raise TypeError(
            f"primitive: {name} has no inputs; mark them by a / behind the last, as in "
            f"def {name}(x, /)"
        )
    return kinds.count(inspect.Parameter.POSITIONAL_ONLY)


def given(name, forward, arity, inputs, params):
    """Return (inputs, params) of a call of an op, the inputs as Tensors and arrays."""
    if arity not in (len(inputs), None):  # as in sum(x, 0), where 0 is the `axis`
        named = list(signature(forward).bind(*inputs, **params).arguments.items())
        inputs, params = tuple(x for _, x in named[:arity]), dict(named[arity:])
    if params:
        backend.unmasked(name, *params.values())
        for what, x in params.items():
            if hasattr(x, "inputs"):
                raise TypeError(
                    f"{name}: {what} is a Tensor, but gets no gradient; give its value "
                    "alone, x.item() or x.detach()"
                )
    return as_arrays(name, inputs), params


def no_rule(name):
    """Return the rule of an op that has none."""

    def vjp(g, y, *inputs, **params):
        raise TypeError(f"there is none; write @{name}.rule over def _(g, y, …)")

    return vjp


def rule_failed(error, t, record):
    """Return what an error within the rule of t's op is passed on as."""
    message = str(error)
    if "read-only" in message:  # NumPy's word
        message += "; a rule must not write into what it is given"
    elif record and t.saved:
        message += (
            f"; {', '.join(t.saved)} would be a constant to the second derivative and "
            "is None there: compute it from the inputs"
        )
    return explained(error, f"{t.op.__name__}: its rule", message=message)


def same_values(t):
    """Refuse to record a gradient by an input whose `data` was assigned since its use."""
    for x, value in zip(t.inputs, t.values, strict=True):
        if hasattr(x, "inputs") and x.array is not value:
            raise ValueError(
                f"an input {x.shape} was given other data after it was used; a recorded "
                "gradient needs those that it was used with"
            )


def not_one_each(found, t):
    """Return the error for a rule that has not one gradient for each input."""
    return ValueError(
        f"{t.op.__name__}: its rule returned {len(found)} gradients for "
        f"{len(t.inputs)} inputs"
    )


def reducible(g, x, name):
    """Refuse what a rule returned for the input x unless it can be summed to it."""
    if not hasattr(g, "dtype") or g.dtype.kind not in "iuf":
        what = getattr(g, "dtype", type(g).__name__)
        raise TypeError(
            f"{name}: its rule returned {what} for an input of shape {x.shape}; it "
            "must be an array of real numbers"
        )
    extra = g.ndim - x.ndim
    pairs = zip(x.shape, g.shape[max(extra, 0) :], strict=False)
    if extra < 0 or any(n not in (1, m) for n, m in pairs):
        raise ValueError(
            f"{name}: its rule made a gradient of shape {g.shape} for an input of "
            f"shape {x.shape}"
        )


def seed(name, output, g):
    """Refuse g = dL/doutput unless it has that shape, and no g if L is not a number."""
    if g is None and output.size != 1:
        text = "it is not one number; sum it, or pass g = dL/dy of that shape"
        raise ValueError(f"{name}: the output has shape {output.shape}, {text}")
    if g is None:
        return backend.xp.ones_like(output.array)
    same_backend(name, g)
    g = backend.xp.asarray(backend.asarray(name, g), dtype=output.dtype)
    if g.shape != output.shape:
        text = f"{name}: g has shape {g.shape}, the output {output.shape}"
        raise ValueError(f"{text}; they must agree")
    return g


def inner_sizes(a, b):
    """Refuse a product of matrices whose inner sizes differ."""
    if not (getattr(a, "ndim", 0) and getattr(b, "ndim", 0)):
        raise ValueError("both sides need an axis to sum over; numbers need *")
    k, other = a.shape[-1], b.shape[-2:][0]  # b may be a vector
    if k != other:
        text = f"matmul: {a.shape} @ {b.shape}: inner sizes {k} and {other} differ"
        raise ValueError(text)


def subscripts_fit(subscripts, operands):
    """Refuse subscripts of einsum that NumPy refuses, asked of arrays of one byte."""
    hollow = [numpy.broadcast_to(numpy.int8(0), x.shape) for x in operands]
    numpy.einsum_path(subscripts, *hollow, optimize=False)


def axis(x, axis):
    """Return an axis of x counted from 0."""
    if not -x.ndim <= operator.index(axis) < x.ndim:
        raise AxisError(f"axis {axis} is out of range for shape {x.shape}")
    return axis % x.ndim


def enough_numbers(n, ddof, x):
    """Refuse a variance of n numbers that leaves nothing to divide by."""
    if number("ddof", ddof) and not n > ddof:
        raise ValueError(f"{n} numbers of {x.shape} are too few for ddof {ddof}")


def equal_part(x, axis, sections):
    """Return the length of each of so many equal parts of an axis."""
    n = x.shape[axis]
    if sections < 1 or n % sections:
        raise ValueError(
            f"axis {axis} of shape {x.shape} does not divide into {sections} equal parts"
        )
    return n // sections


def some_axis(axis):
    """Refuse weights along no axis: each would be 1."""
    if axis == ():
        raise ValueError("axis is (); name the axes along which weights sum to 1")


def argument_places(name, argnum, args):
    """Return the places of the arguments to differentiate by, counted from 0."""
    argnums = argnum if isinstance(argnum, tuple) else (argnum,)
    for i in argnums:
        if not -len(args) <= integer()(f"{name}: argnum", i) < len(args):
            raise IndexError(f"{name}: argnum is {i}, f was given {len(args)} inputs")
    return [i % len(args) for i in argnums]


def one_number(name, y):
    """Refuse what f returned unless it is one number."""
    if isinstance(y, (list, tuple, dict)):
        text = f"f returned a {type(y).__name__}; it must return one number"
        raise TypeError(f"{name}: {text}")
    y = y if hasattr(y, "inputs") else backend.asarray(name, y)
    if y.size != 1:
        raise ValueError(f"{name}: f returned shape {y.shape}; it must be one number")
    return y


def no_generator(function):
    """Refuse no_grad in what can pause: its caller would go on without a record."""
    code = getattr(function, "__code__", function)
    if getattr(code, "co_flags", 0) & PAUSING:
        raise RuntimeError(
            f"no_grad: {code.co_name} is a generator; collect its values in the block"
        )
