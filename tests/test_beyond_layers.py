"""The claims E4 to E7 and E9, as test_beyond.py has those before them."""

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only

from demos.e_beyond import collapse, key_width, pronouns, sharpness, sinks
from demos.stage import datasets
from minigrad import backend as B
from minigrad import matmul

SEEDS = range(5)


# E4
@numpy_only
def test_an_idle_head_parks_its_weight_and_an_empty_entry_takes_it(monkeypatch):
    monkeypatch.setattr(sinks, "BATCH", 12)
    without, entry = (
        sinks.measure(*sinks.train(entry, steps=400)) for entry in (False, True)
    )
    idle, works, none, size, right = without.values()
    assert idle > 0.18
    assert idle > 4 * works
    assert none == 0
    assert size < 0.8
    moved, _, taken, _, still_right = entry.values()
    assert moved < 0.25
    assert taken > 0.4
    assert min(right, still_right) > 0.9


def test_after_three_letters_the_one_before_comes_again():
    follows = np.random.default_rng(0).dirichlet([0.3] * 16, size=16)
    ids = sinks.texts(np.random.default_rng(1), follows, 200)
    assert (ids[:, 0] == sinks.START).all()
    assert ids[:, 1:].max() < sinks.START
    asks = ids[:, 1:-1] < sinks.COPY
    assert (ids[:, 2:][asks] == ids[:, :-2][asks]).all()
    assert 0.02 < asks.mean() < 0.5


# E5
@numpy_only
@pytest.mark.parametrize("seed", SEEDS[:2])  # as it trains
def test_a_blend_of_m_keys_takes_m_minus_1_dimensions_and_one_key_two(seed):
    dense, permutation = key_width.targets(seed, m=6)
    left, log_A, *_ = key_width.fit(dense, (1, 3, 5, 6), steps=500, seed=seed)
    assert [key_width.rank(scores) for scores in log_A] == [1, 3, 5, 5]
    assert left[0] > left[1] > 20 * left[2]
    assert left[2] < 1e-3
    one, two = key_width.fit(permutation, (1, 2), steps=500, seed=seed)[0]
    assert one > 0.3
    assert two < 0.02


# E6
@pytest.mark.parametrize("seed", SEEDS)
def test_lookups_alone_make_all_rows_one_and_the_residual_path_keeps_them(seed):
    alone, mlp, skips, block = (
        [collapse.residual(X) for X in kind(seed)] for kind in collapse.KINDS.values()
    )
    assert alone[0] > 0.9
    assert alone[4] < 1e-9
    assert mlp[3] < 1e-5
    assert min(skips[-1], block[-1]) > 0.15
    assert np.log(alone[2]) / np.log(alone[1]) > 3  # faster than the paper's cube


def test_what_rows_share_is_not_counted():
    X = normal(5, 3)
    assert collapse.residual(np.ones((5, 3))) == 0
    assert collapse.residual(X - X.mean(axis=0)) == pytest.approx(1)


# E7
@pytest.mark.parametrize("seed", SEEDS)
def test_the_hessian_of_logsumexp_is_the_covariance(seed):
    assert sharpness.hessian_apart(seed) < 1e-10


@pytest.mark.parametrize("start", [0.5, 1.0, 2.0, 3.0])
def test_newton_finds_the_bandwidth_in_six_steps(start):
    path = sharpness.newton(start, *datasets.columns("mcycle.csv"))
    assert len(path) == 7
    assert path[-1] == pytest.approx(0.9138, abs=1e-4)
    assert abs(path[-1] / path[-2] - 1) < 1e-7


def test_power_iteration_finds_the_largest_curvature():
    H = normal(6, 6)
    H = H @ H.T
    start = B.xp.ones(6) / 6
    size, v = sharpness.largest_curvature(
        lambda x: matmul(array(H), x), 0 * start, start, rounds=200
    )
    close(size, np.linalg.eigvalsh(H)[-1], rtol=1e-6)
    close(H @ B.to_numpy(v), size * B.to_numpy(v), rtol=0, atol=1e-3 * size)


@numpy_only
@pytest.mark.parametrize("seed", SEEDS[:2])  # as it trains
def test_descent_ends_at_the_edge_of_stability(seed):
    for rate in (1.0, 0.5):
        sizes = sharpness.descend(rate, seed, steps=240)
        assert 0.85 < sizes[-4:].mean() * rate / 2 < 1.25


# E9
def test_the_head_asks_for_kinds_and_the_cosine_for_what_is_alike():
    data = pronouns.words()
    hits = {k: pronouns.right(data, s) for k, s in pronouns.scores(data).items()}
    counts = {name: int(hit.sum()) for name, hit in hits.items()}
    assert counts == {"dot": 61, "cosine": 63, "the head": 83, "bilinear": 83}
    by_kind = {p: hits["the head"][data["kind"] == p].mean() for p in data["pronouns"]}
    assert by_kind == pytest.approx(
        {"she": 1, "he": 23 / 24, "it": 0.6, "they": 0.84}, abs=1e-9
    )
    swapped = data | {"W_q": data["W_k"], "W_k": data["W_q"]}
    assert pronouns.right(data, pronouns.scores(swapped)["the head"]).sum() < 80
