"""Large arrays in all cores at once: NumPy lets go of Python's lock while it computes."""

import contextvars
import functools
import itertools
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait

from . import backend as B


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


THREADS = cores()
PART = 2**18  # numbers; fewer are done before another thread has woken up


def by_rows(f, *arrays):
    """Call f(*arrays), where f writes into the last of them, in several threads.

    The arrays are alike in all axes but the last, and f treats each row (…, n) alone.
    So each thread can have some of the rows, and no number differs, to the last bit.
    NumPy may sum in another order where an array has gaps or another layout, so only
    arrays in one piece are shared. Nor are small ones, and a GPU has its own threads.
    """
    x = arrays[0]
    threads = min(THREADS, x.size // PART)
    if threads < 2 or B.xp.__name__ != "numpy":
        f(*arrays)
        return
    # two rows at least for each, for einsum sums a long one alone in another order
    axis = next((i for i, n in enumerate(x.shape[:-1]) if n >= 2 * threads), None)
    if axis is None or not all(a.flags.c_contiguous for a in arrays):
        f(*arrays)
        return
    ends = [x.shape[axis] * i // threads for i in range(threads + 1)]
    cuts = [(slice(None),) * axis + (slice(i, j),) for i, j in itertools.pairwise(ends)]
    own, *others = [[a[cut] for a in arrays] for cut in cuts]
    tasks = [begin(THREADS - 1, f, *part) for part in others]
    try:
        f(*own)
        for task, part in zip(tasks, others, strict=True):
            if task.cancel():  # no thread was free to begin it
                f(*part)
            else:
                task.result()  # wait for it, and raise what it raised
    finally:
        finish(tasks)


def begin(threads, f, *args):
    """Begin f(*args) in a pool of so many threads, or do it here; return its Future.

    It runs in a copy of the caller's context, of which np.errstate is a part.
    """
    run = contextvars.copy_context().run
    try:
        return pool(threads, os.getpid()).submit(run, f, *args)
    except RuntimeError:  # Python is ending, or can start no more threads
        done = Future()
        done.set_result(f(*args))
        return done


def finish(tasks):
    """Wait until none of the tasks runs; those that no thread has begun never will."""
    wait([task for task in tasks if not task.cancel()])


@functools.cache
def pool(threads, process):
    """Return so many threads, kept, for new ones would first have to find a core.

    All start now. `submit` would start them one by one, and where it cannot, leave its
    task in the queue, to be done again. `process` is there for the cache: a fork has
    none of its parent's threads.
    """
    executor, started = ThreadPoolExecutor(threads), threading.Event()
    try:
        for _ in range(threads):
            executor.submit(started.wait)
    finally:
        started.set()
    return executor
