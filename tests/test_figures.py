"""What figures and sentences of the demos have in common: colours, and how numbers are
written."""

import doctest
import re

import numpy as np
import pytest
from conftest import numpy_only

from demos.stage import drawing, words

CSS = drawing.__file__.replace("drawing.py", "report.css")
pytestmark = numpy_only
TERMS = {
    "query": drawing.QUERY,
    "key": drawing.KEY,
    "value": drawing.VALUE,
    "weight": drawing.WEIGHT,
    "score": drawing.SCORE,
}


def luminance(colour):
    """Return the relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts > 0.04045, ((parts + 0.055) / 1.055) ** 2.4, parts / 12.92)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_a_term_has_the_same_colour_in_figures_and_in_the_page():
    with open(CSS, encoding="utf-8") as file:
        light = file.read().split("@media")[0]
    in_page = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light))
    assert {name: in_page[name] for name in TERMS} == TERMS


@pytest.mark.parametrize("name", TERMS)
def test_text_in_the_colour_of_a_term_can_be_read_on_white(name):
    assert luminance("#ffffff") == 1
    assert 1.05 / (luminance(TERMS[name]) + 0.05) > 4.5


def test_numbers_are_written_as_the_examples_say():
    assert doctest.testmod(words).failed == 0
    assert words.small(-3e-16) == "−3 · 10⁻¹⁶"
    assert words.small(9.6e-10) == "1 · 10⁻⁹"
    assert words.small(np.float32(0)) == "0"
    assert words.listed(np.array([-1e-9, -0.25])) == "(0, −0.25)"
