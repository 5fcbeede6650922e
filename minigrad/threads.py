"""Large arrays in all cores at once: NumPy lets go of Python's lock while it computes."""

import contextlib
import contextvars
import functools
import itertools
import os
import queue
import threading

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
    shared = [Task(f, *part) for part in others]
    try:
        f(*own)
        for task in shared:
            task.result()
    finally:
        for task in shared:
            task.cancel()


class Task:
    """A call of f(*args), to be made once, by the first thread that is free.

    It is made in a copy of the caller's context, of which np.errstate is a part.
    """

    def __init__(self, f, *args):
        self.call = functools.partial(contextvars.copy_context().run, f, *args)
        self.value = self.error = None
        self.begun, self.over = threading.Lock(), threading.Event()
        tasks(os.getpid()).put(self)

    def do(self):
        """Make the call, unless that has begun."""
        if self.begun.acquire(blocking=False):
            try:
                self.value = self.call()
            except BaseException as error:  # noqa: BLE001  `result` raises it
                self.error = error
            finally:
                self.over.set()

    def result(self):
        """Return what f returned, or raise what it raised; do other tasks meanwhile."""
        with contextlib.suppress(queue.Empty):
            while not self.over.is_set():
                tasks(os.getpid()).get_nowait().do()
        self.over.wait()
        if self.error is not None:
            raise self.error
        return self.value

    def cancel(self):
        """Return once it neither runs nor ever will."""
        if not self.begun.acquire(blocking=False):
            self.over.wait()


@functools.cache
def tasks(process):
    """Return the queue of tasks, and have all cores but the caller's take from it.

    The threads are kept, for new ones would first have to find a core. `process` is
    there for the cache: a fork has none of its parent's threads.
    """
    waiting = queue.SimpleQueue()

    def work():
        while True:
            waiting.get().do()

    with contextlib.suppress(RuntimeError):  # no more can be started
        for _ in range(THREADS - 1):
            threading.Thread(target=work, daemon=True).start()
    return waiting
