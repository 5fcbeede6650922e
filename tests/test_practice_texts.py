"""Nothing that the blanks say gives the answer away, and they say what is asked."""

import doctest
import re
import sys
from pathlib import Path

import pytest
from conftest import numpy_only
from practice_answers import filled, judged
from practice_wrong import WRONG

import minigrad
from demos.practice import BLANKS
from demos.practice.sheet import sheet
from demos.practice.source import cut, find
from minigrad import backward

pytestmark = numpy_only
each_blank = pytest.mark.parametrize("name", BLANKS)
HELPERS = {"maximum": ["to_winner"], "getitem": ["scatter", "add_rows"]}


def solution(name):
    """Return the lines of what is taken out, without blanks and comments beside them."""
    blank = BLANKS[name]
    text = Path(blank.module.__file__).read_text(encoding="utf-8")
    lines = cut(blank).body.split("\n")
    for helper in HELPERS.get(name, []):
        definition = find(text, helper)
        first = definition.body[0].end_lineno
        lines += text.split("\n")[first : definition.end_lineno]
    bare = {bare_of(line.partition("  #")[0]) for line in lines}
    return {line for line in bare if len(line) > 6}  # not `else:`


def bare_of(text):
    return re.sub(r"\s", "", text)


SOLUTIONS = {name: solution(name) for name in BLANKS}


def leaks(text):
    """Return which lines of any solution are in a text."""
    text = bare_of(text)
    return [line for lines in SOLUTIONS.values() for line in lines if line in text]


@each_blank
def test_nothing_written_or_said_has_a_line_of_any_solution(name):
    blank = BLANKS[name]
    assert leaks(filled(name, cut(blank).body))
    said = [judged(name, body).message for _, body in WRONG[name]]
    for text in (sheet(blank), blank.hints, blank.teaches, *said):
        assert leaks(text) == []
    assert [m.text for m in blank.mistakes if leaks(m.text)] == []


@each_blank
def test_a_hint_has_three_steps_and_the_file_says_what_is_asked(name):
    blank = BLANKS[name]
    first, *_ = hints = blank.hints.split("\n\n")
    assert len(hints) == 3
    assert "?" in first
    text = sheet(blank)
    assert max(map(len, text.split("\n"))) <= 88
    assert cut(blank).formula in text
    for parameter in cut(blank).signature[1:-1].split(", "):
        assert parameter.partition("=")[0] in blank.ask


@pytest.mark.parametrize("module", ["demos.practice", "demos.practice.checking"])
def test_the_examples_of_the_docstrings_hold(module):
    failed, tried = doctest.testmod(sys.modules[module])
    assert (failed, tried > 1) == (0, True)


def test_the_blank_is_what_the_package_runs():
    for blank in BLANKS.values():
        body = bare_of(cut(blank).body)
        assert body in bare_of(Path(blank.module.__file__).read_text(encoding="utf-8"))
    assert BLANKS["softmax"].original is minigrad.softmax.vjp
    assert BLANKS["fit"].original is backward.fit
    assert cut(BLANKS["product"]).formula == "y = a b"
