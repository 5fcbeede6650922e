"""What may become an array, and what NumPy may do with a Tensor."""

import numpy

from .. import backend
from .errors import explained


def copied_floats(name, data, dtype=None):
    """Return a copy of data as an array of floats, of that dtype if one is given."""
    if hasattr(data, "detach"):
        raise TypeError(
            f"{name}: given a Tensor; write Tensor(x.detach()) for a new leaf"
        )
    array = backend.asarray(name, data)
    if dtype is None and array.dtype.kind in "iu" and not hasattr(data, "dtype"):
        dtype = float  # from Python's numbers and lists, not from NumPy's integers
    try:
        dtype = numpy.dtype(array.dtype if dtype is None else dtype)
    except TypeError as error:
        raise explained(error, name) from error
    if dtype.kind != "f" or array.dtype.kind == "b":
        wrong = array.dtype if array.dtype.kind == "b" else dtype
        raise TypeError(f"{name}: {wrong} is no float type; convert: .astype(float)")
    return array.astype(dtype)  # a copy


def as_data(values, dtype):
    """Return what is assigned to `data`: an array of floats, or numbers made into one."""
    if hasattr(values, "detach"):
        raise TypeError("data: given a Tensor; assign its array, x.detach()")
    array = backend.asarray("data", values)
    if array.dtype.kind == "b":
        raise TypeError("data: bool is no float type; convert: .astype(float)")
    known = hasattr(values, "dtype") and array.dtype.kind == "f"
    return array if known else array.astype(dtype)


def as_arrays(name, inputs):
    """Return the inputs of an op or function as Tensors and arrays of the backend.

    float32 stays float32: a number, a 0-d array or an array of integers takes the dtype
    of the Tensors beside it, or of the arrays if there are none. Only arrays of floats
    have a say in the dtype of the result.
    """
    dtypes = [x.dtype for x in inputs if hasattr(x, "inputs")] or [
        x.dtype for x in inputs if getattr(x, "ndim", 0) and x.dtype.kind == "f"
    ]

    def converted(x):
        if hasattr(x, "inputs"):
            return x
        same_backend(name, x)
        x = backend.asarray(name, x)
        weak = x.dtype.kind in "iu" or (x.ndim == 0 and x.dtype.kind == "f")
        return x.astype(backend.xp.result_type(*dtypes)) if dtypes and weak else x

    return tuple(map(converted, inputs))


def same_backend(name, x):
    """Refuse an array of another library: on a GPU it would have to be copied there."""
    if getattr(x, "ndim", 0) and not isinstance(x, backend.xp.ndarray):
        library = type(x).__module__.split(".")[0]
        raise TypeError(
            f"{name}: got an array of {library}, the backend is "
            f"{backend.xp.__name__}; wrap it in Tensor, or backend.xp.asarray"
        )


def shape(x):
    """Return the shape of an array, a number or a list; no array is read for it."""
    return x.shape if hasattr(x, "shape") else numpy.shape(x)


def width(x, d):
    """Refuse rows x (…, n) unless n is d."""
    if x.shape[-1] != d:
        raise ValueError(f"x {x.shape} must be (…, {d})")


def integers(name, values, size=None, besides=None):
    """Return integers as an array of the backend, each below the size if one is given,
    or else the number `besides`.

    On a GPU only those that come from the host are compared; others would have to wait.
    """
    if not isinstance(values, backend.xp.ndarray):
        values = backend.on_host(name, values)
    if values.size and values.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers, got {values.dtype}")
    if not values.size:
        values = values.astype(int)  # NumPy takes [] for floats
    if size is not None and isinstance(values, numpy.ndarray):
        outside = values[((values < 0) | (values >= size)) & (values != besides)]
        if outside.size:
            raise IndexError(f"{name}: {outside[0]} is outside [0, {size})")
    return backend.xp.asarray(values)


def targets(logits, targets, ignore_index):
    """Return the targets (…) of logits (…, C) as integers below C."""
    integers("cross_entropy", targets)
    given = logits.shape, shape(targets)
    if given[0][:-1] != given[1]:
        text = "cross_entropy: logits {} and targets {} must be (…, C) and (…)"
        raise ValueError(text.format(*given))
    return integers("cross_entropy", targets, logits.shape[-1], ignore_index)


def index(index, shape):
    """Return an index whose lists and host arrays have become arrays of the backend.

    CuPy wraps an index that is out of range instead of reporting it. So NumPy is asked
    first, on an array of that shape that takes one byte, unless a part is on the GPU
    already: reading that would wait for it.
    """
    if backend.xp is numpy:
        return index
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, backend.xp.ndarray) for part in parts):
        numpy.broadcast_to(numpy.int8(0), shape)[index]

    def moved(part):
        if not isinstance(part, (list, tuple, numpy.ndarray)):
            return part
        part = numpy.asarray(part)
        return backend.xp.asarray(part if part.size else part.astype(int))

    return tuple(map(moved, parts))


def no_array(x, *_, **__):
    """Refuse to turn a Tensor into an array."""
    raise TypeError(
        "a Tensor does not turn into an array by itself, its record would be lost; "
        "write x.numpy() for the values, or minigrad.stack for a list of Tensors"
    )


def no_function(x, function, *_):
    """Refuse a function of NumPy by name, and say which of ours to call."""
    name = {"absolute": "abs"}.get(function.__name__, function.__name__)
    raise TypeError(
        f"numpy.{name} does not record; write minigrad.{name} if there is one, or give "
        "it the values alone, x.numpy()"
    )


REFLECTED = {  # NumPy's name of an operator -> the method of the operand on the right
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "equal": "__eq__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "not_equal": "__ne__",
}


class LeftOperand:
    """What an array asks of a Tensor on its right, as in array * x: `__array_ufunc__`.

    NumPy asks the class, and is given a method: an operator becomes the Tensor's own,
    and any other function is refused by name. CuPy asks the object, and is given None,
    which leaves operators to the Tensor.
    """

    def __get__(self, x, owner):
        return self.call if x is None else None

    @staticmethod
    def call(x, ufunc, method, *inputs, **options):
        reflected = REFLECTED.get(ufunc.__name__)
        if method == "__call__" and reflected and inputs[-1] is x and not options:
            left = numpy.asanyarray(inputs[0])[()]  # of no axes: a number
            return getattr(x, reflected)(left)
        return no_function(x, ufunc)
