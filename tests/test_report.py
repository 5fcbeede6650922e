"""The page as a lesson: every step has its parts, every claim its lines, every formula is
MathML, and numbers are written as mathematics writes them."""

import inspect
import re
import xml.etree.ElementTree as ET
from importlib import import_module

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from attention import attention, soft_lookup
from attention.tiled import tiled_attention
from demos import DEMOS
from demos.stage import excerpt, figure, mathml, section
from demos.stage.page import Page, Table
from demos.stage.report import write_report
from minigrad import softmax

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def xp():
    """Run these tests once: a page has no backend."""
    return np


def show(page):
    """A demo with one of everything."""
    fig, axes = plt.subplots(1, 2, figsize=(7, 3))
    for ax in axes:
        ax.plot([0, 1], [0.123456, 1])
        ax.set_title("A finding, T = 0.05", loc="left")
    page.picture(fig, "two")
    page.say("The weight is e^(-x / T), about 3e-07.")
    page.table(["T", "weight"], [[0.1, -0.25], [1.0, 0.5]])
    page.claim("A4", "It softens.", r"$\alpha\rightarrow 0$", "by 1", True, softmax)
    page.claim("A5", "It stays in.", r"$out=v_1$", "by 2", False, attention)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of one demo that showed one of everything."""
    folder = tmp_path_factory.mktemp("page")
    shown = Page(folder)
    show(shown)
    demo = next(demo for demo in DEMOS if demo.name == "soft_argmax")
    return write_report({demo: shown}, folder / "index.html").read_text("utf-8")


def test_a_step_goes_from_the_question_to_the_lines(page):
    parts = [
        "Question.",
        "One would guess:",
        "<figure",
        "What to look at.",
        "The formula.",
    ]
    parts += ['id="A4-1"', "Measured:", "minigrad/ops/softmax.py", "<mark>"]
    section = page[page.index('<section id="soft_argmax"') :]
    places = [section.index(part) for part in parts]
    assert places == sorted(places)


def test_the_claims_stand_in_a_table_and_a_failure_is_seen_twice(page):
    assert "1 of 2 hold" in page
    assert page.count("does not hold") == 1
    table = page[page.index('<table class="claims">') :]
    assert re.findall(r'<a href="#soft_argmax">(A\d)</a>', table) == ["A4", "A5"]
    assert re.findall(r'class="(holds|fails)"', table) == ["holds", "fails"]
    assert 'scope="rowgroup" colspan="4">A The lookup<' in table


def test_the_page_has_landmarks_and_no_id_twice(page):
    for mark in ["<main", "<nav", 'lang="en"', 'scope="col"', "@media print"]:
        assert mark in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_a_figure_has_its_text_as_text_and_its_panels_apart(page):
    assert "A finding, T = 0.05</text>" in page  # with all its digits
    assert page.count('<use href="#two-figure_1"/>') == 2
    assert not re.search(r' d="[^"]*\d\.\d\d', page[page.index('id="two-figure_1"') :])


def test_a_figure_of_many_parts_is_a_picture(tmp_path):
    fig, ax = plt.subplots()
    ax.plot(*np.random.default_rng(0).normal(size=(2, 9000)), ".")
    shown = Page(tmp_path)
    shown.picture(fig, "many")
    html = figure.picture_html(shown.items[0])
    assert "data:image/webp" in html
    assert len(html) < 200_000


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_every_demo_asks_a_question_and_says_what_one_would_guess(demo):
    said = section.paragraphs(section.docstring(demo.module).split("\n\n")[1:])
    assert {"Question", "Guess", "Formula", "What to look at"} <= {*said}
    assert said["Question"][0].count("?")


def claims():
    """Return (number, formula, source) of every claim in the demos, from their source."""
    found = []
    for demo in DEMOS:
        module = import_module(demo.module)
        call = r'page\.claim\(\s*"(\w+)",.*?\n\s+([\w.]+),\n\s+\)'
        for number, name in re.findall(call, inspect.getsource(module), re.DOTALL):
            found.append((number, getattr(module, name)))
    return found


def test_the_lines_of_every_claim_are_few_and_without_docstring_or_checks():
    found = claims()
    assert len(found) > 35
    for number, source in found:
        lines = excerpt.excerpt(inspect.unwrap(source), number)
        assert 2 <= len(lines) <= 12, (number, source)
        assert not re.search(r'"""|raise |checks\.\w+\(.*\)$', "\n".join(lines)), number


def test_the_parts_that_claims_are_about_are_found():
    for source, number, text in [
        (softmax, "B4", "return y * (g - sum(g * y"),
        (tiled_attention, "D2", "Z = r * Z + "),
        (attention, "A5", "Y = A @ V"),
        (soft_lookup, "B6", "scores / temperature"),
    ]:
        lines = excerpt.excerpt(inspect.unwrap(source), number)
        assert any(text in line for line in lines)
    marked = excerpt.marked(lines, "B6")
    assert "temperature" in lines[marked]


def tags(formula):
    html = mathml.formula(formula).replace("&nbsp;", " ")
    return [e.tag for e in ET.fromstring(f"<p>{html}</p>").iter()][1:]


def test_formulas_are_mathml():
    assert tags("$a_i$") == ["math", "msub", "mi", "mi"]
    assert tags(r"$\frac{1}{m}$") == ["math", "mfrac", "mrow", "mn", "mrow", "mi"]
    assert tags(r"$A^TG$") == ["math", "msup", "mi", "mi", "mi"]  # only T is raised
    assert mathml.formula("$q$") == '<math><mi class="query">q</mi></math>'
    assert "−" in mathml.formula("$-1$")
    assert (
        mathml.formula(r"$a=1,\ b=2$ as x").count("<math>") == 2
    )  # may be broken there
    with pytest.raises(ValueError, match="no } closes"):
        mathml.formula("$a_{i$")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("d_k and soft_lookup", "d<sub>k</sub> and soft_lookup"),
        ("out_t, w_{t-i}", "out<sub>t</sub>, w<sub>t−i</sub>"),
        ("e^(-c x)", "e<sup>−c x</sup>"),
        ("1 - it, -0.5, re-use", "1 − it, −0.5, re-use"),
        ("3e-07, 0e+00, e+1", "3 · 10<sup>−7</sup>, 0, e+1"),
        ("`a - b`", "<code>a - b</code>"),
        ("αᵢ", '<i class="weight">α</i>ᵢ'),
        ("a < b", "a &lt; b"),
    ],
)
def test_prose_is_set_as_mathematics_is_read(text, html):
    assert mathml.prose(text) == html


def test_tables_of_numbers_are_folded_in_and_wide_ones_name_every_cell():
    numbers = Table(["c", "T"], [["1", "−2 · 10⁻³"]], [True, True])
    words = Table(["query", "answer"], [["a" * 30, "b" * 30]], [False, False])
    assert section.table_html(numbers).startswith("<details>")
    assert 'class="slim"' in section.table_html(numbers)
    assert 'class="wide"' in section.table_html(words)
    assert 'data-title="answer"' in section.table_html(words)
