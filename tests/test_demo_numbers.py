"""The numbers of the first demos, against values worked out without this project, and
what a Page prints and keeps."""

import numpy as np
import pytest

from demos.a_lookup import capitals, places
from demos.d_roles import exercise, self_test
from demos.stage import datasets
from demos.stage.page import Page


def test_capitals_numbers():
    data = datasets.capitals()
    meaning, letters = capitals.heads(data)
    hits = [
        capitals.right(data, A).sum() for A in (meaning, letters, meaning + letters)
    ]
    assert hits == [39, 31, 48]
    assert (data["expected"] >= 0).sum() == 58
    np.testing.assert_allclose(meaning.sum(axis=1), 1, rtol=1e-12)
    shared = places.keys_sharing(meaning)
    kinds = data["query_kind"]
    assert shared[kinds == "none"].mean() == pytest.approx(24.9, abs=0.05)
    assert shared[kinds == "exact"].mean() == pytest.approx(1.0, abs=0.05)


def test_letter_runs():
    assert capitals.runs("Oslo") == capitals.runs("oslo")
    assert dict(capitals.runs("aa")) == {
        "^a": 1, "aa": 1, "a$": 1, "^aa": 1, "aa$": 1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (0.1, [0.0003, 0.0001, 0.9994, 0.0001]),
        (1.0, [0.199, 0.180, 0.442, 0.180]),
        (10.0, [0.246, 0.244, 0.267, 0.244]),
    ],
)
def test_exercise_as_written(temperature, expected):
    got = exercise.weights(exercise.AS_WRITTEN, temperature)
    np.testing.assert_allclose(got, expected, atol=5e-4)


def test_exercise_with_log_weights():
    got = exercise.weights(exercise.LOG_WEIGHTS, 1.0)
    np.testing.assert_allclose(got, [0.099, 0.001, 0.899, 0.001], rtol=1e-12)


def test_self_test_numbers():
    first, *others = self_test.weights(self_test.SCORES)
    assert first == pytest.approx(0.98018666, abs=5e-9)
    assert others == [pytest.approx(0.00660445, abs=5e-9)] * 3


def test_page_keeps_what_it_shows(tmp_path, capsys):
    page = Page(tmp_path)
    page.say("one  and\n two")
    page.table(["name", "T"], [["a", 0.123456], ["long", 2.0]])
    page.table(["empty"], [])
    assert capsys.readouterr().out == (
        "one and two\n\nname       T\na     0.1235\nlong       2\n\nempty\n\n"
    )
    text, table, empty = page.items
    assert text == "one and two"
    assert table.rows == [["a", "0.1235"], ["long", "2"]]
    assert table.numeric == [False, True]
    assert empty.rows == []
