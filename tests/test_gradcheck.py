"""The checker, checked: right rules pass, wrong rules are caught and named."""

import importlib
import itertools
import re
import warnings

import numpy as np
import pytest
from conftest import array, normal, same

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck

module = importlib.import_module(
    "minigrad.gradcheck.differences"
)  # not the function in it
backward = importlib.import_module("minigrad.backward")
RULE = "vjp" if hasattr(mg.exp, "vjp") else "rule"  # where an op keeps its rule
x, square = normal(4), normal(3, 3, seed=1)


def attention(Q, K, V):
    return mg.softmax(Q @ K.swapaxes(-1, -2)) @ V


def test_right_rules_pass_at_both_orders():
    Q, K, V = normal(2, 3), normal(4, 3, seed=1), normal(4, 2, seed=2)
    for order in (1, 2):
        error = gradcheck(attention, Q, K, V, order=order)
        assert type(error) is float
        assert 0 < error < 1e-7


def whole(g, y, x, axis=-1, **_):
    return y * (g - (g * y).sum(axis=axis, keepdims=True))


SOFTMAX = {  # a wrong rule, and the mistake that is named
    "the diagonal of the Jacobian only": (
        lambda g, y, x, **_: g * y * (1 - y),
        "not_centred",
    ),
    "nothing subtracted": (lambda g, y, x, **_: g * y, "not_centred"),
    "zero": (lambda g, y, x, **_: 0 * whole(g, y, x), None),
    "17 times too large": (lambda g, y, x, **_: 17 * whole(g, y, x), "factor"),
    "of the other sign": (lambda g, y, x, **_: -whole(g, y, x), "sign"),
    "off by 1e-4": (lambda g, y, x, **_: (1 + 1e-4) * whole(g, y, x), "factor"),
    "along another axis": (lambda g, y, x, **_: whole(g, y, x, axis=0), None),
}
MATMUL = {
    "b not transposed": (lambda g, y, a, b: (g @ b, a.T @ g), None),
    "a not transposed": (lambda g, y, a, b: (g @ b.T, a @ g), None),
    "in the wrong order": (lambda g, y, a, b: (g @ b.T, g @ a.T), None),
    "transposed": (lambda g, y, a, b: ((g @ b.T).T, a.T @ g), "transposed"),
    "exchanged": (lambda g, y, a, b: (a.T @ g, g @ b.T), "swapped"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fault", SOFTMAX)
def test_a_wrong_softmax_rule_is_caught(monkeypatch, fault, seed):
    rule, mistake = SOFTMAX[fault]
    monkeypatch.setattr(mg.softmax, RULE, rule)
    with pytest.raises(GradcheckError, match="input 0") as caught:
        gradcheck(mg.softmax, normal(3, 4, seed=seed))
    assert caught.value.mistake == mistake


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fault", MATMUL)
def test_a_wrong_matmul_rule_is_caught(monkeypatch, fault, seed):
    rule, mistake = MATMUL[fault]
    monkeypatch.setattr(mg.matmul, RULE, rule)
    with pytest.raises(GradcheckError, match="input [01]") as caught:
        gradcheck(mg.matmul, normal(3, 3, seed=seed), normal(3, 3, seed=seed + 9))
    assert caught.value.mistake == mistake


@pytest.mark.parametrize("fault", ["zero", "17 times too large"])
def test_ones_in_the_place_of_a_random_cotangent_would_let_these_pass(
    monkeypatch, fault
):
    monkeypatch.setattr(module, "cotangent", lambda y: np.ones(y.shape))
    monkeypatch.setattr(mg.softmax, RULE, SOFTMAX[fault][0])
    gradcheck(mg.softmax, x)


def test_the_random_cotangent_is_no_input_that_somebody_draws(monkeypatch):
    """With u = A the gradient Aᵀ U of A B is symmetric, and its transpose passes."""
    A, B = normal(3, 3), normal(3, 3, seed=1)
    monkeypatch.setattr(mg.matmul, RULE, lambda g, y, a, b: (g @ b.T, g.T @ a))
    with pytest.raises(GradcheckError, match="input 1"):
        gradcheck(mg.matmul, A, B)
    drawn = [normal(3, 3, seed=seed) for seed in range(100)]
    drawn += [np.random.default_rng(seed).random((3, 3)) for seed in range(100)]
    for seed in range(4):
        u = module.cotangent(A, seed)
        assert not any(np.array_equal(u, x) for x in drawn)
    monkeypatch.setattr(module, "cotangent", lambda y: A)
    gradcheck(mg.matmul, A, B)


def first_copy(g, x, op):
    """Undo broadcasting wrongly: take one of the copies instead of their sum."""
    g = g[(0,) * (g.ndim - x.ndim)]
    return g[tuple(slice(n) for n in x.shape)]


def test_broadcasting_that_is_not_undone_is_caught(monkeypatch):
    row = normal(3, seed=2)
    gradcheck(mg.multiply, square, row)
    monkeypatch.setattr(backward, "fit", first_copy)
    with pytest.raises(GradcheckError, match="input 1"):
        gradcheck(mg.multiply, square, row)
    monkeypatch.setattr(backward, "fit", lambda g, x, op: g)
    with pytest.raises((GradcheckError, IndexError, TypeError, ValueError)):
        gradcheck(mg.multiply, square, row)


def test_the_wrong_entry_among_many_is_found(monkeypatch):
    rule, wrong = getattr(mg.exp, RULE), np.ones((2, 3))
    wrong[1, 2] = 1.001
    monkeypatch.setattr(mg.exp, RULE, lambda *args: rule(*args) * array(wrong))
    with pytest.raises(GradcheckError, match=r"input 0, index \(1, 2\)"):
        gradcheck(mg.exp, normal(2, 3))


def test_a_rule_right_at_order_1_and_wrong_at_order_2_is_caught(monkeypatch):
    def constant(g, y, x):
        return g * getattr(y, "data", y)  # y, and with it x, looks like a constant

    monkeypatch.setattr(mg.exp, RULE, constant)
    gradcheck(mg.exp, x)
    with pytest.raises(GradcheckError):
        gradcheck(mg.exp, x, order=2)


def test_a_rule_right_on_arrays_and_wrong_on_tensors_is_caught(monkeypatch):
    def half(g, y, x, axis=-1):
        return whole(g, y, x) * (0.5 if isinstance(y, Tensor) else 1.0)

    monkeypatch.setattr(mg.softmax, RULE, half)
    gradcheck(mg.softmax, x)
    with pytest.raises(GradcheckError):
        gradcheck(mg.softmax, x, order=2)


def test_a_rule_that_forgets_what_its_g_was_made_from_is_caught(monkeypatch):
    rule = getattr(mg.sum, RULE)

    def constant(g, y, x):
        return rule(g.detach() if isinstance(g, Tensor) else g, y, x)

    monkeypatch.setattr(mg.sum, RULE, constant)
    gradcheck(mg.sum, x)
    with pytest.raises(GradcheckError):
        gradcheck(mg.sum, x, order=2)


def test_the_message_names_input_index_got_and_expected(monkeypatch):
    monkeypatch.setattr(mg.multiply, RULE, lambda g, y, a, b: (g * b, 2 * g * a))
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda a, b: (a * b).sum() * 1, [3.0], [[5.0, 7.0]])
    pattern = (
        r"gradcheck: input 1, index \(0, 0\): got (\S+), expected (\S+), "
        r"relative error (\S+)"
    )
    got, expected, error = map(float, re.search(pattern, str(caught.value)).groups())
    assert got == pytest.approx(2 * expected, rel=1e-6)
    assert error == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("f", [mg.relu, mg.abs])
def test_a_kink_is_recognised_and_the_other_entries_still_count(f, monkeypatch):
    with pytest.warns(UserWarning, match=r"kink at input 0 index \(1,\): any slope"):
        assert gradcheck(f, [-1.0, 0.0, 2.0]) < 1e-6
    rule = getattr(f, RULE)
    for k, wrong in itertools.product(range(3), (1.5, -1.5)):
        off = np.zeros(3)
        off[k] = wrong
        monkeypatch.setattr(f, RULE, lambda *a, off=off: rule(*a) + array(off))
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


def test_hidden_influence_is_caught():
    with pytest.raises(GradcheckError, match="input 0"):
        gradcheck(lambda a: a.detach() * a, [2.0])


def test_nan_is_no_agreement():
    with pytest.raises(GradcheckError, match="nan"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradcheck(mg.sqrt, [-1.0, 1.0])


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


@pytest.mark.parametrize("fill", [-1e10, -1e12, -1e30])
def test_a_large_constant_beside_it_hides_no_wrong_rule(monkeypatch, fill):
    monkeypatch.setattr(mg.exp, RULE, lambda g, y, x: -g * y)
    mask = array(np.tri(3, 3, dtype=bool))
    with pytest.raises(GradcheckError, match="input 0"):
        gradcheck(lambda x: mg.where(mask, mg.exp(x), fill), normal(3, 3))


def test_an_output_that_stays_infinite_has_no_slope():
    mask = array(np.tri(3, 3, dtype=bool))
    assert gradcheck(lambda x: mg.where(mask, x, -np.inf), normal(3, 3)) < 1e-6
