"""The check of order 2: (x, g) ↦ Jᵀg as a function of its own, by x and by g, with the
rules on arrays and on Tensors. What it can be blind to is planted here."""

import numpy as np
import pytest
from conftest import normal
from own_ops import attention, my_product, my_softmax, my_square, op, total, whole

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck, primitive

x, a, b = normal(2, 3), normal(3), normal(3, seed=1)


def failure(f, *inputs):
    """Return the error of order 2; order 1 must pass."""
    gradcheck(f, *inputs)
    with pytest.raises(GradcheckError, match=r"^gradcheck: ") as caught:
        gradcheck(f, *inputs, order=2)
    return caught.value


@primitive
def my_kept_slope(x, /):
    return x * x, {"slope": 2 * x}


@my_kept_slope.rule
def _(g, y, x, slope):
    return g * slope  # right, and with Tensors a constant


def frozen(t):
    """Return the numbers of a Tensor, and an array as it is."""
    return t.detach() if isinstance(t, Tensor) else t


@pytest.mark.parametrize("at", [2.0, 1.0])
def test_a_saved_value_that_hides_x_is_caught_where_f_is_0_too(at):
    failure(lambda x: my_kept_slope(x) - 1.0, [at])  # f(1) is 0, and so would be f f'
    failure(lambda x: my_kept_slope(x), at)


# Right rules but for what they take for a constant: x, the output, or g.
FROZEN = {
    "x": op(my_square, lambda g, y, x: 2 * g * frozen(x)),
    "y": op(my_softmax, lambda g, y, x: whole(g, frozen(y))),
    "one of two y": op(my_softmax, lambda g, y, x: y * (g - total(g * frozen(y)))),
    "g": op(my_square, lambda g, y, x: 2 * frozen(g) * x),
}


@pytest.mark.parametrize("name", FROZEN)
def test_a_rule_that_takes_a_tensor_for_a_constant_is_caught(name):
    error = failure(FROZEN[name], a)
    by = "g" if name == "g" else "input 0"
    assert str(error).startswith(f"gradcheck: second derivative by {by}, index (0,): ")
    assert error.mistake == (None if name.startswith("one") else "no_path")


def test_it_is_said_which_derivatives_are_right():
    error = failure(op(my_product, lambda g, y, a, b: (g * b, g * frozen(a))), a, b)
    first, second = str(error).split("\n")
    right = "(right: second derivative by input 1, second derivative by g)"
    assert first.endswith(right)
    assert second.startswith("second derivative by input 0: nothing recorded leads to")


def test_the_square_of_a_norm_has_a_second_derivative_at_0():
    """∇²‖x‖² = 2, and the chain rule through ‖x‖ cannot make it at 0."""
    gradcheck(lambda x: (x * x).sum(), [0.0, 0.0], order=2)
    failure(lambda x: mg.norm(x) ** 2, [0.0, 0.0])
    gradcheck(lambda x: mg.norm(x) ** 2, [3.0, 4.0], order=2)


def test_a_rule_that_is_right_with_arrays_only_is_caught():
    def rule(g, y, x):
        return 2 * g * x * (0.5 if isinstance(x, Tensor) else 1.0)

    error = failure(op(my_square, rule), a)
    assert str(error).startswith("gradcheck: input 0, index (0,): ")
    assert error.mistake == "factor"


def test_a_rule_that_fails_with_tensors_is_caught():
    def rule(g, y, x):
        if isinstance(x, Tensor):
            raise TypeError("no Tensors, please")
        return 2 * g * x

    assert "no Tensors, please" in str(failure(op(my_square, rule), a))


def test_where_f_has_a_kink_its_gradient_jumps_and_is_not_compared():
    kink = pytest.warns(UserWarning, match=r"kink at input 0 index \(1,\): any slope")
    for f in (mg.relu, mg.abs):
        with kink:
            assert gradcheck(f, [-1.0, 0.0, 2.0], order=2) < 1e-6
    with pytest.warns(UserWarning, match="kink at input 0 index"):
        assert gradcheck(mg.max, [3.0, 3.0, 1.0], order=2) < 1e-6
    with pytest.warns(UserWarning, match=r"second derivative by input 0 index \(0,\)"):
        assert gradcheck(lambda x: x * mg.abs(x), [0.0, 1.0], order=2) < 1e-6


def test_the_other_entries_beside_a_kink_still_count():
    def rule(g, y, x):
        return 2 * g * frozen(x)

    square = op(my_square, rule)
    with pytest.warns(UserWarning, match="kink at input 0 index"):
        failure(lambda x: mg.relu(x) + square(x), [0.0, 1.0])


def test_right_second_derivatives_pass_for_several_inputs():
    right = op(my_softmax, lambda g, y, x: whole(g, y))
    QKV = normal(2, 2), normal(3, 2, seed=1), normal(3, 1, seed=2)
    assert gradcheck(attention(right), *QKV, order=2) < 1e-6
    assert gradcheck(lambda x: mg.exp(x) * 0.0, a, order=2) < 1e-6
    assert (
        gradcheck(lambda x: mg.sin(x) if hasattr(mg, "sin") else x, a, order=2) < 1e-6
    )


def test_the_numbers_of_the_caller_stay_what_they_are():
    given = a.copy()
    gradcheck(mg.exp, given, order=2)
    assert np.array_equal(given, a)
