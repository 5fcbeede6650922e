"""Where arrays live: NumPy on the CPU, or CuPy on a GPU.

`xp` is the module in use. Write `from . import backend as B` and read `B.xp.exp` at
each call: `use` rebinds `xp`, and a name bound by `from .backend import xp` would go on
pointing at the old module.

Two gates, so that the two kinds of array never mix: `Tensor(data)` is the way in,
`to_numpy` the way out.
"""

import importlib
import math

import numpy

xp = numpy


def use(module):
    """Create arrays with "numpy", "cupy", or a module like them from now on.

    Tensors made before keep their arrays, so switch before making any.

    Raises: ImportError when the module is not installed, RuntimeError when CuPy finds
    no GPU, ValueError for any other name, TypeError for what is no module of arrays.
    The backend in use stays as it was.
    """
    global xp
    if isinstance(module, str):
        if module not in ("numpy", "cupy"):
            raise ValueError(f'backend.use: {module!r} is neither "numpy" nor "cupy"')
        try:
            module = importlib.import_module(module)
        except ImportError as error:
            raise ImportError(
                f"backend.use: {module} is not installed; pip install cupy-cuda12x, "
                "or cupy-cuda13x for CUDA 13"
            ) from error
    if not hasattr(module, "ndarray"):
        raise TypeError(f"backend.use: {module!r} is no module of arrays")
    if hasattr(module, "cuda") and not module.cuda.is_available():
        raise RuntimeError("backend.use: CuPy is installed but finds no CUDA GPU")
    xp = module


def to_numpy(x):
    """Return the values of an array, number or Tensor on the host, as a NumPy array."""
    x = x.detach() if hasattr(x, "detach") else x
    return x.get() if hasattr(x, "get") else numpy.asarray(x)


def free_memory():
    """Return how many bytes can still be allocated, or infinity where it is not known.

    Linux tells it for NumPy. CuPy's own errors name what it could not get.
    """
    if xp is not numpy:
        return math.inf
    try:
        with open("/proc/meminfo") as lines:
            amounts = dict(line.split(":") for line in lines)
    except OSError:
        return math.inf
    return int(amounts["MemAvailable"].split()[0]) * 1024  # given in kB


def real(op, values):
    """Return real numbers as an array of the backend, the same one if it was one."""
    try:
        x = values if isinstance(values, xp.ndarray) else numpy.asarray(values)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{op}: {error}") from error
    if x.dtype.kind not in "biuf":  # booleans, integers, unsigned ones, floats
        raise TypeError(f"{op}: expected real numbers, got {x.dtype}, {values!r}")
    return xp.asarray(x)


def floats(x):
    """Return an array or Tensor as it is, an array of integers in float64."""
    return x if x.dtype.kind == "f" else x.astype(float)


def integers(op, values):
    """Return integers as an array, on the host if they came from there."""
    if hasattr(values, "detach"):
        raise TypeError(f"{op}: expected an array of integers, got a Tensor")
    values = values if isinstance(values, xp.ndarray) else numpy.asarray(values)
    if values.size and values.dtype.kind not in "iu":
        raise TypeError(f"{op}: expected integers, got {values.dtype}")
    return values if values.size else values.astype(int)  # NumPy takes [] for floats


def within(op, indices, size):
    """Return indices as an array of the backend; those from the host are checked."""
    if isinstance(indices, (numpy.ndarray, numpy.generic)):
        outside = indices[(indices < 0) | (indices >= size)]
        if outside.size:
            raise IndexError(f"{op}: {outside[0]} is outside [0, {size})")
    return xp.asarray(indices)


def checked_index(index, shape):
    """Return an index whose lists and host arrays have become arrays of the backend.

    CuPy wraps an index that is out of range instead of reporting it. So NumPy is asked
    first, on an array of that shape that takes one byte, unless a part is on the GPU
    already: reading that would wait for it.
    """
    if xp is numpy:
        return index
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, xp.ndarray) for part in parts):
        numpy.broadcast_to(numpy.int8(0), shape)[index]

    def moved(part):
        if not isinstance(part, (list, tuple, numpy.ndarray)):
            return part
        part = numpy.asarray(part)  # NumPy takes [] for floats
        return xp.asarray(part if part.size else part.astype(int))

    return tuple(map(moved, parts))
