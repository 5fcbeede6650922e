"""grad and its compositions: second derivatives, closures, nesting."""

import functools

import numpy as np
import pytest
from conftest import array, close, normal, same

import minigrad as mg
from minigrad import Tensor, grad, no_grad, value_and_grad


def test_derivatives_of_a_power_up_to_the_fourth():
    f, expected = lambda x: x**4, [81.0, 108.0, 108.0, 72.0, 24.0]
    for value in expected:
        close(f(3.0), np.array(value))
        f = grad(f)


DERIVATIVES = [  # f, f', f'' where f is the function of one number
    (mg.exp, np.exp, np.exp),
    (mg.log, lambda x: 1 / x, lambda x: -1 / x**2),
    (mg.sqrt, lambda x: x**-0.5 / 2, lambda x: -(x**-1.5) / 4),
    (mg.tanh, lambda x: np.cosh(x) ** -2, lambda x: -2 * np.tanh(x) * np.cosh(x) ** -2),
    (lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3),
    (lambda x: 2**x, lambda x: 2**x * np.log(2), lambda x: 2**x * np.log(2) ** 2),
    (lambda x: x * x * x - x, lambda x: 3 * x * x - 1, lambda x: 6 * x),
    (mg.relu, lambda x: 1.0, lambda x: 0.0),
]


@pytest.mark.parametrize("case", range(len(DERIVATIVES)))
def test_first_and_second_derivatives_in_closed_form(case):
    f, first, second = DERIVATIVES[case]
    for x in (0.3, 1.7):
        close(grad(f)(x), np.asarray(first(x)))
        close(grad(grad(f))(x), np.asarray(second(x)))


def test_the_hessian_of_a_quadratic_form_is_its_matrix_plus_the_transpose():
    A, x = normal(3, 3), normal(3, seed=1)
    slope = grad(lambda x: x @ array(A) @ x)
    close(slope(x), (A + A.T) @ x)
    for k in range(3):
        close(grad(lambda x, k=k: slope(x)[k])(x), (A + A.T)[k])


@pytest.mark.parametrize("argnum", [0, 1, -1])
def test_argnum_chooses_the_argument(argnum):
    f, args = lambda a, b, power=1: (a**2 * b).sum() * power, [normal(3), normal(3)]
    expected = [2 * args[0] * args[1], args[0] ** 2]
    close(grad(f, argnum)(*map(array, args), power=3), 3 * expected[argnum])


def test_an_array_in_an_array_out_in_its_own_type(xp):
    for dtype in ("f4", "f8"):
        got = grad(lambda x: (x * x).sum())(array([1.0, 2.0], dtype))
        assert type(got) is xp.ndarray
        assert got.dtype == dtype


def test_where_f_does_not_use_x_the_derivative_is_zero():
    w = Tensor([3.0])
    for f in (lambda x: 3.0, lambda x: (w * w).sum(), lambda x: x.detach().sum()):
        same(grad(f)(array([1.0, 2.0])), np.zeros(2))
    same(grad(grad(lambda x: 3 * x))(2.0), np.array(0.0))


def test_leaves_keep_their_gradients_and_arguments_their_values():
    x, w = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    grad(lambda a: (a * w * x).sum())(x)
    assert (x.grad, w.grad) == (None, None)
    same(x.data, np.array([1.0, 2.0]))


def test_a_gradient_remembers_the_tensors_it_was_made_with():
    x, w = Tensor(2.0), Tensor(5.0)
    slope = grad(lambda a: a**2 * w**3)(x)  # 2 x w³
    assert type(slope) is Tensor
    slope.backward()
    assert (slope.item(), x.grad.item(), w.grad.item()) == (500.0, 250.0, 300.0)


def test_value_and_gradient_come_of_one_evaluation(xp):
    calls = []

    def f(a, x):
        calls.append(1)
        return (a * x**3).sum()

    value, (by_a, by_x) = value_and_grad(f, (0, 1))(
        array([5.0, 0.0]), array([2.0, 1.0])
    )
    assert len(calls) == 1
    assert {type(value), type(by_a), type(by_x)} == {xp.ndarray}
    same(value, np.array(40.0))
    same(by_a, np.array([8.0, 1.0]))
    same(by_x, np.array([60.0, 0.0]))


def test_value_and_gradient_remember_what_they_were_made_with():
    """Of a x³ at 2 they are 8 a and 12 a; their squares grow by 128 a and 288 a."""
    a = Tensor(5.0)
    value, slope = value_and_grad(lambda x: a * x**3)(2.0)
    assert {type(value), type(slope)} == {Tensor}
    (value**2 + slope**2).backward()
    assert a.grad.item() == (128 + 288) * 5.0


def test_a_penalty_on_the_gradient_can_be_descended():
    w, x = Tensor(normal(3)), array(normal(3, seed=1))

    def penalty(w):
        return (grad(lambda x: mg.tanh(x @ w))(Tensor(x)) ** 2).sum()

    assert mg.gradcheck(penalty, w) < 1e-6


CONFUSION = {
    "x d/dy (x + y)": (lambda x: x * grad(lambda y: x + y)(1.0), lambda x: 1.0),
    "x d/dy (x y)": (lambda x: x * grad(lambda y: x * y)(1.0), lambda x: 2 * x),
    "the same point": (lambda x: x * grad(lambda y: x * y)(x), lambda x: 2 * x),
    "both, at x": (lambda x: grad(lambda y: x * y * y)(x), lambda x: 4 * x),
    "d/dy x": (lambda x: x + grad(lambda y: x)(2.0), lambda x: 1.0),
    "three deep": (
        lambda x: grad(lambda y: x * grad(lambda z: x * y * z)(y) * y)(x),
        lambda x: 6 * x**2,  # x (x y) y = x² y², d/dy: 2 x² y, at y = x: 2 x³
    ),
}


@pytest.mark.parametrize("name", CONFUSION)
def test_no_perturbation_confusion(name):
    f, expected = CONFUSION[name]
    close(grad(f)(3.0), np.array(expected(3.0)))


def test_f_must_return_one_number():
    with pytest.raises(ValueError, match=r"grad: f returned shape \(3,\)"):
        grad(lambda x: x * 2)(normal(3))
    with pytest.raises(ValueError, match="grad"):
        grad(functools.partial(mg.multiply, 2.0))(normal(3))
    for nothing in (None, "text", [Tensor(1.0), Tensor(2.0)], (1.0, None)):
        with pytest.raises(TypeError, match="grad:"):
            grad(lambda x, nothing=nothing: nothing)(2.0)
    close(grad(lambda x: x.reshape(1, 1))(2.0), np.array(1.0))


def test_there_must_be_such_an_argument():
    for call in (lambda: grad(abs, 1)(2.0), lambda: grad(abs)(x=2.0)):
        with pytest.raises(IndexError, match=r"grad: argnum is [01]"):
            call()


def test_within_no_grad_grad_works_and_returns_an_array(xp):
    w = Tensor([1.0, 2.0])
    with no_grad():
        got = grad(lambda x: (x * x * w).sum())(w)
    assert type(got) is xp.ndarray
    same(got, np.array([2.0, 8.0]))


def test_within_grad_no_grad_makes_constants():
    @no_grad()
    def frozen(x):
        return x * x

    close(grad(lambda x: x * frozen(x))(3.0), np.array(9.0))
