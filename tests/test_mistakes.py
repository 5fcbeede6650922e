"""What gradcheck says of a wrong gradient: each mistake by its name, planted in several
ways; no name for what it does not know; and which inputs are right."""

import math

import numpy as np
import pytest
from conftest import normal, numpy_only
from own_ops import (
    attention,
    back,
    fixed,
    my_center,
    my_commutator,
    my_difference,
    my_log_softmax,
    my_matmul,
    my_mean,
    my_product,
    my_relu,
    my_softmax,
    my_square,
    my_square_times,
    my_standard,
    my_sum,
    my_transpose,
    my_variance,
    op,
    total,
    turn,
    whole,
)

import minigrad as mg
from minigrad import GradcheckError, Tensor, gradcheck
from minigrad.gradcheck import mistakes

# Names are found from numbers on the host, so one backend is enough for most of it.


def failure(f, *inputs):
    """Return the error of the check."""
    with pytest.raises(GradcheckError, match=r"^gradcheck: ") as caught:
        gradcheck(f, *inputs)
    return caught.value


def times_exchanged(a, b, c):
    return a * exchanged(b, c)


def near(x, point):
    if np.abs(mg.backend.to_numpy(x) - point).max() > 0.01:
        raise ValueError("too far away")
    return x


x, a, b, oblong = normal(3, 4), normal(3), normal(3, seed=1), normal(3, 2, seed=2)
A, B, cubes = normal(3, 3), normal(3, 3, seed=9), (normal(2, 3, 3), normal(2, 3, 3))
QKV = normal(2, 3), normal(4, 3, seed=1), normal(4, 2, seed=2)

minus = op(my_softmax, lambda g, y, x: -whole(g, y))
too_much = op(my_softmax, lambda g, y, x: 17 * whole(g, y))
root_3 = op(my_softmax, lambda g, y, x: math.sqrt(3) * whole(g, y))
diagonal = op(my_softmax, lambda g, y, x: g * y * (1 - y))
untied = op(my_softmax, lambda g, y, x: g * y)
second_minus = op(my_product, lambda g, y, a, b: (g * b, -g * a))
exchanged = op(my_product, lambda g, y, a, b: (g * a, g * b))
both_plus = op(my_difference, lambda g, y, a, b: (g, g))
not_spread = op(my_mean, lambda g, y, x: back(g, x))
too_spread = op(my_sum, lambda g, y, x: back(g / x.size, x))
half = op(my_square, lambda g, y, x: g * x)
half_second = op(my_matmul, lambda g, y, a, b: (g @ b.T, a.T @ g / 2))
first_turned = op(my_matmul, lambda g, y, a, b: ((g @ b.T).T, a.T @ g))
second_turned = op(my_matmul, lambda g, y, a, b: (g @ turn(b), turn(turn(a) @ g)))
crossed = op(my_matmul, lambda g, y, a, b: (a.T @ g, g @ b.T))
not_turned = op(my_transpose, lambda g, y, x: g.reshape(x.shape))

# mistake, the input it is named for, what is right, what else is said, f, its inputs
PLANTED = [
    ("sign", 0, "none", "", minus, x),
    ("sign", 0, "input 2", "", attention(minus), *QKV),
    ("sign", 1, "input 0", "", second_minus, a, b),
    ("sign", 1, "input 0", "", both_plus, A, a),
    ("sign", 1, "input 0", "", second_minus, a, 2.0),
    ("factor", 0, "none", "times 17", too_much, x),
    ("factor", 0, "input 2", "1.732051 = √3, and 3 is", attention(root_3), *QKV),
    ("factor", 0, "none", "times 3, and 3 is the length of an axis", not_spread, a),
    ("factor", 0, "none", " = 1/12, and 12 is the size of an input", too_spread, x),
    ("factor", 0, "none", "times 0.5 = 1/2", half, a),
    ("factor", 1, "input 0", "times 0.5 = 1/2", half_second, A, B),
    ("transposed", 0, "input 1", "", first_turned, A, B),
    ("transposed", 1, "input 0", "", second_turned, *cubes),
    ("transposed", 0, "none", "", not_turned, A),
    ("transposed", 0, "none", "", not_turned, oblong),
    ("swapped", 0, "none", "that of input 1", crossed, A, B),
    ("swapped", 1, "input 0", "that of input 2", times_exchanged, a, b, a),
    ("swapped", 0, "none", "that of input 1", exchanged, 2.0, 3.0),
    ("no_path", 0, "input 1", "", lambda a, b: a.detach() * b, a, b),
    ("no_path", 1, "input 0", "", lambda a, b: Tensor(b.data) * a, a, b),
    ("no_path", 0, "none", "", lambda a: mg.exp(a.data), a),
    ("not_centred", 0, "none", "axis -1", diagonal, x),
    ("not_centred", 0, "none", "axis -1", diagonal, a),
    ("not_centred", 0, "none", "axis -2", lambda x: diagonal(x.T).T, x),
    ("not_centred", 0, "none", "", untied, x),
    ("not_centred", 0, "input 1", "", lambda x, V: untied(x) @ V, A, oblong),
    ("not_centred", 1, "input 2", "axis -2", attention(untied), a, *QKV[1:]),
    ("not_centred", 0, "none", "", op(my_log_softmax, lambda g, y, x: g), x),
    ("not_centred", 0, "none", "", op(my_center, lambda g, y, x: g), x),
    ("not_centred", 0, "none", "", op(my_variance, lambda g, y, x: 2 * g * x / 3), a),
    ("not_centred", 0, "none", "", op(my_standard, fixed), x),
]
every_plant = pytest.mark.parametrize("plant", PLANTED, ids=lambda p: p[0])


