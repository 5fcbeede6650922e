"""A Tensor is an array that remembers how it was made.

    x ──┐                       y.op      multiply
        ├── multiply ──> y      y.inputs  (x, w)              what the op consumed
    w ──┘                       y.values  [x.data, w.data]    what it computed with
                                y.params  {}                  what else: an axis, say
                                y.saved   {}                  kept for its rule, if any

These references are the whole graph: no tape, no global list. A Tensor refers to what
it was made from, never to what was made from it, so there is no cycle, and the graph is
freed with the last Tensor that needs it. (Had an op a closure for its gradient, as in
micrograd, the closure would hold its own output: a cycle, alive until Python's
collector comes by.)

`+`, `@`, `x.sum()` and the other methods are attached in ops/, where each op stands.
"""

import operator

from . import backend, checks


def plain(x):
    """Return the array inside a Tensor, and anything else as it is."""
    return x.array if isinstance(x, Tensor) else x


def compared(operation):
    """Return the method that compares the arrays inside."""
    return lambda self, other: operation(self.array, plain(other))


class Tensor:
    """An array of floats whose use is recorded, for `backward` to differentiate.

    `data` is copied. Python integers become float64. `dtype` asks for a float type,
    such as "float32", and permits an array of integers.

    Raises: TypeError for an array of integers without a dtype, and for booleans,
    complex numbers and objects.

    >>> x = Tensor([1.0, 2.0])
    >>> (x * x).sum().backward()
    >>> x.grad                                    # d(x₁² + x₂²)/dx = 2x
    array([2., 4.])
    """

    __slots__ = (
        *("__weakref__", "array", "grad", "op"),
        *("inputs", "values", "params", "saved"),
    )

    def __init__(self, data, dtype=None):
        self.array = checks.copied_floats("Tensor", data, dtype)
        self.grad = None
        self.op, self.inputs, self.values = None, (), ()  # a leaf
        self.params, self.saved = {}, {}

    @property
    def data(self):
        """The plain array, `array` within this package; it may be assigned, as by optimisers."""
        return self.array

    @data.setter
    def data(self, values):
        self.array = checks.as_data(values, self.dtype)

    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    dtype = property(lambda self: self.array.dtype)

    def detach(self):
        """Return the plain array: the values without the record."""
        return self.array

    def numpy(self):
        """Return a copy of the values in a NumPy array on the host."""
        return backend.to_numpy(self.array).copy()

    def item(self):
        """Return the only element as a Python float; on a GPU this waits for it."""
        if self.size != 1:
            raise ValueError(
                f"item: shape {self.shape} holds {self.size} numbers, not one"
            )
        return float(backend.to_numpy(self.array).item())

    def __float__(self):
        return self.item()

    def __int__(self):
        return int(self.item())

    def __round__(self, digits=None):
        return round(self.item(), digits)

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __bool__(self):
        return bool(self.array)  # as in NumPy an error unless there is one element

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        made_by = f", op={self.op.__name__}" if self.op else ""
        return f"Tensor({backend.to_numpy(self.array)}, dtype={self.dtype}{made_by})"

    def __reduce__(self):
        return type(self), (self.numpy(),)  # a copy or a file has values, no record

    # Comparisons have no gradient: they return boolean arrays. Hashing is by identity,
    # so that Tensors can be keys: no two hashes agree, and a dict never asks for ==.
    __lt__, __le__ = compared(operator.lt), compared(operator.le)
    __gt__, __ge__ = compared(operator.gt), compared(operator.ge)
    __eq__, __ne__ = compared(operator.eq), compared(operator.ne)
    __hash__ = object.__hash__

    # What NumPy asks of an object that is not an array: see checks/arrays.py.
    __array__, __array_function__ = checks.no_array, checks.no_function
    __array_ufunc__ = checks.LeftOperand()
