"""Large arrays in all cores at once: NumPy lets go of Python's lock while it computes."""

import contextvars
import functools
import os
from concurrent.futures import ThreadPoolExecutor

from . import backend as B

asked = os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")
THREADS = int(asked or os.cpu_count() or 1)  # as many as OpenBLAS would use
PART = 2**18  # numbers; fewer are done before another thread has woken up


def by_rows(f, *arrays):
    """Call f(*arrays), where f writes into one of the arrays, in several threads.

    The arrays are alike in all axes but the last, and f treats each row (…, n) alone.
    So each thread can have some of the rows, and no number differs, to the last bit;
    NumPy may sum in another order where rows are not in one piece, so those are not
    shared. Nor are small arrays, and on a GPU every operation is parallel in itself.
    """
    x = arrays[0]
    threads = min(THREADS, x.size // PART)
    axis = next((i for i, n in enumerate(x.shape[:-1]) if n >= threads), None)
    in_one_piece = all(a.flags.c_contiguous for a in arrays)
    if threads < 2 or axis is None or not in_one_piece or B.xp.__name__ != "numpy":
        f(*arrays)
        return
    ends = [x.shape[axis] * i // threads for i in range(threads + 1)]
    cuts = [(slice(None),) * axis + (slice(*ends[i : i + 2]),) for i in range(threads)]
    (own, *others) = [[a[cut] for a in arrays] for cut in cuts]
    tasks = [
        # in a copy of this context, for np.errstate belongs to it
        pool(THREADS - 1, os.getpid()).submit(contextvars.copy_context().run, f, *part)
        for part in others
    ]
    f(*own)
    for task, part in zip(tasks, others, strict=True):
        if task.cancel():  # no thread was free to begin it
            f(*part)
        else:
            task.result()  # wait for it, and raise what it raised


@functools.cache
def pool(threads, process):
    """Return the threads of this process: new ones would first have to find a core."""
    return ThreadPoolExecutor(threads)
