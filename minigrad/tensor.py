"""A Tensor is an array that remembers how it was made.

    x ──┐                       y.op      multiply
        ├── multiply ──> y      y.inputs  (x, w)              what the op consumed
    w ──┘                       y.values  [x.data, w.data]    what it computed with
                                y.params  {}                  what else: an axis, say

These references are the whole graph: no tape, no global list. A Tensor refers to what
it was made from, never to what was made from it, so there is no cycle, and the graph is
freed with the last Tensor that needs it.
"""

import operator

from . import backend as B


def plain(x):
    """Return the array inside a Tensor, and anything else as it is."""
    return x.data if isinstance(x, Tensor) else x


def compare(operation):
    """Return the method that compares the arrays inside."""
    return lambda self, other: operation(plain(self), plain(other))


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

    __slots__ = ("__weakref__", "data", "grad", "inputs", "op", "params", "values")
    __array_ufunc__ = None  # so that `array * tensor` calls Tensor.__rmul__

    def __init__(self, data, dtype=None):
        if isinstance(data, Tensor):
            raise TypeError(
                "Tensor: given a Tensor; write Tensor(x.detach()) for a new leaf"
            )
        array = B.real("Tensor", data)
        if dtype is None and array.dtype.kind in "iu" and not hasattr(data, "dtype"):
            dtype = float  # from Python's numbers and lists, not from NumPy's integers
        if array.dtype.kind != "b":  # no dtype turns true and false into numbers
            array = array.astype(dtype or array.dtype)  # a copy
        if array.dtype.kind != "f":
            raise TypeError(
                f"Tensor: {array.dtype} is no float type; convert first: .astype(float)"
            )
        self.data, self.grad = array, None
        self.op, self.inputs, self.values, self.params = None, (), (), {}  # a leaf

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)

    def detach(self):
        """Return the plain array: the values without the record."""
        return self.data

    def numpy(self):
        """Return a copy of the values in a NumPy array on the host."""
        return B.to_numpy(self.data).copy()

    def item(self):
        """Return the only element as a Python float; on a GPU this waits for it."""
        if self.size != 1:
            raise ValueError(
                f"item: shape {self.shape} holds {self.size} numbers, not one"
            )
        return float(B.to_numpy(self.data).item())

    def __float__(self):
        return self.item()

    def __int__(self):
        return int(self.item())

    def __round__(self, digits=None):
        return round(self.item(), digits)

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __bool__(self):
        return bool(self.data)  # as in NumPy an error unless there is one element

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        made_by = f", op={self.op.__name__}" if self.op else ""
        return f"Tensor({B.to_numpy(self.data)}, dtype={self.dtype}{made_by})"

    def __array__(self, *_, **__):
        raise TypeError(
            "a Tensor does not turn into an array by itself, its record would be lost; "
            "write x.numpy() for the values, or minigrad.stack for a list of Tensors"
        )

    # Comparisons have no gradient: they return boolean arrays. Hashing is by identity,
    # so that Tensors can be keys: no two hashes agree, and a dict never asks for ==.
    __lt__, __le__ = compare(operator.lt), compare(operator.le)
    __gt__, __ge__ = compare(operator.gt), compare(operator.ge)
    __eq__, __ne__ = compare(operator.eq), compare(operator.ne)
    __hash__ = object.__hash__
