"""Indexing: x[index] reads, and its transpose, `scatter`, adds at the same places."""

from .. import backend, checks
from ..checks import takes
from ..primitive import primitive
from ..tensor import Tensor
from .shapes import slices_before

ONCE = int, slice, type(None), type(...)  # an index of these reads nothing twice


# y = x[index]       dL/dx = zeros, with g added at the index, once for every reading
#
# The index is anything that NumPy takes: integers, slices, None, ..., arrays of
# integers or booleans.
@primitive
def getitem(x, /, index):
    """Return x[index]."""
    return x[checks.index(index, x.shape)]


@getitem.rule
def _(g, y, x, index):
    return scatter(g, index=index, shape=x.shape)


# y = zeros with x added at the index          dL/dx = g[index]
#
# `y[index] += x` would be wrong: of a repeated index it keeps the last occurrence only.
@primitive
def scatter(x, /, index, shape):
    """Return zeros of a shape with x added at an index."""
    y = backend.xp.zeros(shape, backend.widened(x).dtype)
    index = checks.index(index, shape)
    parts = index if isinstance(index, tuple) else (index,)
    if all(isinstance(part, ONCE) for part in parts):
        y[index] = x
    elif y.size and names_rows(index) and x.shape == index.shape + y.shape[1:]:
        add_rows(y, index, x)
    else:
        backend.xp.add.at(y, index, x)
    return y.astype(x.dtype, copy=False)


@scatter.rule
def _(g, y, x, index, shape):
    return getitem(g, index=index)


def names_rows(index):
    """Return whether the index is an array of integers."""
    return isinstance(index, backend.xp.ndarray) and index.dtype.kind in "iu"


def add_rows(y, index, x):
    """Add the rows x to those rows of y that the integers of the index name.

    As add.at(y, index, x), which is several times faster on single numbers than on rows:
    so look at y as one long row, and index each number of each row.
    """
    width = y.size // len(y)
    rows = index.reshape((-1, 1)).astype(int)  # int8 has no place 128
    places = rows * width + backend.xp.arange(width)  # (rows, width)
    backend.xp.add.at(y.reshape(-1), places.reshape(-1), x.reshape(-1))


@takes("…")
def take(x, indices, axis=0):
    """Return the entries of x at integer indices along an axis.

    Negative indices count from the end.

    Raises: IndexError for an index out of range, TypeError for one that is no integer.
    """
    before = slices_before(x, axis)
    return getitem(x, index=(*before, checks.integers("take", indices)))


Tensor.__getitem__ = lambda x, index: getitem(x, index=index)
Tensor.take = take
