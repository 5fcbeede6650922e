"""The checker, checked: right rules pass, wrong rules are caught and named."""

import importlib
import re

import numpy as np
import pytest
from conftest import array, normal

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck

module = importlib.import_module(
    "minigrad.gradcheck.differences"
)  # not the function in it
backward = importlib.import_module("minigrad.backward")
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
    monkeypatch.setattr(mg.softmax, "vjp", rule)
    with pytest.raises(GradcheckError, match="input 0") as caught:
        gradcheck(mg.softmax, normal(3, 4, seed=seed))
    assert caught.value.mistake == mistake


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fault", MATMUL)
def test_a_wrong_matmul_rule_is_caught(monkeypatch, fault, seed):
    rule, mistake = MATMUL[fault]
    monkeypatch.setattr(mg.matmul, "vjp", rule)
    with pytest.raises(GradcheckError, match="input [01]") as caught:
        gradcheck(mg.matmul, normal(3, 3, seed=seed), normal(3, 3, seed=seed + 9))
    assert caught.value.mistake == mistake


@pytest.mark.parametrize("fault", ["zero", "17 times too large"])
def test_ones_in_the_place_of_a_random_cotangent_would_let_these_pass(
    monkeypatch, fault
):
    monkeypatch.setattr(module, "cotangent", lambda y: np.ones(y.shape))
    monkeypatch.setattr(mg.softmax, "vjp", SOFTMAX[fault][0])
    gradcheck(mg.softmax, x)


def test_the_random_cotangent_is_no_input_that_somebody_draws(monkeypatch):
    """With u = A the gradient Aᵀ U of A B is symmetric, and its transpose passes."""
    A, B = normal(3, 3), normal(3, 3, seed=1)
    monkeypatch.setattr(mg.matmul, "vjp", lambda g, y, a, b: (g @ b.T, g.T @ a))
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
    rule, wrong = mg.exp.vjp, np.ones((2, 3))
    wrong[1, 2] = 1.001
    monkeypatch.setattr(mg.exp, "vjp", lambda *args: rule(*args) * array(wrong))
    with pytest.raises(GradcheckError, match=r"input 0, index \(1, 2\)"):
        gradcheck(mg.exp, normal(2, 3))


def test_a_rule_right_at_order_1_and_wrong_at_order_2_is_caught(monkeypatch):
    def constant(g, y, x):
        return g * getattr(y, "data", y)  # y, and with it x, looks like a constant

    monkeypatch.setattr(mg.exp, "vjp", constant)
    gradcheck(mg.exp, x)
    with pytest.raises(GradcheckError):
        gradcheck(mg.exp, x, order=2)


def test_a_rule_right_on_arrays_and_wrong_on_tensors_is_caught(monkeypatch):
    def half(g, y, x, axis=-1):
        return whole(g, y, x) * (0.5 if isinstance(y, Tensor) else 1.0)

    monkeypatch.setattr(mg.softmax, "vjp", half)
    gradcheck(mg.softmax, x)
    with pytest.raises(GradcheckError):
        gradcheck(mg.softmax, x, order=2)


def test_a_rule_that_forgets_what_its_g_was_made_from_is_caught(monkeypatch):
    rule = mg.sum.vjp

    def constant(g, y, x):
        return rule(g.detach() if isinstance(g, Tensor) else g, y, x)

    monkeypatch.setattr(mg.sum, "vjp", constant)
    gradcheck(mg.sum, x)
    with pytest.raises(GradcheckError):
        gradcheck(mg.sum, x, order=2)


def test_the_message_names_input_index_got_and_expected(monkeypatch):
    monkeypatch.setattr(mg.multiply, "vjp", lambda g, y, a, b: (g * b, 2 * g * a))
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda a, b: (a * b).sum() * 1, [3.0], [[5.0, 7.0]])
    pattern = (
        r"gradcheck: input 1, index \(0, 0\): got (\S+), expected (\S+), "
        r"relative error (\S+)"
    )
    got, expected, error = map(float, re.search(pattern, str(caught.value)).groups())
    assert got == pytest.approx(2 * expected, rel=1e-6)
    assert error == pytest.approx(0.5, rel=1e-6)


def test_hidden_influence_is_caught():
    with pytest.raises(GradcheckError, match="input 0"):
        gradcheck(lambda a: a.detach() * a, [2.0])
