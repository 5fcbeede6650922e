"""Clipping of gradients at its edges, and the schedule of the learning rate."""

import fakecupy
import numpy as np
import pytest
from conftest import array, close, same
from plain_optimisers import tensor

from minigrad.optim import clip_grad_norm, warmup_cosine


@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e30])
def test_clipping_scales_all_gradients_together(unit):
    a, b = tensor([0.0], 3 * unit, "f4"), tensor([[0.0]], 4 * unit, "f4")
    unused, a_before = tensor([1.0]), a.grad
    reads = fakecupy.reads
    norm = clip_grad_norm([a, b, unused, a], unit)
    assert fakecupy.reads - reads == (type(a.grad) is fakecupy.ndarray)  # the norm
    assert type(norm) is float and norm == pytest.approx(5 * unit, rel=1e-6)
    assert a.grad.dtype == b.grad.dtype == "f4" and unused.grad is None
    close(a.grad, np.array([0.6 * unit], "f4"), rtol=1e-6)
    close(b.grad, np.array([[0.8 * unit]], "f4"), rtol=1e-6)
    close(a_before, np.array([3 * unit], "f4"))


@pytest.mark.parametrize(
    ("gradient", "norm"), [([0.0, 0.0], 0.0), ([3.0, 4.0], 5.0), (None, 0.0)]
)
def test_clipping_leaves_gradients_within_the_limit_as_they_are(gradient, norm):
    p = tensor([0.0, 0.0], gradient)
    before = p.grad
    assert clip_grad_norm([p], 5.0) == norm
    assert p.grad is before


def test_clipping_survives_squares_beyond_float64():
    p = tensor([0.0, 0.0], [3e200, -4e200])
    assert clip_grad_norm([p], np.float32(1.0)) == pytest.approx(5e200, rel=1e-12)
    close(p.grad, [0.6, -0.8])


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_norm_that_is_not_finite_is_refused_and_changes_nothing(bad):
    p, q = tensor([1.0, 1.0], [3.0, 4.0]), tensor([[1.0]], bad)
    with pytest.raises(FloatingPointError, match=r"gradients of shape \[\(1, 1\)\]"):
        clip_grad_norm([p, q], 1.0)
    same(p.grad, [3.0, 4.0])
    same(q.grad, [[bad]])


def test_the_schedule_rises_then_falls_then_stays():
    rates = [warmup_cosine(step, 10, 110, high=1e-3, low=1e-4) for step in range(200)]
    close(rates[:11], np.arange(1, 12) * 1e-3 / 11, rtol=1e-13)
    assert (np.diff(rates[10:111]) < 0).all() and rates[60] == pytest.approx(5.5e-4)
    assert set(rates[110:]) == {1e-4}
    assert warmup_cosine(5, 5, 5, high=1.0) == 0.0  # nothing left to fall through


def test_the_schedule_may_fall_to_0_at_once_and_takes_any_numbers():
    assert warmup_cosine(0, 0, 0, 1.0) == 0.0
    assert warmup_cosine(np.int64(0), 0, 10, np.float32(1.0)) == 1.0
    assert warmup_cosine(2.5, 0, 5.0, 1.0) == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["step", "warmup", "total", "high", "low"])
def test_the_schedule_takes_no_number_below_0(name):
    numbers = {"step": 1, "warmup": 2, "total": 3, "high": 1.0, "low": 0.1}
    for x in [-5, -0.1, np.nan, None, "a", [1, 2], 1j]:
        with pytest.raises((ValueError, TypeError), match=f"^warmup_cosine: {name} "):
            warmup_cosine(**(numbers | {name: x}))


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_a_clipped_gradient_has_the_type_of_its_parameter(dtype):
    p = tensor([0.0, 0.0], dtype=dtype)
    p.grad = array([3.0, 4.0])  # float64
    assert clip_grad_norm([p], 1.0) == 5.0
    assert p.grad.dtype == dtype
    close(p.grad, np.array([0.6, 0.8], dtype), rtol=1e-3)


@pytest.mark.parametrize("max_norm", [-1, np.nan, None, "a", [1, 2]])
def test_the_limit_is_a_number_of_at_least_0(max_norm):
    p = tensor([1.0], [2.0])
    with pytest.raises((ValueError, TypeError), match="^clip_grad_norm: max_norm "):
        clip_grad_norm([p], max_norm)
    same(p.grad, [2.0])
