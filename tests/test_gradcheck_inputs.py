"""What gradcheck is given: any numbers, which stay what they are, and functions that it
cannot check."""

import re

import numpy as np
import pytest
from conftest import array, normal, same

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck

x, square = normal(4), normal(3, 3, seed=1)


def test_a_random_function_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(GradcheckError, match="random"):
        gradcheck(lambda x: x * rng.random(), [1.0, 2.0])


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_a_narrow_input_is_checked_in_float64_with_a_warning(dtype):
    with pytest.warns(UserWarning, match=f"input 1 is {np.dtype(dtype)}"):
        gradcheck(mg.multiply, [1.0], array([2.0], dtype))


def test_a_function_that_leaves_float64_is_refused():
    for f in (lambda x: x.astype("f4"), lambda x: 2.0, lambda x: (x, x)):
        with pytest.raises(GradcheckError, match="gradcheck: f returned"):
            gradcheck(f, [1.0])


def test_inputs_of_any_kind_stay_what_they_are():
    given = [array(normal(2)), Tensor(normal(2)), normal(2)]
    before = [mg.backend.to_numpy(a).copy() for a in given]
    gradcheck(lambda a, b, c: a * b * c, *given, order=2)
    for a, value in zip(given, before, strict=True):
        same(a, value)
    assert given[1].grad is None
    gradcheck(lambda a: a * a, [1, 2])
    gradcheck(lambda a: a * a, 3)


def test_an_input_without_influence_has_gradient_zero():
    for order in (1, 2):
        assert gradcheck(lambda a, b: a * 2.0, x, x, order=order) < 1e-6
        assert gradcheck(lambda a: array(np.ones(2)), x, order=order) == 0


def test_nan_is_no_agreement(monkeypatch):
    ends = pytest.raises(GradcheckError, match="f ends, overflows or is NaN there$")
    with ends, np.errstate(all="ignore"):
        gradcheck(mg.sqrt, [-1.0, 1.0])
    monkeypatch.setattr(mg.exp, "vjp", lambda g, y, x: g * np.nan)
    at_0 = re.escape("index (): got nan, expected -1.3258")  # u: the slope of exp is 1
    with pytest.raises(GradcheckError, match=at_0):
        gradcheck(mg.exp, 0.0)


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(ValueError, match="gradcheck: there are no inputs"):
        gradcheck(mg.exp)
    with pytest.raises(ValueError, match="gradcheck: input 1 holds NaN"):
        gradcheck(mg.multiply, 2.0, [np.nan, 1.0])
    with pytest.raises(TypeError, match="gradcheck: input 1 is complex128, not real"):
        gradcheck(mg.multiply, x, x * 1j)
    with mg.no_grad(), pytest.raises(RuntimeError, match="inside no_grad nothing"):
        gradcheck(mg.exp, x)
    with pytest.raises(ValueError, match="gradcheck: order 3"):
        gradcheck(mg.exp, x, order=3)
