"""The claims E1 to E7 and E9, at sizes that train in seconds (at those of the demos they
held for five seeds); and what the demos measure with, against other ways to get there."""

import functools
import re

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only

from demos.e_beyond import (
    collapse,
    dictionaries,
    dispersion,
    hopfield,
    key_width,
    pronouns,
    sharpness,
    sinks,
    spelling,
)
from demos.stage import datasets
from minigrad import backend as B
from minigrad import matmul

SEEDS = range(5)


def test_every_claim_beyond_the_chapter_has_its_demo():
    folder = datasets.FOLDER.parent / "e_beyond"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    claimed = set(re.findall(r'page\.claim\(\s*"(E\d)"', text))
    assert claimed == {f"E{i}" for i in range(1, 10)}


# E1
@pytest.mark.parametrize("seed", SEEDS)
def test_a_lookup_is_a_gradient_step_and_goes_downhill(seed):
    apart, energies = hopfield.descend(seed)
    assert apart < 1e-13
    assert (np.diff(energies, axis=0) < 1e-12).all()
    assert (energies[0] - energies[-1]).min() > 0.1


def test_keys_of_another_length_than_values_are_no_gradient(monkeypatch):
    look = hopfield.attention
    monkeypatch.setattr(
        hopfield, "attention", lambda q, K, V, score: look(q, K, 1.01 * V, score)
    )
    assert hopfield.descend()[0] > 1e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_patterns_far_apart_come_back_and_crowded_ones_do_not(seed):
    wide, narrow = hopfield.repair(100, 64, seed), hopfield.repair(100, 16, seed)
    assert np.median(wide) < 1e-12
    assert 1e-3 < np.median(narrow) < 0.03
    assert narrow.mean() > 1.5 * np.median(narrow)
    assert np.median(hopfield.repair(4000, 32, seed)) < 1e-3
    assert np.median(hopfield.repair(4000, 16, seed, tried=200)) > 0.1


@pytest.mark.parametrize("half", hopfield.HALVES)
def test_most_digits_come_back_from_half(half):
    images = hopfield.digits(500)
    erased, repaired, right = hopfield.complete(images, half)
    assert (erased == 0).sum(axis=(1, 2)).min() >= 32
    assert 0.7 < right.mean() < 1
    close(repaired[right], images[right], rtol=0, atol=0.25)
    assert hopfield.complete(images, half, beta=3.0)[2].mean() < 0.1  # too soft: a mean


# E2
@pytest.mark.parametrize("seed", SEEDS)
def test_adding_blurs_by_the_root_of_the_number_of_the_others(seed):
    assert dictionaries.spread(16, seed) == pytest.approx(1, abs=0.05)
    assert dictionaries.spread(256, seed) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_correcting_is_the_engines_gradient_step_and_rewrites_a_key(seed):
    rng = np.random.default_rng(seed)
    S, (k, v) = normal(64, 64, seed=seed), dictionaries.directions(rng, 2)
    for beta in (0.3, 1.0):
        by_rule = dictionaries.correct(S, k, v, beta)
        close(by_rule, dictionaries.gradient_step(S, k, v, beta), rtol=0, atol=1e-15)
    added, corrected = dictionaries.add, dictionaries.correct
    assert dictionaries.rewritten(added, 0, seed) == pytest.approx(1)
    assert 0.8 < dictionaries.rewritten(added, 16, seed) < 1.4
    assert dictionaries.rewritten(corrected, 16, seed) < 1e-14
    half = functools.partial(corrected, beta=0.5)
    assert dictionaries.rewritten(half, 16, seed) > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_corrected_dictionary_knows_the_last_and_a_compared_one_all(seed):
    added, corrected, compared = dictionaries.fill(48, seed)
    last, first = np.diagonal(corrected), corrected[:8, -1]
    assert last.max() < 1e-14
    assert first.mean() > 0.1
    assert np.nanmax(compared) < 5e-4
    assert np.nanmean(added[:, -1]) > np.nanmean(corrected[:, -1]) > 0.1
    unwritten = np.tri(48, k=-1, dtype=bool)
    assert (np.isnan([added, corrected, compared]) == unwritten).all()


# E3
@pytest.mark.parametrize("seed", SEEDS)
def test_equal_losers_meet_the_bound_and_no_others_pass_it(seed):
    sizes = np.array([2, 16, 256, 4096])
    bound = dispersion.bound(dispersion.GAP, sizes)
    e = np.exp(dispersion.GAP)
    close(bound, e / (e + sizes - 1))
    close(dispersion.weight_of_best(sizes, dispersion.GAP), bound)
    assert (dispersion.weight_of_best(sizes, 0.0, seed=seed) < bound).all()
    grown = dispersion.weight_of_best(sizes, dispersion.GAP, grow=True)
    assert (np.diff(grown) > 0).all()
    assert grown[-1] > 0.999


@numpy_only
def test_a_model_that_finds_the_largest_of_16_loses_it_among_more():
    model = dispersion.train(steps=500)
    (seen, sure), (_, less), (few, least) = (
        dispersion.evaluate(model, m) for m in (16, 256, 4096)
    )
    assert seen > 0.6
    assert few < 0.3
    assert sure > 2 * less > 8 * least
    _, helped = dispersion.evaluate(model, 256, scaled=True)
    assert helped > less
    close(dispersion.evaluate(model, 16, scaled=True), [seen, sure])


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


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (hopfield.digits, "digits.npz"),
        (pronouns.words, "pronouns.npz"),
        (lambda: spelling.words("test"), "g2p.tsv"),
    ],
)
def test_a_missing_data_file_names_itself(monkeypatch, tmp_path, read, name):
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match=name):
        read()
