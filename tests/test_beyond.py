"""The claims E1 to E3, at sizes that train in seconds (at those of the demos they held for
five seeds); and what the demos measure with, against other ways to get there."""

import functools
import re

import numpy as np
import pytest
from conftest import close, normal, numpy_only

from demos.e_beyond import dictionaries, dispersion, hopfield, pronouns, spelling
from demos.stage import datasets

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
