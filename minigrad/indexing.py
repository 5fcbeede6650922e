"""Indexing: x[index] reads, and its transpose, `scatter`, adds at the same places."""

from . import backend as B
from .primitive import constants, primitive
from .shapes import slices_before
from .tensor import Tensor

ONCE = int, slice, type(None), type(...)  # an index of these reads nothing twice


# y = x[index]       dL/dx = zeros, with g added at the index, once for every reading
#
# The index is anything that NumPy takes: integers, slices, None, ..., arrays of
# integers or booleans.
@primitive
def getitem(x, /, index):
    """Return x[index]."""
    return x[B.checked_index(index, x.shape)]


@getitem.rule
def _(g, y, x, index):
    return scatter(g, index=index, shape=x.shape)


# y = zeros with x added at the index          dL/dx = g[index]
#
# `y[index] += x` would be wrong: of a repeated index it keeps the last occurrence only.
@primitive
def scatter(x, /, index, shape):
    """Return zeros of a shape with x added at an index."""
    y = B.xp.zeros(shape, dtype=x.dtype)
    index = B.checked_index(index, shape)
    parts = index if isinstance(index, tuple) else (index,)
    if all(isinstance(part, ONCE) for part in parts):
        y[index] = x
    elif y.size and getattr(index, "dtype", bool) != bool:
        # It picks rows. Name each number of each row, for add.at adds numbers several
        # times as fast as rows.
        width = y.size // len(y)
        rows = index.reshape((-1, 1)).astype(int)  # int8 has no place 128
        places = rows * width + B.xp.arange(width)  # (rows, width)
        B.xp.add.at(y.reshape(-1), places.reshape(-1), x.reshape(-1))
    else:
        B.xp.add.at(y, index, x)
    return y


@scatter.rule
def _(g, y, x, index, shape):
    return getitem(g, index=index)


def take(x, indices, axis=0):
    """Return the entries of x at integer indices along an axis.

    Negative indices count from the end.

    Raises: IndexError for an index out of range, TypeError for one that is no integer.
    """
    (x,) = constants("take", [x])
    indices = B.integers("take", indices)
    return getitem(x, index=(*slices_before("take", x, axis), indices))


Tensor.__getitem__ = lambda x, index: getitem(x, index=index)
Tensor.take = take
