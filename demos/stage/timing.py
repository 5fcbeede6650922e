"""How time and memory are measured: fairly, on a machine that does other things too.

A step is a function of nothing that does one unit of work.
"""

import time
import tracemalloc

import numpy as np

from minigrad import backend as B


def finish():
    """Wait for the GPU, if there is one: there a call returns before its work is done."""
    if hasattr(B.xp, "cuda"):
        B.xp.cuda.Device().synchronize()


def seconds(step):
    """Return the time of one run of the step."""
    finish()
    start = time.perf_counter()
    step()
    finish()
    return time.perf_counter() - start


def take_turns(steps, rounds):
    """Return {name: times} of {name: step}, where each runs once in every round.

    What else the machine does meanwhile slows all of them alike. One round goes first
    and does not count: some compile, and memory is got from the system.
    """
    times = np.array([[*map(seconds, steps.values())] for _ in range(rounds + 1)])
    return dict(zip(steps, times[1:].T, strict=True))


FIGURES = np.median, np.min


def rows(times, floor, unit):
    """Return table rows: median and minimum in that unit, and both over the floor's."""
    return [
        [
            name,
            *(f(t) / unit for f in FIGURES),
            *(f(t) / f(times[floor]) for f in FIGURES),
        ]
        for name, t in times.items()
    ]


def peak(step):
    """Return the most bytes that the step held at a time, beyond what was there."""
    if hasattr(B.xp, "get_default_memory_pool"):  # CuPy's, which keeps what is freed
        pool = B.xp.get_default_memory_pool()
        pool.free_all_blocks()
        before = pool.total_bytes()
        step()
        finish()
        return pool.total_bytes() - before
    tracemalloc.start()
    step()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def slope(ns, values):
    """Return the power of n that fits best: the slope of the line on log-log axes."""
    return float(np.polyfit(np.log(ns), np.log(values), 1)[0])
