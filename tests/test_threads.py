"""Sharing rows among threads changes no bit, and loses neither a row nor an error."""

import collections
import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from conftest import array, normal, same

from minigrad import backend as B
from minigrad import softmax, threads

SHAPES = [
    (),
    (7,),
    (3, 5),
    (9, 1),
    (1, 8, 4),
    (2, 1, 7, 70),
    (3, 9000),
    (7, 9000),
    (0, 4),
    (4, 0),
]


@pytest.fixture(scope="module", autouse=True)
def share_all():
    """Make three threads share even the smallest arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "PART", 1)
        patch.setattr(threads, "THREADS", 3)
        threads.queue_of.cache_clear()
        yield
    threads.queue_of.cache_clear()


def all_at_once(f):
    """Return f, made to wait until three threads are in it."""
    barrier = threading.Barrier(3 if B.xp is np else 1)

    def waiting(*arrays):
        barrier.wait(timeout=60)
        f(*arrays)

    return waiting


def weights_and_gradients(x, g):
    """Return softmax and its gradient along every axis."""
    found = []
    for axis in range(-1, x.ndim):
        y = softmax(x, axis=axis)
        found += [y, softmax.rule(g, y, x, axis=axis)]
    return found


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_has_the_same_bits_in_one_thread(monkeypatch, shape, dtype, turned):
    x, g = array(normal(*shape), dtype), array(normal(*shape, seed=1), dtype)
    if turned:
        x, g = x.T, g.T  # each row is in several pieces
    shared = weights_and_gradients(x, g)
    monkeypatch.setattr(threads, "THREADS", 1)
    for a, b in zip(shared, weights_and_gradients(x, g), strict=True):
        same(a, b)


@pytest.mark.parametrize("shape", [(6, 2), (10, 1), (1, 7, 4), (2, 8, 2, 3)])
def test_every_row_is_in_one_part_and_the_parts_are_worked_on_at_the_same_time(shape):
    ids, x, y = set(), array(normal(*shape)), array(np.zeros(shape))

    def f(x, y):
        ids.add(threading.get_ident())
        y += x

    threads.by_rows(all_at_once(f), x, y)
    same(y, x)
    assert len(ids) == (3 if B.xp is np else 1)


def test_it_does_not_wait_for_threads_that_are_busy():
    begun, end = threading.Barrier(3), threading.Event()

    def wait():
        begun.wait(60)
        end.wait(60)

    busy = [threads.Task(wait, []) for _ in range(2)]
    for task in busy:
        threads.queue_of(os.getpid()).put(task)
    begun.wait(60)
    x, y = array(normal(7, 2)), array(np.zeros((7, 2)))
    try:
        threads.by_rows(lambda x, y: B.xp.copyto(y, x), x, y)
        same(y, x)
        assert all(task.over.locked() for task in busy)
    finally:
        end.set()
    for task in busy:
        task.result()


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("row", [0, 2, 5])
def test_an_error_reaches_the_caller_when_no_thread_writes_any_more(row, error):
    ended = []

    def f(x):
        if row in B.to_numpy(x):
            raise error
        np.linalg.inv(np.eye(300))  # some time later
        ended.append(x)

    with pytest.raises(error):
        threads.by_rows(all_at_once(f), array(np.arange(6.0)[:, None]))
    assert len(ended) == (2 if B.xp is np else 0)


def test_a_thread_that_ctrl_c_stopped_at_the_beginning_does_not_wait_for_itself():
    def stopped():
        task = threads.Task(abs, [1])
        assert task.begun.acquire(blocking=False)
        task.cancel()

    thread = threading.Thread(target=stopped, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


def test_a_thread_that_meets_its_task_again_does_not_repeat_it():
    calls = []
    task = threads.Task(calls.append, [1])
    task.do()
    task.do()
    assert calls == [1]


def test_results_that_wait_are_few_and_come_in_order():
    begun = []
    results = threads.in_threads(abs, ([begun.append(i) or -i] for i in range(50)))
    for i, result in enumerate(results):
        assert result == i
        assert len(begun) <= i + 7  # three threads: six ahead


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_kept_of_what_calls_were_given_and_returned(fails):
    class Thing:
        pass

    kept = []

    def f(thing):
        result = Thing()
        kept.extend(map(weakref.ref, (thing, result)))
        if fails:
            raise ZeroDivisionError
        return result

    gc.disable()
    try:
        collections.deque(threads.in_threads(f, ([Thing()] for _ in range(9))), 0)
    except ZeroDivisionError:
        pass
    finally:
        gc.enable()
    assert len(kept) == 18 or fails
    assert not any(thing() for thing in kept)


def test_other_threads_treat_overflow_as_the_caller_asked(xp):
    x = array([[0.0]] * 5 + [[1000.0]])
    if xp is np:  # CuPy reports no overflow
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            threads.by_rows(all_at_once(lambda x: np.exp(x)), x)


@pytest.mark.parametrize(
    ("asked", "got"),
    [("3", 3), ("4,2", 4), ("99", 8), ("0", 8), ("-1", 8), ("all", 8), ("", 8)],
)
def test_there_are_as_many_threads_as_the_user_asked_for(monkeypatch, asked, got):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "0")
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert threads.cores() == got
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    assert threads.cores() == 5


def test_where_no_thread_can_be_started_nothing_is_done_twice(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    y, later = array(np.zeros((6, 2))), array(np.zeros((6, 2)))
    threads.queue_of.cache_clear()
    with monkeypatch.context() as m:
        m.setattr(threading.Thread, "start", refuse)
        threads.by_rows(lambda y: B.xp.add(y, 1, out=y), y)
    threads.queue_of.cache_clear()
    threads.by_rows(all_at_once(lambda y: B.xp.add(y, 1, out=y)), later)
    same(y, np.ones((6, 2)))
    same(later, y)


ENDING = """
import atexit
import numpy as np
from attention import tiled_attention
from minigrad import softmax

x = np.zeros((1024, 1024))

@atexit.register
def late():
    print(softmax(x).sum(), tiled_attention(x, x, x).sum())

late()
"""

FORKING = """
import os
import threading
from attention import tiles

def work():
    with tiles.workers() as run:
        begun.set()
        sum(run(abs, [(1,)] * 1000))

begun = threading.Event()
thread = threading.Thread(target=work)
thread.start()
begun.wait()
child = os.fork()
if not child:
    with tiles.workers() as run:
        print(*run(abs, [(-1,), (-2,)]), flush=True)
    os._exit(0)
os.waitpid(child, 0)
thread.join()
"""


@pytest.mark.parametrize(
    ("program", "printed"), [(ENDING, "1024.0 0.0\n" * 2), (FORKING, "1 2\n")]
)
def test_threads_work_at_the_end_of_a_program_and_in_a_fork(program, printed, xp):
    if xp is np and (program is ENDING or hasattr(os, "fork")):
        command = [sys.executable, "-W", "ignore", "-c", program]  # a fork with threads
        output = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=120
        ).stdout
        assert output == printed
