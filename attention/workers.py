"""Independent tasks on all cores of the CPU, each with a matrix product of its own."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import ThreadpoolController

from minigrad import backend as B

BLAS = ThreadpoolController().select(user_api="blas")  # NumPy's matrix products
BUSY = threading.Lock()


@contextlib.contextmanager
def workers():
    """Yield a function `run(f, tasks)` that calls f(*task) for every task.

    The tasks run in threads, as many as BLAS would use; NumPy lets go of Python's lock
    while it computes. Within the block BLAS keeps to one thread for each task: its own
    threads would wait for their next product by spinning, and take the cores from ours.
    That setting holds for the whole process, so one block runs at a time.

    On a GPU the tasks run one by one: there each operation is parallel in itself.
    """

    def one_by_one(f, tasks):
        for task in tasks:
            f(*task)

    threads = max((lib.num_threads for lib in BLAS.lib_controllers), default=1)
    if B.xp.__name__ != "numpy" or threads == 1:
        yield one_by_one
        return

    def together(f, tasks):
        for _ in pool.map(lambda task: f(*task), tasks):
            pass  # wait for it, and raise what it raised

    with BUSY, BLAS.limit(limits=1), ThreadPoolExecutor(threads) as pool:
        yield together
