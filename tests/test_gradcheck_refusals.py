"""What gradcheck refuses before it compares anything: a forward or a rule that writes
into what it was given. The differences of such an f agree with its gradient."""

import numpy as np
import pytest
from conftest import array, normal, same
from own_ops import my_product, my_softmax, my_square, op, whole

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck, primitive

x, a, b = normal(3, 4), normal(3), normal(3, seed=1)


def failure(f, *inputs):
    """Return the error of the check, which must have left its inputs as they were."""
    given = [array(x) for x in inputs]
    with pytest.raises(GradcheckError, match=r"^gradcheck: ") as caught:
        gradcheck(f, *given)
    for x, before in zip(given, inputs, strict=True):
        same(x, before)
    return caught.value


def doubled(x, /):
    x *= 2
    return x


def exponential(x, /):
    return mg.backend.xp.exp(x, out=x)


def softmax_of_shifted(x, /):
    x -= x.max(axis=-1, keepdims=True)  # not again if it is run again
    return my_softmax(x)


def first_doubled(a, b, /):
    a *= 2
    return a + b


# Forwards that write into their input; each rule is right.
FORWARDS = {
    "x *= 2": op(doubled, lambda g, y, x: 2 * g),
    "exp(x, out=x)": op(exponential, lambda g, y, x: g * y),
    "x -= max": op(softmax_of_shifted, lambda g, y, x: whole(g, y)),
}
both = op(first_doubled, lambda g, y, a, b: (2 * g, g))


@pytest.mark.parametrize("name", FORWARDS)
def test_a_forward_that_changes_its_input_is_refused(name):
    error = failure(FORWARDS[name], x)
    assert error.mistake == "input_changed"
    assert "the forward changed input 0" in str(error)


@pytest.mark.parametrize("name", FORWARDS)
def test_a_forward_that_changes_an_interior_value_is_refused(name):
    error = failure(lambda x: mg.exp(FORWARDS[name](x * 1.5)), x)
    assert error.mistake == "input_changed"
    assert "a forward changed what multiply had made" in str(error)


def test_the_input_that_a_forward_changed_is_named():
    assert "the forward changed input 0" in str(failure(both, a, b))
    assert "the forward changed input 1" in str(failure(lambda a, b: both(b, a), a, b))
    constant = array(b)
    assert failure(lambda a: both(constant * 1.0, a), a).mistake == "input_changed"


def ga_and_gb(g, y, a, b):
    ga = g * b
    a *= g
    return ga, a


def into_output(g, y, x):
    y *= 0.0
    return 2 * g * x


def into_g(g, y, x):
    g *= 2 * x
    return g


def clipped_g(g, y, x):
    """Change g where it is large only, by a function of NumPy."""
    g[...] = mg.backend.xp.minimum(g, 1e9)
    g[g > 0.1] = 0.0
    return 2 * g * x


RULES = {  # f, its inputs, what was changed, the mistake
    "an input": (op(my_product, ga_and_gb), (a, b), "input 0", "input_changed"),
    "an interior value": (
        lambda a, b: op(my_product, ga_and_gb)(mg.exp(a), b) * 2.0,
        (a, b),
        "what my_product was given",
        "input_changed",
    ),
    "a constant": (
        lambda b: op(my_product, ga_and_gb)(array(a), b),
        (b,),
        "what my_product was given",
        "input_changed",
    ),
    "the output": (
        op(my_square, into_output),
        (a,),
        "what my_square had made",
        "input_changed",
    ),
    "g": (op(my_square, into_g), (a,), "g", "g_changed"),
    "g, inside": (
        lambda x: mg.tanh(op(my_square, into_g)(x) * 2.0),
        (a,),
        "g",
        "g_changed",
    ),
    "g, in part": (op(my_square, clipped_g), (a,), "g", "g_changed"),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_changes_what_it_is_given_is_refused(name):
    f, inputs, what, mistake = RULES[name]
    error = failure(f, *inputs)
    assert error.mistake == mistake
    assert f"a rule changed {what}: my_" in str(error)


def test_a_rule_that_changes_what_its_forward_kept_is_refused():
    @primitive
    def my_kept_square(x, /):
        return x * x, {"slope": 2 * x}

    @my_kept_square.rule
    def _(g, y, x, slope):
        slope *= g
        return slope

    error = failure(my_kept_square, a)
    assert error.mistake == "input_changed"
    assert "a rule changed what my_kept_square keeps" in str(error)


def test_an_error_of_a_rule_stays_what_it_is():
    def refusing(g, y, x):
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        gradcheck(op(my_square, refusing), a)


def test_what_only_reads_is_not_refused():
    def with_views(g, y, x):
        g = g.reshape(-1)[::-1].copy()
        g *= 2.0  # a copy of its own
        return g[::-1].reshape(x.shape) * x

    assert gradcheck(op(my_square, with_views), x) < 1e-6
    assert gradcheck(lambda x: x, x) < 1e-6
    assert gradcheck(lambda x: mg.broadcast_to(x, (2, 3, 4)) * x, x) < 1e-6
    assert gradcheck(lambda x: mg.softmax(x, mask=x.data > 0) + x.T.T, x) < 1e-6


def test_the_numbers_of_the_caller_stay_the_same_to_the_last_bit():
    given = Tensor(x)
    before = given.numpy()
    for f in (FORWARDS["x *= 2"], op(my_square, into_g), op(my_square, into_output)):
        with pytest.raises(GradcheckError):
            gradcheck(f, given)
    same(given.data, before)
    assert given.grad is None
    assert np.array_equal(x, normal(3, 4))
