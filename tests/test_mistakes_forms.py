"""Random wrong formulas get no name from gradcheck; right rules written otherwise pass."""

import itertools
from functools import partial

import numpy as np
from conftest import normal, numpy_only
from own_ops import (
    attention,
    back,
    my_center,
    my_log_softmax,
    my_matmul,
    my_product,
    my_softmax,
    my_square,
    my_sum,
    my_variance,
    op,
    total,
    turn,
)
from test_mistakes import failure

import minigrad as mg
from minigrad import gradcheck

a, b, x, cube = normal(3), normal(3, seed=1), normal(3, 4), normal(2, 3, 3)
A, B, oblong = normal(3, 3), normal(3, 3, seed=9), normal(3, 2, seed=2)


def mixed(c, *terms):
    return sum(c * term for c, term in zip(c, terms, strict=False))


# Formulas of terms that occur, with coefficients c that make them wrong.


def softmax(c, g, y, x):
    return mixed(c, g * y, y * total(g * y), g * y * y, y * total(g), g * x, g)


def log_softmax(c, g, y, x):
    e = mg.exp(y)
    return mixed(c, g, e * total(g), g * e, total(g * e) + 0 * g, y * g)


def product(c, g, y, a, b):
    ga, gb = g * a, g * b
    return mixed(c, gb, ga, g, g * y, ga * a), mixed(c[5:], ga, gb, g, g * y, gb * b)


def matmul(c, g, y, a, b):
    gb, ag = g @ turn(b), turn(a) @ g
    return mixed(c, gb, turn(gb), g @ b, g, ag), mixed(
        c[5:], ag, turn(ag), a @ g, g, gb
    )


def square(c, g, y, x):
    return mixed(c, g * x, g * y, g, x * total(g))


def variance(c, g, y, x):
    return mixed(c, g * x, back(g, x), g * total(x) + 0 * x, g * y * x)


def formulas(coefficients):
    """Yield f and its inputs, of one op after the other, without end.

    coefficients(n) returns n of them.
    """
    small = normal(2, 3)

    def made(forward, formula):
        return op(forward, partial(formula, coefficients(10)))

    while True:
        yield made(my_softmax, softmax), small
        yield attention(made(my_softmax, softmax)), small, normal(3, 3), normal(3, 1)
        yield made(my_log_softmax, log_softmax), small
        yield made(my_product, product), a, b
        yield made(my_matmul, matmul), A[:2, :2], B[:2, :2]
        yield made(my_square, square), a
        yield made(my_variance, variance), a


@numpy_only
def test_a_hundred_random_formulas_get_no_name():
    random = np.random.default_rng(0).standard_normal
    for f, *inputs in itertools.islice(formulas(random), 100):
        assert failure(f, *inputs).mistake is None


SUMMED = "...i,...i->..."
RIGHT = [  # a forward, rules for it that are right, inputs for each
    (
        my_softmax,
        [
            lambda g, y, x: y * g - y * total(y * g),
            lambda g, y, x: -(total(g * y) - g) * y,
            lambda g, y, x: y * (g - mg.einsum(SUMMED, g, y)[..., None]),
            lambda g, y, x: mg.exp(mg.log_softmax(x)) * (g - total(g * y)),
            lambda g, y, x: (
                y * total((g[..., None] - g[..., None, :]) * y[..., None, :])[..., 0]
            ),
            lambda g, y, x: mg.exp(x) / total(mg.exp(x)) * g - y * total(y * g),
        ],
        [(a,), (x,), (cube,)],
    ),
    (
        my_log_softmax,
        [
            lambda g, y, x: g - mg.exp(y) * total(g),
            lambda g, y, x: g - mg.softmax(x) * mg.einsum("...i->...", g)[..., None],
            lambda g, y, x: -(mg.exp(x) / total(mg.exp(x)) * total(g) - g),
        ],
        [(a,), (x,), (cube,)],
    ),
    (
        my_product,
        [
            lambda g, y, a, b: (b * g, a * g),
            lambda g, y, a, b: (y / a * g, y / b * g),
            lambda g, y, a, b: (-g * -b, (a + a) * g / 2),
        ],
        [(a, b), (A, B), (A, b)],
    ),
    (
        my_matmul,
        [
            lambda g, y, a, b: (g @ b.T, a.T @ g),
            lambda g, y, a, b: ((b @ g.T).T, (g.T @ a).T),
            lambda g, y, a, b: (
                mg.einsum("ik,jk->ij", g, b),
                mg.einsum("ij,ik->jk", a, g),
            ),
        ],
        [(A, B), (A, oblong)],
    ),
    (
        my_square,
        [
            lambda g, y, x: g * (x + x),
            lambda g, y, x: 2 * g * y / x,
            lambda g, y, x: x * g - -g * x,
        ],
        [(a,), (x,)],
    ),
    (
        my_center,
        [
            lambda g, y, x: g - total(g) / g.shape[-1],
            lambda g, y, x: my_center(g),
        ],
        [(a,), (x,)],
    ),
    (my_sum, [lambda g, y, x: back(g, x), lambda g, y, x: g + 0 * x], [(a,), (x,)]),
]


@numpy_only
def test_fifty_right_rules_in_other_forms_pass():
    passed = 0
    for forward, rules, choices in RIGHT:
        for rule, inputs in itertools.product(rules, choices):
            assert gradcheck(op(forward, rule), *inputs) < 1e-6
            passed += 1
    assert passed >= 50
