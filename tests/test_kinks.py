"""What spoils a difference, kinks, steps that are too long, and rounding, is seen as that;
right rules pass there and wrong ones do not."""

import itertools
import warnings

import numpy as np
import pytest
from conftest import array, normal
from own_ops import my_log_softmax, op

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck


@pytest.mark.parametrize("f", [mg.relu, mg.abs])
def test_a_kink_is_recognised_and_the_other_entries_still_count(f, monkeypatch):
    with pytest.warns(UserWarning, match=r"kink at input 0 index \(1,\): any slope"):
        assert gradcheck(f, [-1.0, 0.0, 2.0]) < 1e-6
    rule = f.vjp
    for k, wrong in itertools.product(range(3), (1.5, -1.5)):
        off = np.zeros(3)
        off[k] = wrong
        monkeypatch.setattr(f, "vjp", lambda *a, off=off: rule(*a) + array(off))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(GradcheckError, match=rf"index \({k},\)"):
                gradcheck(f, [-1.0, 0.0, 2.0])


def test_ties_are_kinks_and_sharing_passes():
    for f in (mg.max, mg.min, lambda x: mg.maximum(x[0], x[1])):
        with pytest.warns(UserWarning, match="kink at input 0 index"):
            gradcheck(f, [3.0, 3.0, 3.0])


def test_smooth_functions_have_no_kinks():
    gradcheck(lambda x: 1e-3 * mg.tanh(30 * x), [0.0, 0.01, 0.3])
    gradcheck(lambda x: x**3, [0.0, 1e-3, 1e3])
    gradcheck(lambda x: mg.exp(5 * x), [-3.0, 0.0, 4.0])
    gradcheck(lambda x: mg.stack([x, x * 0.1 / 0.1 - x]), 0.1 + 0.1 * np.arange(9))


STEEP = {  # functions and points, with less room than a step of 1e-5 or 1e-5 x
    "log near 0": (mg.log, [1e-4, 1e-6]),
    "sqrt near 0": (mg.sqrt, [1e-5]),
    "a pole": (lambda x: 1 / x, [1e-4, -1e-4]),
    "far out": (mg.softmax, [1e6, 1e6 + 1, 1e6 + 0.5]),
    "many turns": (lambda x: mg.tanh(1e4 * x), [1e-5, 1e-4]),
    "a minimum": (lambda x: (x - 1) * (x - 1), [1.0, 1 + 1e-9]),
    "flat": (lambda x: x**4, [0.0, 1e-3]),
    "near a kink": (mg.relu, [1e-6, 3e-6, -3e-6, 7e-6, -7e-6]),
    "near 0": (mg.norm, [1e-6, 1e-6]),
}


@pytest.mark.parametrize("name", STEEP)
def test_a_right_gradient_passes_where_a_step_is_too_long(name, monkeypatch):
    f, at = STEEP[name]
    assert gradcheck(f, at) < 1e-6  # without a warning of a kink
    with pytest.raises(GradcheckError):
        gradcheck(lambda x: f(x) + 1e-4 * (f(x) - f(Tensor(x.data))), at)


def test_a_kink_of_a_curved_function_ends_at_the_slopes_of_its_sides():
    """relu(x) / eˣ has the slopes 0 and 1 at 0, and bends further to the right."""
    with pytest.warns(UserWarning, match="kink"):
        assert gradcheck(lambda x: mg.relu(x) * mg.exp(-x), 0.0) < 1e-6
    with pytest.warns(UserWarning, match="kink"):
        assert gradcheck(lambda x: x - mg.relu(x) * mg.exp(-x), 0.0) < 1e-6


def test_a_small_kink_of_a_large_function_is_seen():
    with pytest.warns(UserWarning, match="kink"):
        gradcheck(lambda x: 0.01 * mg.abs(x) + 30.0, 0.0)


