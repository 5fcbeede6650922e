"""What the demos compute for the chapter's claims A and B: numbers checked by another
way, and the checks themselves on cases that they must reject."""

import re
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import close, normal, numpy_only

from attention import dot, scaled_dot
from demos import DEMOS
from demos.a_lookup import hull, lookup, scores, smoothing, soft_argmax
from demos.b_gradient import covariance, saturation, underflow
from demos.stage import datasets, drawing

ROWS = {"A": 9, "B": 6, "C": 5, "D": 5}  # of the list of claims


def test_every_claim_has_its_demo():
    sources = [find_spec(demo.module).origin for demo in DEMOS]
    text = "".join(Path(path).read_text(encoding="utf-8") for path in sources)
    claimed = set(re.findall(r'page\.claim\(\s*"([A-D]\d)"', text))
    assert claimed == {f"{k}{i + 1}" for k, n in ROWS.items() for i in range(n)}


# A2, A3, A9
def test_six_scores_go_through_the_same_lines():
    for by_attention, by_formula in scores.weights_by_score(seed=7).values():
        close(by_attention, by_formula)
        assert by_attention.min() > 0
        assert by_attention.sum() == pytest.approx(1, abs=1e-12)


def test_an_empty_dictionary_answers_zeros():
    assert [x.tolist() for x in scores.empty()] == [[0, 0], [0, 0]]


# A4
def test_what_is_left_over_is_counted_where_1_minus_the_best_rounds_to_0():
    scores = np.array([3.0, 1.0, 0.0])
    rest, bound = soft_argmax.left_over(scores, np.array([0.5, 30.0]))
    e = np.exp(np.outer([0.5, 30.0], [-2.0, -3.0])).sum(axis=1)  # below the best
    close(rest, e / (1 + e))
    close(bound, 2 * np.exp([-1.0, -60.0]))
    assert 1 - soft_argmax.sharpen(scores, np.array([30.0]))[0, 0] == 0 < rest[1]


def test_entropy_is_log_m_at_uniform_weights_and_0_at_one_hot_ones():
    close(soft_argmax.entropy(np.full(7, 1 / 7)), np.log(7))
    assert soft_argmax.entropy(np.eye(3)).tolist() == [0, 0, 0]


# A5, A8
@pytest.mark.parametrize("seed", range(5))
def test_the_hull_holds_its_points_and_nothing_further_out(seed):
    points = normal(9, 2, seed=seed)
    corners = drawing.hull(points)
    assert drawing.outside(corners, points).max() < 1e-12
    assert {tuple(c) for c in corners} <= {tuple(p) for p in points}
    pushed = points.mean(axis=0) + 1.01 * (corners - points.mean(axis=0))
    assert drawing.outside(corners, pushed).min() > 0
    middles = (corners + np.roll(corners, 1, axis=0)) / 2  # inside if it is convex
    assert np.abs(drawing.outside(corners, middles)).max() < 1e-12


def test_outputs_stay_in_the_hull_and_weights_that_do_not_sum_to_1_would_leave_it():
    corners = drawing.hull(hull.VALUES)
    out, weights = hull.answer(40 * normal(500, 8))
    assert drawing.outside(corners, out).max() < 1e-12
    assert drawing.outside(corners, 1.05 * weights @ hull.VALUES).max() > 0.01


def test_a_query_is_pulled_to_a_target_inside_and_to_the_edge_before_one_outside():
    inside = np.array([0.5, -0.5])
    close(hull.pull_to(inside)[-1], inside, rtol=0, atol=1e-3)
    corners = drawing.hull(hull.VALUES)
    edge = hull.nearest(corners, hull.TARGET)
    assert abs(drawing.outside(corners, edge[None])[0]) < 1e-12
    close(hull.pull_to(hull.TARGET)[-1], edge, rtol=0, atol=0.05)


