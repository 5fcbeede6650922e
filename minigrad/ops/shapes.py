"""Ops that move numbers without changing them: shapes, axes, joining, splitting.

Each number of y is some number of x, so each rule sends g back along the same way.
"""

import operator
from itertools import accumulate, pairwise

from .. import backend, checks
from ..checks import takes
from ..primitive import primitive
from ..tensor import Tensor


# y = x in another shape                dL/dx = g in the shape of x
@primitive
def reshape(x, /, shape):
    """Return x in another shape of as many numbers; one -1 stands for the rest."""
    return x.reshape(shape)


@reshape.rule
def _(g, y, x, shape):
    return g.reshape(x.shape)


# y = x with its axes in the order `axes`, reversed if None     dL/dx = g, axes put back
@primitive
def transpose(x, /, axes=None):
    """Return x with its axes in the order `axes`, or reversed."""
    return x.transpose(axes)


@transpose.rule
def _(g, y, x, axes=None):
    if axes is None or x.ndim < 2:  # of one axis `axes` may be a bare 0
        return transpose(g)
    back = sorted(range(x.ndim), key=lambda i: axes[i] % x.ndim)  # the inverse
    return transpose(g, axes=tuple(back))


# y = x with two axes exchanged         dL/dx = g with the same two exchanged
@primitive
def swapaxes(x, /, axis1, axis2):
    """Return x with two axes exchanged."""
    return x.swapaxes(axis1, axis2)


@swapaxes.rule
def _(g, y, x, axis1, axis2):
    return g.swapaxes(axis1, axis2)


# y = x copied along new or stretched axes    dL/dx = Σ g over the copies: backward.fit
@primitive
def broadcast_to(x, /, shape):
    """Return x copied along new axes in front, and along axes of length 1."""
    return backend.xp.broadcast_to(x, shape)


@broadcast_to.rule
def _(g, y, x, shape):
    return g


# y = x in another float type           dL/dx = g in the type of x: backward.fit
@primitive
def astype(x, /, dtype):
    """Return x in another float type."""
    y = x.astype(dtype)
    if y.dtype.kind != "f":
        raise TypeError(f"astype: {y.dtype} has no gradient; convert x.detach()")
    return y


@astype.rule
def _(g, y, x, dtype):
    return g


def slices_before(x, axis):
    """Return the part of an index that takes all of every axis before this one."""
    return (slice(None),) * checks.axis(x, axis)


# y = [x₁ x₂ …]      dL/dxₖ = the part of g where xₖ stands
@primitive
def _concatenate(*tensors, axis):
    return backend.xp.concatenate(
        tensors, axis=operator.index(axis)
    )  # None would flatten


@_concatenate.rule
def _(g, y, *tensors, axis):
    before = slices_before(y, axis)
    ends = [0, *accumulate(x.shape[axis] for x in tensors)]
    return tuple(g[(*before, slice(*part))] for part in pairwise(ends))


# y = [x₁ x₂ …] along a new axis        dL/dxₖ = the k-th part of g on that axis
@primitive
def _stack(*tensors, axis):
    return backend.xp.stack(tensors, axis=axis)


@_stack.rule
def _(g, y, *tensors, axis):
    before = slices_before(y, axis)
    return tuple(g[(*before, k)] for k in range(len(tensors)))


@takes()
def concatenate(tensors, axis=0):
    """Return Tensors and arrays joined along an axis; their other axes must agree."""
    return _concatenate(*tensors, axis=axis)


@takes()
def stack(tensors, axis=0):
    """Return Tensors and arrays of one shape joined along a new axis.

    >>> from minigrad import Tensor, stack
    >>> stack([Tensor([1.0, 2.0]), Tensor([3.0, 4.0])], axis=1).numpy()
    array([[1., 3.],
           [2., 4.]])
    """
    return _stack(*tensors, axis=axis)


@takes("…")
def split(x, sections, axis=0):
    """Return the parts of x along an axis: so many equal ones, or cut at the indices.

    Raises: ValueError when x does not divide into that many equal parts.
    """
    before, n = slices_before(x, axis), x.shape[axis]
    if hasattr(sections, "__index__"):
        part = checks.equal_part(x, axis, sections)
        cuts = [part * k for k in range(sections + 1)]
    else:
        cuts = [0, *sections, n]
    return [x[(*before, slice(start, stop))] for start, stop in pairwise(cuts)]


def shape_or_numbers(shape):
    """Accept x.reshape((2, 3)) and x.reshape(2, 3), as NumPy's methods do."""
    return shape[0] if len(shape) == 1 else shape


Tensor.reshape = lambda x, *shape: reshape(x, shape=shape_or_numbers(shape))
Tensor.transpose = lambda x, *axes: transpose(x, axes=shape_or_numbers(axes or (None,)))
Tensor.swapaxes, Tensor.astype = swapaxes, astype
Tensor.T = property(transpose)