def test_rounding_in_an_output_that_is_a_small_rest_is_no_error():
    """Rows of two nearly equal numbers: layer norm's second derivative is 1e-5, made of
    terms of size 1."""
    X = normal(2, 3, 2, seed=4)
    f = lambda x, w: mg.rms_norm(mg.center(x)) * w
    assert gradcheck(f, X, X[0, 0], order=2) < 1e-6


RESTS = {  # small, and the rest of terms of size 1; or 0 as far as a step can see
    "1 - p": (mg.softmax, [10.0, 0.0]),
    "1 - p, far out": (mg.sigmoid, [12.0, 15.0, -15.0]),
    "1 - tanh² x": (mg.tanh, [7.5, -10.0]),
    "1 + tanh u": (mg.gelu, [-5.25, -5.5]),
    "log(1 + e^-10)": (lambda x: mg.cross_entropy(x, [0]), [[10.0, 0.0]]),
    "x⁵ at 0": (lambda x: x**5, [0.0]),
    "relu² at its kink": (lambda x: mg.relu(x) ** 2, [0.0]),
}


@pytest.mark.parametrize("name", RESTS)
def test_a_right_gradient_passes_though_its_digits_are_rounding(name):
    f, at = RESTS[name]
    order = 1 if name.startswith(("log", "relu")) else 2
    assert gradcheck(f, at, order=order) <= 1e-6


@pytest.mark.parametrize("fault", [0.0, 1.0])
def test_a_slope_below_the_rounding_of_f_is_said_to_be_unseen(fault):
    """1e10 is a whole number of 2e-6; x² moves by 2e-5 in a step of 8e-6."""
    hidden = lambda x: x * x * (1 - fault) + fault * Tensor(x.data * x.data) + 1e10
    with pytest.warns(UserWarning, match="lost in the rounding of f, 0 would pass"):
        assert gradcheck(hidden, [1.3]) <= 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradcheck(lambda x: x * x + 100.0, [1.3]) < 1e-6  # enough of it is seen
        assert gradcheck(lambda x: mg.relu(x) + 1e10, [-1.3]) == 0  # 0 is the slope


def test_every_output_has_a_slope_of_its_own_at_a_kink():
    with pytest.warns(UserWarning, match="kink"):
        gradcheck(lambda x: mg.relu(mg.stack([x, -x])), 0.0)


@pytest.mark.parametrize("fill", [-1e10, -1e12, -1e30])
def test_a_large_constant_beside_it_hides_no_wrong_rule(monkeypatch, fill):
    monkeypatch.setattr(mg.exp, "vjp", lambda g, y, x: -g * y)
    mask = array(np.tri(3, 3, dtype=bool))
    with pytest.raises(GradcheckError, match="input 0"):
        gradcheck(lambda x: mg.where(mask, mg.exp(x), fill), normal(3, 3))


LEFT_OUT = [0.0, 0.0, -np.inf, 0.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: mg.where(array(np.isfinite(LEFT_OUT)), x, -np.inf),
        lambda x: x + LEFT_OUT,
        lambda x: mg.log_softmax(x + LEFT_OUT),
        lambda x: mg.cross_entropy((x + LEFT_OUT).reshape(2, 2), [0, 1]),
    ],
)
def test_an_infinite_output_has_no_slope_and_the_others_are_checked(f):
    at = [1.0, -0.5, 2.0, 0.3]
    assert gradcheck(f, at, order=2) < 1e-6
    wrong = lambda x: f(x * 1.01 - Tensor(x.data) * 0.01)  # every slope by 1 %
    with pytest.raises(GradcheckError) as caught:
        gradcheck(wrong, at)
    assert caught.value.mistake == "factor"


def test_the_logarithm_of_a_score_of_minus_infinity_may_be_checked():
    at = [-np.inf, 1.0, 2.0]
    assert gradcheck(mg.log_softmax, at, order=2) < 1e-6
    share = lambda g, y, x: g - 0.9 * mg.exp(y) * g.sum()
    with pytest.raises(GradcheckError) as caught:
        gradcheck(op(my_log_softmax, share), at)
    assert caught.value.mistake == "not_centred"