@every_plant
def test_a_mistake_is_named_and_so_is_what_is_right(plant):
    mistake, k, right, said, f, *inputs = plant
    error = failure(f, *inputs)
    assert error.mistake == mistake
    first, second = str(error).split("\n")
    assert first.endswith(f"(right: {right})")
    assert second.startswith(f"input {k}: ")
    assert said in second


@numpy_only
@every_plant
def test_no_entry_of_the_list_could_be_left_out(plant, monkeypatch):
    rest = [entry for entry in mistakes.MISTAKES if entry[0] != plant[0]]
    assert len(rest) == len(mistakes.MISTAKES) - 1
    monkeypatch.setattr(mistakes, "MISTAKES", rest)
    error = failure(*plant[4:])
    assert error.mistake is None
    assert "\n" not in str(error)


def test_every_name_is_planted():
    assert {plant[0] for plant in PLANTED} == {name for name, *_ in mistakes.MISTAKES}


UNKNOWN = {
    "the sum along the other axis": (op(my_softmax, lambda g, y, x: whole(g, y, 0)), x),
    "y squared": (op(my_softmax, lambda g, y, x: y * whole(g, y)), x),
    "y forgotten": (op(my_softmax, lambda g, y, x: g - total(g * y)), x),
    "all zero": (op(my_softmax, lambda g, y, x: 0 * g), x),
    "something added": (op(my_softmax, lambda g, y, x: g * y + x), x),
    "some entries only": (
        op(my_softmax, lambda g, y, x: whole(g, y) * (1 + 0.001 * (x > 0.6))),
        x,
    ),
    "NaN": (op(my_softmax, lambda g, y, x: g * math.nan), x),
    "matrices in the wrong order": (
        op(my_matmul, lambda g, y, a, b: (turn(b) @ g, g @ turn(a))),
        *(A, B),
    ),
    "not transposed": (op(my_matmul, lambda g, y, a, b: (g @ b, a @ g)), A, B),
    "sign, of one number": (op(my_square, lambda g, y, x: -2 * g * x), 3.0),
    "factor, of one number": (half, 3.0),
    "nothing to see: Σ softmax is 1": (lambda x: untied(x).sum(), x),
    "sign or swapped": (op(my_difference, lambda g, y, a, b: (-g, g)), a, b),
    "sign or transposed": (op(my_commutator, lambda g, y, x: turn(g) - g), A),
    "factor, by chance": (op(my_square, lambda g, y, x: g * x * x), [3.0, 3.0, 3.0]),
    "swapped, by chance": (
        op(my_square_times, lambda g, y, a, b: (g * b * b, 2 * g * a * b)),
        *(a, a),
    ),
    "factor, for one u": (op(my_sum, lambda g, y, x: back(g * g, x)), a),
    "f refuses the points nearby": (lambda x: minus(near(x, a)), a),
    "at a kink": (
        op(my_relu, lambda g, y, x: g * (x > 0) + 1.5 * g * (x == 0)),
        [0.0, 1],
    ),
}


@numpy_only
@pytest.mark.parametrize("name", UNKNOWN)
def test_where_the_numbers_leave_a_choice_there_is_no_name(name):
    error = failure(*UNKNOWN[name])
    assert error.mistake is None
    assert "\n" not in str(error)


def test_a_witness_of_two_points_is_enough_for_a_name():
    """As for an exercise, where the right rule is at hand and no differences are."""

    def witness(seed, c):
        right = normal(3, 5, seed=seed)  # for two g and for g = 0
        right[-1] = 0.0
        return mistakes.Witness(
            outputs=4,
            path=[True],
            got=[c * right],
            expected=[right],
            own=[None],
            right=lambda k, a: np.allclose(a, right, rtol=1e-9),
        )

    named = mistakes.name_mistake
    assert named(0, [witness(0, -1), witness(1, -1)], ["dx"])[0] == "sign"
    assert named(0, [witness(0, 1 / 5), witness(1, 1 / 5)], ["dx"]) == (
        "factor",
        "dx: every entry is the right one times 0.2 = 1/5, and 5 is the length of an axis",
    )
    assert named(0, [witness(0, -1), witness(1, -2)], ["dx"]) is None
