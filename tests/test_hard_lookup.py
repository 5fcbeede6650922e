"""The hard dictionary: it answers as a dict does, and nothing is learned from it."""

import math

import numpy as np
import pytest
from conftest import array, normal, same

from attention import hard_lookup
from minigrad import Tensor

CAPITALS = {"paris": "France", "rome": "Italy", "lima": "Peru"}


def test_a_hard_lookup_answers_as_the_dict_does():
    names, countries = list(CAPITALS), list(CAPITALS.values())
    for query in [*names, "pariss", "Paris", ""]:
        assert hard_lookup(query, names, countries) == CAPITALS.get(query)
        assert hard_lookup(query, names, countries, "?") == CAPITALS.get(query, "?")
    assert hard_lookup("rome", CAPITALS.keys(), CAPITALS.values()) == "Italy"


def test_a_hard_lookup_takes_the_first_of_equal_keys():
    assert hard_lookup(7, [7, 1, 7], ["first", "other", "last"]) == "first"


def test_an_empty_dictionary_is_a_miss():
    assert hard_lookup("paris", [], []) is None
    nothing = array(np.zeros((0, 2)))
    assert hard_lookup(array([1.0, 2.0]), nothing, nothing, "?") == "?"


def test_rows_match_only_if_every_number_does():
    keys, values = normal(4, 3), normal(4, 2)
    for i in range(4):
        same(hard_lookup(array(keys[i]), array(keys), array(values)), values[i])
        near = keys[i].copy()
        near[1] = np.nextafter(near[1], 9)
        assert hard_lookup(array(near), array(keys), array(values)) is None
    hit = hard_lookup(Tensor(keys[2]), Tensor(keys), Tensor(values))
    same(hit, values[2])


def test_nan_equals_nothing_so_it_is_a_miss():
    keys = array([[math.nan, 1.0], [0.0, 1.0]])
    assert hard_lookup(keys[0], keys, ["a", "b"]) is None


def test_the_hard_lookup_is_flat_on_both_sides_of_each_boundary_and_jumps_there():
    keys, values = np.array([0.0, 1.0, 2.5]), [10.0, 20.0, 40.0]

    def nearest(q):
        """Look up the key that is nearest to q: the best softening can tend to."""
        return hard_lookup(keys[np.argmin(np.abs(keys - q))], keys, values)

    h = 1e-6
    for i, boundary in enumerate((keys[:-1] + keys[1:]) / 2):
        for q in (boundary - 2 * h, boundary + 2 * h):
            assert nearest(q + h) - nearest(q - h) == 0  # the gradient, exactly
        jump = nearest(boundary + h) - nearest(boundary - h)
        assert jump == values[i + 1] - values[i]


@pytest.mark.parametrize(
    ("query", "keys", "values", "message"),
    [
        ("a", ["a", "b"], [1], "hard_lookup: 2 keys for 1 values"),
        (np.ones(2), np.ones((1, 3)), [1], "different shapes"),
        (np.ones(()), np.ones((1, 3)), [1], "different shapes"),
        (1.0, np.ones((1, 3)), [1], "different shapes"),
        ([1.0], np.ones((1, 3)), [1], "different shapes"),
    ],
)
def test_a_hard_lookup_that_cannot_be_meant_is_refused(query, keys, values, message):
    query, keys = (array(x) if isinstance(x, np.ndarray) else x for x in (query, keys))
    with pytest.raises(ValueError, match=message):
        hard_lookup(query, keys, values)
