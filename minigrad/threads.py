"""Large arrays in all cores at once: NumPy lets go of Python's lock while it computes."""

import collections
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
PART = 2**18  # numbers for each thread, at least; fewer are done before it wakes up


def by_rows(f, *arrays):
    """Call f(*arrays), where f writes into the last of them, in several threads.

    The arrays (…, n) are alike in all axes but the last, and f treats each row alone.
    So each thread can have some of the rows, and no number differs, to the last bit.
    NumPy may sum in another order where a row has gaps, so only arrays in one piece are
    shared. Nor are small ones, and a GPU has its own threads.
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
    for _ in in_threads(f, [[a[cut] for a in arrays] for cut in cuts]):
        pass


def in_threads(f, calls):
    """Yield f(*args) for all args in calls, in their order; all cores make the calls.

    They make a few ahead, not all: results that wait for the caller take memory.
    """
    ahead = collections.deque()
    try:
        for args in calls:
            ahead.append(Task(f, args))
            queue_of(os.getpid()).put(ahead[-1])
            if len(ahead) > 2 * THREADS:
                yield first(ahead)
        while ahead:
            yield first(ahead)
    finally:
        for task in ahead:
            task.cancel()


def first(ahead):
    """Take the first task out, and return its result; until it is there, do the next."""
    for task in ahead:
        if ahead[0].over.locked():
            task.do()
    value = ahead[0].result()
    ahead.popleft()
    return value


class Task:
    """A call f(*args), to be made once, by the first thread that is free.

    It is made in a copy of the caller's context, of which np.errstate is a part.

    Ctrl-C may come between any two lines of the caller, which then cancels its tasks
    without waiting for itself: `begun` is a lock that who has it can take again. And
    none of the locks is left half taken, as they are not written in Python.
    """

    def __init__(self, f, args):
        self.call = functools.partial(contextvars.copy_context().run, f, *args)
        self.value = self.error = None
        self.begun, self.over = threading.RLock(), threading.Lock()
        self.over.acquire()

    def do(self):
        """Make the call, unless that has begun."""
        if self.begun.acquire(blocking=False) and self.over.locked():
            try:
                self.value = self.call()
            except BaseException as error:  # noqa: BLE001  `result` raises it
                self.error = error
            finally:
                self.call = None
                self.over.release()

    def result(self):
        """Return what f returned, or raise what it raised."""
        with self.over:
            value, error = self.value, self.error
        self.value = self.error = None  # the queue may hold this task still
        try:
            if error is not None:
                raise error
            return value
        finally:
            del error  # it refers to this frame

    def cancel(self):
        """Return once the call is not being made, nor ever will be."""
        if not self.begun.acquire(blocking=False):
            with self.over:
                pass
        self.call = None


@functools.cache
def queue_of(process):
    """Return a queue of tasks, which all cores but the caller's take from.

    Their threads are kept, for new ones would first have to find a core. `process` is
    there for the cache: a fork has none of its parent's threads.
    """
    tasks = queue.SimpleQueue()

    def work():
        while True:
            tasks.get().do()

    with contextlib.suppress(RuntimeError):  # no more can be started
        for _ in range(THREADS - 1):
            threading.Thread(target=work, daemon=True).start()
    return tasks
