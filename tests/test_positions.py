"""Positions: RoPE in the layout of halves, and sinusoids."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same

from attention import rope, sinusoidal
from attention.positions import rotate
from minigrad import Tensor, gradcheck
from minigrad.backend import to_numpy


def rotated(x, t):
    """Return the vector x at position t by the formula, pair by pair."""
    half = len(x) // 2
    y = np.empty(len(x))
    for i in range(half):
        a = t * 10000 ** (-2 * i / len(x))
        y[i] = x[i] * math.cos(a) - x[i + half] * math.sin(a)
        y[i + half] = x[i] * math.sin(a) + x[i + half] * math.cos(a)
    return y


def test_rope_turns_halves_as_the_field_does():  # cases.md 15
    x, y = array([[1.0, 2.0, 3.0, 4.0]]), array([[0.5, -1.0, 2.0, 1.0]])
    close(rope(x, 1), [[-1.984111, 1.959901, 2.462378, 4.019800]], rtol=1e-6)
    close(np.linalg.norm(to_numpy(rope(x, 1))), 30**0.5)
    for s, t in [(3, 1), (7, 5), (102, 100)]:  # each 2 apart
        close(rope(x, s) @ rope(y, t).T, [[-0.130714]], rtol=1e-5)


def test_rope_is_the_formula_at_every_position():
    x = normal(2, 3, 5, 6)
    expected = [
        [[rotated(x[b, h, t], 7 + t) for t in range(5)] for h in range(3)]
        for b in range(2)
    ]
    close(rope(array(x), offset=7), expected)


def test_the_score_depends_on_the_distance_alone():
    q, k = array(normal(1, 8)), array(normal(1, 8, seed=1))
    scores = [
        to_numpy(rope(q, s + 11) @ rope(k, s).T).item() for s in range(0, 900, 30)
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-11)
    further = to_numpy(rope(q, 12) @ rope(k, 0).T).item()
    assert abs(further - scores[0]) > 1e-3


def test_an_offset_continues_where_the_rest_ends():
    x = array(normal(3, 9, 4), "f4")
    same(rope(x)[:, 5:], to_numpy(rope(x[:, 5:], offset=5)))


@pytest.mark.parametrize(
    ("dtype", "error"), [("f2", 2e-3), ("f4", 3e-7), ("f8", 1e-11)]
)
def test_angles_keep_their_digits_far_out(dtype, error):
    x, t = normal(1, 8), 100_003  # float16 has no such number, float32 no such angle
    y = rope(array(x, dtype), offset=t)
    assert y.dtype == np.dtype(dtype)
    expected = rotated(x[0].astype(dtype).astype(float), t)
    close(y, expected[None], rtol=0, atol=error * 4)


def test_gradients():
    gradcheck(lambda x: rope(x, offset=3), normal(2, 3, 4), order=2)


def test_a_rule_that_turned_on_instead_of_back_is_caught(monkeypatch):
    monkeypatch.setattr(
        rotate, "vjp", lambda g, y, x, cos, sin: rotate(g, cos=cos, sin=sin)
    )
    with pytest.raises(AssertionError, match="got"):
        gradcheck(rope, normal(3, 4))


def test_sinusoids_are_the_formula():
    P = to_numpy(sinusoidal(50, 6))
    for t, j in np.ndindex(50, 6):
        a = t * 10000 ** (-(j - j % 2) / 6)
        assert P[t, j] == pytest.approx(
            math.cos(a) if j % 2 else math.sin(a), abs=1e-13
        )


def test_a_shift_turns_all_sinusoids_alike():
    P = to_numpy(sinusoidal(3007, 8))
    now, later = P[:3000], P[7:]
    turn, *_ = np.linalg.lstsq(now, later, rcond=None)
    close(now @ turn, later, rtol=0, atol=1e-12)
    close(turn @ turn.T, np.eye(8), rtol=0, atol=1e-11)


def test_integers_are_rotated_as_floats():
    x = np.arange(8).reshape(2, 4)
    same(rope(array(x), 3), rope(array(x, float), 3))


@pytest.mark.parametrize(
    "make", [lambda d: rope(Tensor(normal(2, d))), lambda d: sinusoidal(4, d)]
)
def test_odd_widths_are_refused(make):
    with pytest.raises(ValueError, match="width 5 is not even"):
        make(5)


def test_an_array_of_positions_is_refused():
    with pytest.raises(ValueError, match=r"offset \(4,\) int64 is not one number"):
        rope(Tensor(normal(4, 2)), offset=np.arange(4))
