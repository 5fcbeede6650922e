"""Every op of minigrad: its values against NumPy's, its gradients and its second
derivatives against differences, in every float type, and on constants."""

from functools import partial

import fakecupy
import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same
from op_cases import CASES

import minigrad as mg
from minigrad import PRIMITIVES, Tensor, gradcheck
from minigrad import backend as B


def every_case(test):
    """Make a test of one case of an op a test of them all, which names one that fails."""

    @pytest.mark.parametrize("name", CASES)
    def of_an_op(name):
        for k, case in enumerate(CASES[name]):
            try:
                test(name, *case)
            except BaseException as error:
                error.add_note(f"in case {k} of {name}")
                raise

    return of_an_op


def test_every_op_has_a_case():
    """An op without gradient cases fails here; its cases belong in op_cases.py."""
    ops = {n for n, op in PRIMITIVES.items() if op.__module__.startswith("minigrad.")}
    assert CASES.keys() == ops


@every_case
def test_values_are_those_of_numpy(name, f, reference, inputs):
    expected = reference(*inputs)
    close(f(*map(Tensor, inputs)), expected, rtol=1e-13, atol=1e-15)
    same(f(*map(array, inputs)), f(*map(Tensor, inputs)))  # with nothing recorded


@numpy_only
@every_case
def test_first_and_second_derivatives_are_those_of_differences(name, f, _, inputs):
    assert gradcheck(f, *inputs, order=2) < 1e-6  # which begins with order 1


def derivatives(f, inputs):
    """Return dL/dx of L = Σ u · f for each input x, and of M = Σ v · dL/dx likewise."""
    xs = list(map(Tensor, inputs))

    def gradient(*xs):
        return mg.grad(lambda *xs: mg.sum(weighed(f(*xs), 8)), argnum=every)(*xs)

    def moment(*xs):
        parts = [mg.sum(weighed(g, i)) for i, g in enumerate(gradient(*xs))]
        return mg.sum(mg.stack(parts))

    every = tuple(range(len(xs)))
    return [*gradient(*xs), *mg.grad(moment, argnum=every)(*xs)]


def weighed(y, seed):
    return y * array(normal(*y.shape, seed=seed))


@every_case
def test_derivatives_are_the_same_numbers_on_every_backend(name, f, _, inputs):
    got = [B.to_numpy(x) for x in derivatives(f, inputs)]
    B.use("numpy")
    for x, expected in zip(got, derivatives(f, inputs), strict=True):
        close(x, expected, rtol=1e-13, atol=1e-15)


def gradients(f, inputs, dtype, tracked=None):
    """Return the output and the gradients, of one tracked input or of all."""
    given = [
        Tensor(a.astype(dtype)) if tracked in (None, i) else array(a, dtype)
        for i, a in enumerate(inputs)
    ]
    out = f(*given)
    out.backward(array(normal(*out.shape, seed=9), dtype))
    return out, [a.grad for a in given if type(a) is Tensor]


@every_case
def test_every_op_keeps_the_float_type_and_never_waits_for_the_device(
    name, f, _, inputs
):
    for dtype, error in [("f2", 2e-2), ("f4", 2e-5)]:
        if name == "astype":
            f = partial(mg.astype, dtype=dtype)
        reads = fakecupy.reads
        exact, exact_gradients = gradients(f, inputs, "f8")
        out, got = gradients(f, inputs, dtype)
        waits = fakecupy.reads > reads
        assert not waits or name in ("getitem", "scatter")  # boolean indices
        pairs = zip([out.data, *got], [exact.data, *exact_gradients], strict=True)
        for low, high in pairs:
            assert low.dtype == dtype
            close(low, high, rtol=error, atol=error)


@every_case
def test_constants_beside_a_tensor_change_no_gradient(name, f, _, inputs):
    _, expected = gradients(f, inputs, "f8")
    for i in range(len(inputs)):
        _, (got,) = gradients(f, inputs, "f8", tracked=i)
        close(got, expected[i], rtol=1e-13, atol=1e-15)


@every_case
def test_no_op_and_no_rule_writes_into_what_it_was_given(name, f, _, inputs):
    given = [array(a) for a in inputs]
    leaves = [Tensor(a) for a in given]
    out = f(*leaves)
    y, g = array(out.numpy()), array(normal(*out.shape, seed=9))
    out.backward(g)
    f(*given)
    same(g, normal(*out.shape, seed=9))
    same(out.data, y)
    for a, leaf, value in zip(given, leaves, inputs, strict=True):
        same(a, value)
        same(leaf.data, value)


@every_case
def test_nan_goes_where_numpy_lets_it_go_and_raises_nothing(name, f, reference, inputs):
    for i, a in enumerate(inputs):
        if a.size:
            spoilt = a.copy()
            spoilt.flat[0] = np.nan
            given = [*inputs[:i], spoilt, *inputs[i + 1 :]]
            x = [Tensor(b) for b in given]
            out = f(*x)
            out.backward(array(normal(*out.shape, seed=9)))
            same(np.isnan(out.numpy()), np.isnan(reference(*given)))
