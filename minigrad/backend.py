"""The platform: which arrays compute, and how the machine beneath them is set.

Read this file last: nothing in it is about gradients. `xp` is the module of arrays in
use, NumPy on the CPU or CuPy on a GPU. Write `from . import backend` and read
`backend.xp.exp` at each call: `use` rebinds `xp`, and a name bound by
`from .backend import xp` would go on pointing at the old module.

Two gates, so that the two kinds of array never mix: `asarray` is the way in, `to_numpy`
the way out.
"""

import contextvars
import functools
import importlib
import math
import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

# Between two products the threads of OpenBLAS wait by spinning, and so take the cores
# from ours (`in_threads`): about 100 ms long unless this is set, about 3 ms with 20.
# OpenBLAS looks once, when NumPy is imported, so a program that imports NumPy before
# minigrad has to set it itself; `python -m demos benchmark` shows what both orders cost.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

import numpy

# On Linux a large array that is freed goes back to the system, unless one as large was
# freed before, and each page of the next array is a fault again. So free one of 32 MiB,
# the largest that malloc learns from; never written to, it takes no memory.
numpy.empty(2**25 - 2**14, "uint8")  # malloc adds a header, and rounds up to pages

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


def asarray(op, values):
    """Return real numbers as an array of the backend, the same one if it was one."""
    x = values if type(values) is xp.ndarray else on_host(op, values)
    if x.dtype.kind not in "biuf":  # booleans, integers, unsigned ones, floats
        raise TypeError(
            f"{op}: expected real numbers, got {x.dtype}, {values!r:.60}; convert them "
            "first, by .real or .astype(float)"
        )
    return xp.asarray(x)


def to_numpy(x):
    """Return the values of an array, number or Tensor on the host, as a NumPy array."""
    x = x.detach() if hasattr(x, "detach") else x
    on_device = hasattr(x, "get") and hasattr(x, "dtype")
    return x.get() if on_device else on_host("to_numpy", x)


def on_host(op, values):
    """Return values on the host as a NumPy array, the same one if it was one."""
    unmasked(op, values)
    try:
        return numpy.asarray(values)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{op}: {error}") from error


def unmasked(op, *values):
    """Refuse masked arrays."""
    for x in values:
        if isinstance(x, numpy.ma.MaskedArray):
            raise TypeError(f"{op}: a masked array; give x.filled(…) and a mask")


def floats(x):
    """Return an array or Tensor as it is, an array of integers in float64."""
    return x if x.dtype.kind == "f" else x.astype(float)


def wide(x):
    """Return the dtype to sum x in, float32 at least: float16 ends at 65,504."""
    return xp.result_type(x.dtype, "float32")


def widened(x):
    """Return an array or Tensor as it is, one of float16 in float32."""
    return x.astype("float32") if x.dtype.char == "e" else x


def read_only(x):
    """Return an array that cannot be written to; CuPy knows no such thing."""
    if type(x) is numpy.ndarray:
        x = x.view()
        x.setflags(False)  # write: as a keyword it takes twice as long
    return x


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


def cores():
    """Return how many threads to use: one a core, or fewer if OpenBLAS was told so."""
    most = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        most = len(os.sched_getaffinity(0))
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        asked = os.environ.get(name, "").partition(",")[0]  # OpenMP allows "4,2"
        if asked.isdecimal() and int(asked) > 0:
            return min(int(asked), most)
    return most


@functools.cache
def blas():
    """Return the controller of the library that computes NumPy's products."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


BUSY = threading.RLock()  # held while BLAS is limited; again by a fork in there


def in_threads(f, calls):
    """Yield f(*args) for all args in calls, in their order; all cores make the calls.

    NumPy lets go of Python's lock while it computes. BLAS keeps to one thread meanwhile,
    or its threads and ours would fight for the cores; that setting holds for the whole
    process, so only one caller at a time has threads. They are a few calls ahead, not
    more: results that wait take memory.

    The calls are made one by one if BLAS has one thread as it is, or cannot be limited,
    and on a GPU, where each operation is parallel in itself.
    """
    threads = cores()
    limited = xp is not numpy or all(b.num_threads == 1 for b in blas().lib_controllers)
    if threads == 1 or limited:
        for args in calls:
            yield f(*args)
        return
    ahead = deque()
    with BUSY, blas().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        try:
            for args in calls:
                # in a copy of the caller's context, of which np.errstate is a part
                context = contextvars.copy_context()
                ahead.append(pool.submit(context.run, f, *args))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:  # after an error or Ctrl-C, those that run end, no other begins
            pool.shutdown(cancel_futures=True)


# A fork waits until no tiles are computed, or its copy of the lock would stay locked,
# and its BLAS limited.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=BUSY.acquire,
        after_in_parent=BUSY.release,
        after_in_child=BUSY.release,
    )
