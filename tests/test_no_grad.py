"""no_grad: blocks, decorators, threads, exceptions, generators."""

import functools
import threading

import numpy as np
import pytest
from conftest import same

import minigrad as mg
from minigrad import Tensor, grad, no_grad


def recording():
    """Return whether an op given a Tensor records itself."""
    return type(Tensor(1.0) * 2) is Tensor


@pytest.mark.parametrize("inside", [False, True])
def test_a_function_that_raises_leaves_the_mode_as_it_was(inside):
    def fail(x):
        raise KeyError("f")

    def attempt():
        with pytest.raises(KeyError):
            grad(fail)(1.0)
        with pytest.raises(KeyError):
            no_grad()(fail)(1.0)
        return recording()

    assert (no_grad()(attempt)() if inside else attempt()) is not inside


def test_no_grad_nests_in_blocks_and_decorators():
    decorated = no_grad()(recording)
    again = no_grad()
    with again:
        with no_grad(), again:
            assert not recording()
        assert not recording()
        assert not decorated()
        assert not recording()
    assert not decorated()
    assert recording()


def test_a_decorated_function_keeps_its_name_arguments_and_result():
    @no_grad()
    def scaled(x, by=2.0):
        """Return x by a factor."""
        return x * by

    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Return x by a factor.")
    same(scaled(Tensor([1.0]), by=3.0), np.array([3.0]))
    same(no_grad()(functools.partial(mg.add, 1.0))(Tensor([1.0])), np.array([2.0]))


def test_no_grad_counts_for_its_own_thread_only():
    inside, done, seen = threading.Event(), threading.Event(), []

    def other():
        with no_grad():
            inside.set()
            done.wait(10)
            seen.append(recording())
        seen.append(recording())

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)
    assert recording()
    with no_grad():
        done.set()
        thread.join()
    assert seen == [False, True]


def test_generators_and_coroutines_are_refused():
    def generator():
        with no_grad():
            yield recording()

    async def coroutine():
        with no_grad():
            return recording()

    with pytest.raises(RuntimeError, match="no_grad: generator is a generator"):
        next(generator())
    waiting = coroutine()
    with pytest.raises(RuntimeError, match="no_grad"):
        waiting.send(None)
    for function in (generator, coroutine):
        with pytest.raises(RuntimeError, match="no_grad"):
            no_grad()(function)
    assert recording()


def test_a_generator_made_outside_and_drained_inside_does_not_record():
    x = Tensor(1.0)
    products = (type(x * k) is Tensor for k in range(3))
    assert next(products)
    with no_grad():
        assert not next(products)
    assert next(products)
