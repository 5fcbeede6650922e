"""Sharing rows among threads changes no bit, and loses neither a row nor an error."""

import threading as host
from concurrent.futures import wait

import numpy as np
import pytest
from conftest import array, normal, same

from minigrad import backend as B
from minigrad import softmax, threads

SHAPES = [(), (7,), (3, 5), (9, 1), (1, 8, 4), (2, 1, 3, 70), (0, 4), (4, 0)]


@pytest.fixture(autouse=True)
def share_all(monkeypatch):
    """Make three threads share even the smallest arrays."""
    monkeypatch.setattr(threads, "PART", 1)
    monkeypatch.setattr(threads, "THREADS", 3)


def all_at_once(f):
    """Return f, made to wait until three threads are in it."""
    barrier = host.Barrier(3 if B.xp is np else 1)

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


@pytest.mark.parametrize("shape", [(3, 2), (10, 1), (1, 7, 4), (2, 5, 2, 3)])
def test_every_row_is_in_one_part_and_the_parts_are_worked_on_at_the_same_time(shape):
    ids, x, y = set(), array(normal(*shape)), array(np.zeros(shape))

    def f(x, y):
        ids.add(host.get_ident())
        y += x

    threads.by_rows(all_at_once(f), x, y)
    same(y, x)
    assert len(ids) == (3 if B.xp is np else 1)


def test_it_does_not_wait_for_threads_that_are_busy():
    idle, pool = host.Event(), threads.pool(2, threads.os.getpid())
    busy = [pool.submit(idle.wait, 60) for _ in range(2)]
    x, y = array(normal(5, 2)), array(np.zeros((5, 2)))
    try:
        threads.by_rows(lambda x, y: B.xp.copyto(y, x), x, y)
        same(y, x)
        assert not any(task.done() for task in busy)
    finally:
        idle.set()
        wait(busy)


def test_an_error_in_another_thread_reaches_the_caller():
    def f(x):
        if float(x[-1, 0]) == 5:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.by_rows(all_at_once(f), array(np.arange(6.0)[:, None]))


def test_other_threads_treat_overflow_as_the_caller_asked(xp):
    x = array([[0.0], [0.0], [1000.0]])
    if xp is np:  # CuPy reports no overflow
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            threads.by_rows(all_at_once(lambda x: np.exp(x)), x)
