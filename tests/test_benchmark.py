"""The benchmark: what it compares is the same work, and how it measures is right."""

import statistics

import matplotlib
import numpy as np
import pytest
from conftest import close

from demos.d_roles import benchmark
from demos.stage import apart, peers, steps, timing
from demos.stage.page import Page
from minigrad import backend as B

matplotlib.use("agg")


def test_steps_take_turns_and_the_first_round_does_not_count():
    ran = []
    both = {name: lambda name=name: ran.append(name) for name in "ab"}
    times = timing.take_turns(both, rounds=3)
    assert ran == list("ab" * 4)
    assert {name: t.shape for name, t in times.items()} == {"a": (3,), "b": (3,)}


def test_a_row_holds_median_and_minimum_and_both_as_multiples_of_the_floor():
    times = {"floor": np.array([2.0, 4.0, 3.0]), "f": np.array([9.0, 4.0, 6.0])}
    floor, f = timing.rows(times, "floor", unit=0.5)
    assert floor == ["floor", 6, 4, 1, 1]
    assert f == ["f", 12, 8, statistics.median([9, 4, 6]) / 3, 2]


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_slope_is_the_power(power):
    ns = np.array([3, 5, 17])
    assert timing.slope(ns, 7 * ns**power) == pytest.approx(power)


def test_the_peak_counts_what_was_held_at_a_time():
    def step():
        B.xp.zeros(1000)  # dropped before the next two
        return B.xp.zeros(2000), B.xp.zeros(3000)

    assert 0 <= timing.peak(step) - 8 * 5000 < 2000


def test_the_chain_by_hand_is_the_chain():
    arrays = np.random.default_rng(0).standard_normal((4, 3))
    x, a, b, g = map(B.xp.asarray, arrays)
    by_hand = steps.chain_by_hand(x, a, b, g, 5)()
    for got, expected in zip(
        steps.step_of(steps.chain, (x, a, b), g, length=5)(), by_hand, strict=True
    ):
        close(got, expected)


def test_a_contestant_with_other_gradients_is_noticed(monkeypatch):
    monkeypatch.setattr(peers, "library", lambda name: None)
    contest = benchmark.attention_steps(2, 8)
    assert benchmark.gap(contest) < 1e-5
    right = contest["tiled"]
    contest["tiled"] = lambda: [x + 0.01 for x in right()]
    assert benchmark.gap(contest) > 0.009


def test_it_runs_on_every_backend_and_lists_who_is_absent(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(peers, "library", lambda name: None)
    monkeypatch.setattr(benchmark, "SIZES", [(2, 8, 1)])
    monkeypatch.setattr(benchmark, "LENGTH", 3)
    monkeypatch.setattr(benchmark, "OVERTAKING", (4, 8))
    monkeypatch.setattr(apart, "N", 32)
    small = {name: (f, (16, 32)) for name, (f, _) in benchmark.GROWTH.items()}
    monkeypatch.setattr(benchmark, "GROWTH", small)
    backend = B.xp
    benchmark.demo(Page(tmp_path))
    out = capsys.readouterr().out
    assert "torch absent" in out
    assert ("imported first" in out) == (backend is np)
    assert ("host / ms" in out) == (backend is not np)  # from which size a GPU pays
    assert B.xp is backend
    assert (tmp_path / "benchmark.png").exists()
