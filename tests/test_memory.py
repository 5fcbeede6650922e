"""A graph is freed by reference counting alone; the reverse pass keeps little."""

import gc
import tracemalloc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from conftest import array, normal, same

import minigrad as mg
from minigrad import Tensor


@contextmanager
def collector_off():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("use", ["forward", "backward", "twice", "grad", "raises"])
def test_a_graph_is_freed_at_once_without_the_collector(use):
    x, w = Tensor(normal(4, 3)), Tensor(normal(3, 3, seed=1))
    with collector_off():
        y = mg.softmax(mg.tanh(x @ w).reshape(2, 6)[[0, 1, 1]])
        refs = [weakref.ref(t) for t in mg.graph.nodes(y) if t.op]
        refs += [weakref.ref(t.data) for t in mg.graph.nodes(y) if t.op]
        for _ in range({"backward": 1, "twice": 2}.get(use, 0)):
            y.backward(array(normal(3, 6)))
        if use == "grad":
            mg.grad(mg.grad(lambda a: (mg.exp(a * x) @ w).sum()))(2.0)
        if use == "raises":
            with pytest.raises(ValueError, match="backward"):
                y.backward()
        del y
        assert [ref() for ref in refs] == [None] * 10


def test_memory_stays_flat_over_a_thousand_forward_passes():
    x, w = Tensor(normal(50, 50)), Tensor(normal(50, 50, seed=1))

    def in_use(passes):
        for _ in range(passes):
            mg.softmax(x @ w)
        return tracemalloc.get_traced_memory()[0]

    with collector_off():
        tracemalloc.start()
        before = in_use(10)
        after = in_use(1000)
        tracemalloc.stop()
    assert after - before < 500_000  # bytes; the arrays of 1,000 passes: 40 million


def test_a_gradient_is_dropped_as_soon_as_it_was_used():
    n, size = 20, 100_000
    x = y = Tensor(np.ones(size))
    for _ in range(n):
        y = y * 1.0
    g = array(np.ones(size))
    tracemalloc.start()
    y.backward(g)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4.5 * 8 * size  # all n would be 20
    same(x.grad, np.ones(size))