# A6
@pytest.mark.parametrize(
    ("name", "sigma", "error"),
    [("mcycle.csv", 0.914, 595.9), ("old_faithful.csv", 0.261, 32.30)],
)
def test_the_bandwidth_that_gradients_find_is_the_optimum(name, sigma, error):
    x, y = datasets.columns(name)

    def by_formula(s):
        kernel = np.exp(-((x[:, None] - x) ** 2) / (2 * s * s))
        np.fill_diagonal(kernel, 0)
        return ((y - kernel @ y / kernel.sum(axis=1)) ** 2).mean()

    found, lowest = smoothing.learn_sigma(0.3, x, y)[-1]
    assert abs(found / sigma - 1) < 0.005
    assert abs(lowest / error - 1) < 1e-3
    close(lowest, by_formula(found))
    for s in np.geomspace(0.15, 10, 200):  # no valley anywhere is lower
        assert lowest <= by_formula(s) * (1 + 1e-6)


def test_from_a_wide_start_the_geyser_ends_in_its_higher_valley():
    x, y = datasets.columns("old_faithful.csv")
    (_, lower), (sigma, higher) = (
        smoothing.learn_sigma(start, x, y)[-1] for start in (0.1, 5.0)
    )
    assert 0.55 < sigma < 0.62
    assert 1.001 < higher / lower < 1.005


# B1, B2
def test_a_check_of_softmax_with_ones_sees_nothing_and_a_random_one_does():
    x, g = normal(3, 5), normal(3, 5, seed=1)
    y = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    by_hand = y * (g - (g * y).sum(axis=1, keepdims=True))
    close(covariance.softmax_gradient(x, g), by_hand)
    close(covariance.softmax_gradient(x, np.ones((3, 5))), 0 * x, atol=1e-15)
    assert max(error for _, error in covariance.against_closed_forms(seed=3)) < 1e-10


def test_the_field_is_the_slope_of_the_output():
    queries, step = normal(20, 2), 1e-6
    _, slope = covariance.field(queries)
    for axis in (0, 1):
        nudge = step * np.eye(2)[axis]
        (up, _), (down, _) = (covariance.field(queries + d) for d in (nudge, -nudge))
        close(slope[:, axis], (up - down) / (2 * step), rtol=0, atol=1e-8)
    close(slope, covariance.formula(queries), rtol=0, atol=1e-14)


@numpy_only
def test_the_window_follows_its_sliders():
    figure, (angle, power) = lookup.window()
    answer = figure.axes[1]
    for key, degrees in [(0, 10), (3, 215)]:
        angle.set_val(degrees)
        power.set_val(-2)
        (discs,) = answer.collections  # one for each value, as full as its weight
        close(np.array(discs.get_array()), np.eye(5)[key], rtol=0, atol=1e-6)
    plt.close(figure)


# B3
@pytest.mark.parametrize(
    ("dtype", "loser", "winner"),
    [("float16", 17.33, 8.0), ("float32", 103.97, 17.7), ("float64", 745.13, 37.8)],
)
def test_gaps_at_which_gradients_become_0(dtype, loser, winner):
    assert underflow.last_gap(dtype, 1) == pytest.approx(loser, abs=0.02)
    assert underflow.last_gap(dtype, 0) == pytest.approx(winner, abs=0.2)
    before, after = underflow.gradients([loser - 0.1, loser + 0.1], dtype)[:, 1]
    assert before > 0 == after


# B4, B5
def test_two_keys_lose_their_gradient_at_every_step_of_sharpening():
    s = np.outer(np.linspace(0, 20, 50), [1.0, 0.0])
    sizes = saturation.size(
        saturation.score_jacobian(np.exp(s) / np.exp(s).sum(1)[:, None])
    )
    close(sizes[0], 0.5)
    assert (np.diff(sizes) < 0).all()


@pytest.mark.parametrize(
    ("d", "weight", "J"), [(4, 0.35, 0.29), (64, 0.81, 0.19), (1024, 0.96, 0.06)]
)
def test_unscaled_scores_saturate_with_the_width_and_scaled_ones_do_not(d, weight, J):
    variance, top, size = saturation.by_width(d, dot)
    assert variance == pytest.approx(d, rel=0.05)
    assert (top, size) == pytest.approx((weight, J), abs=0.01)
    variance, top, size = saturation.by_width(d, scaled_dot)
    assert (variance, top, size) == pytest.approx((1, 0.162, 0.24), abs=0.05)
