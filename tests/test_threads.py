"""Calls in all cores: in their order, in the caller's context, and none left behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from conftest import numpy_only

from minigrad import backend

pytestmark = pytest.mark.usefixtures("three_threads")


def threaded(xp):
    """Return whether calls are shared here: BLAS can be limited, on the CPU."""
    return xp is np and bool(backend.blas().lib_controllers)


def test_results_come_in_the_order_of_the_calls():
    got = backend.in_threads(lambda a, b: a * b, [(i, i + 1) for i in range(50)])
    assert list(got) == [i * (i + 1) for i in range(50)]
    assert list(backend.in_threads(abs, [])) == []


def test_three_calls_are_made_at_a_time(xp):
    if threaded(xp):
        together = threading.Barrier(3)
        list(backend.in_threads(lambda _: together.wait(60), [(i,) for i in range(9)]))


def test_few_results_wait_for_the_caller():
    made = []
    results = backend.in_threads(made.append, ((i,) for i in range(100)))
    next(results)
    assert len(made) <= 7
    results.close()


def test_blas_has_one_thread_meanwhile_and_its_own_number_afterwards(xp):
    def threads(_=None):
        return {b.num_threads for b in backend.blas().lib_controllers}

    before = threads()
    during = list(backend.in_threads(threads, [(i,) for i in range(4)]))
    if threaded(xp):
        assert all(found == {1} for found in during)
    assert threads() == before


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("k", [0, 2, 5])
def test_an_error_reaches_the_caller_and_no_call_runs_any_more(error, k):
    running, before = [], threading.active_count()

    def f(i):
        running.append(i)
        try:
            if i == k:
                raise error
            np.linalg.inv(np.eye(200))  # some time later
        finally:
            running.remove(i)

    with pytest.raises(error):
        list(backend.in_threads(f, [(i,) for i in range(40)]))
    assert running == []
    assert threading.active_count() == before


def test_overflow_is_treated_as_the_caller_asked(xp):
    if threaded(xp):
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            list(backend.in_threads(np.exp, [(np.array(1000.0),)]))


def test_results_are_freed_without_the_collector():
    class Result:
        pass

    gc.disable()
    try:
        results = [*backend.in_threads(lambda _: Result(), [(i,) for i in range(5)])]
        refs = [weakref.ref(r) for r in results]
        del results
        assert [r() for r in refs] == [None] * 5
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are a thing of POSIX")
def test_a_fork_in_the_middle_can_go_on(xp):
    if not threaded(xp):
        return
    script = """
import os
from minigrad import backend
backend.cores = lambda: 2
backend.blas().limit(limits=2)
for i in backend.in_threads(lambda i: i, [(i,) for i in range(8)]):
    if i == 3:
        child = os.fork()
        if child == 0:
            os._exit(0 if list(backend.in_threads(abs, [(-1,), (2,)])) == [1, 2] else 1)
        assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_after_ctrl_c_at_any_moment_calls_are_made_again(xp):
    if not threaded(xp):
        return
    script = """
import random, signal
import numpy as np
from minigrad import backend
backend.cores = lambda: 2
backend.blas().limit(limits=2)
random.seed(0)
list(backend.in_threads(abs, [(1,), (2,)]))
for _ in range(6):
    backend.blas().limit(limits=2)  # an interrupt within that may have left it at 1
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.01, 0.05))
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        while True:
            list(backend.in_threads(np.linalg.inv, [(np.eye(200),)] * 20))
    except KeyboardInterrupt:
        pass
assert list(backend.in_threads(abs, [(-1,), (2,)])) == [1, 2]
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


NAME = "OPENBLAS_THREAD_TIMEOUT"
WHEN_NUMPY_IS_SOUGHT = """
import os, sys

class Seen:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))

sys.meta_path.insert(0, Seen())
import minigrad
"""


@numpy_only
@pytest.mark.parametrize(("chosen", "expected"), [({}, "20"), ({NAME: "26"}, "26")])
def test_openblas_is_told_not_to_spin_before_numpy_asks_unless_a_user_has_chosen(
    chosen, expected
):
    env = {k: v for k, v in os.environ.items() if k != NAME} | chosen
    words = [sys.executable, "-c", WHEN_NUMPY_IS_SOUGHT]
    done = subprocess.run(words, env=env, check=True, capture_output=True, text=True)
    assert done.stdout.split()[0] == expected
