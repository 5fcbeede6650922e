"""The widgets of the page: what their JavaScript computes is what the engine computes, and
what Python draws is what JavaScript draws. Asked of headless Chromium, from file://, with
no network. Without a browser these tests are left out, unless MINIGRAD_REQUIRE_BROWSER is
set, as in .ci/run."""

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from lesson_engine import ENGINE

from demos import DEMOS
from demos.c_sequences import paths
from demos.stage import copying
from demos.stage.lesson import FOLDER, SCRIPTS, template
from demos.stage.page import Page
from demos.stage.report import write_report

matplotlib.use("agg")

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)

ALONE = [  # a page loads, and nothing else is loaded with it
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9",
]  # fmt: skip
COUNT = 200


@pytest.fixture(autouse=True, scope="module")
def xp():
    """Run these tests once, on NumPy: a browser has no other backend."""
    return np


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """Return a function that returns the DOM of a page as text, once its scripts ran."""
    found = filter(None, map(shutil.which, BROWSERS))
    browser = next(found, None)
    if browser is None:
        reason = f"no browser: none of {', '.join(BROWSERS)}"
        if os.environ.get("MINIGRAD_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("browser")

    def dom(text):
        path = folder / "page.html"
        path.write_text(text, encoding="utf-8")
        words = [browser, *ALONE, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
        done = subprocess.run(
            [*words, path.as_uri()], capture_output=True, check=True, timeout=120
        )
        return done.stdout.decode()

    return dom


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of the demos that have a widget, as they are before they ran."""
    folder = tmp_path_factory.mktemp("page")
    shown = ("lookup", "capitals", "saturation", "paths", "induction")
    pages = {demo: Page(folder) for demo in DEMOS if demo.name in shown}
    return write_report(pages, folder / "index.html").read_text(encoding="utf-8")


def answers(browse, page, questions):
    """Return what the functions of the page answer to {name: [settings]}."""
    script = f"""<script>
    const questions = {json.dumps(questions)}, answers = {{}};
    for (const [name, all] of Object.entries(questions))
      answers[name] = all.map((settings) => window.lesson[name](settings));
    document.body.textContent = "ANSWERS" + JSON.stringify(answers) + "ANSWERS";
    </script></body>"""
    text = browse(page.replace("</body>", script))
    return json.loads(text.split("ANSWERS")[1])


@pytest.fixture(scope="module")
def questions():
    """Return 200 random settings for each function."""
    rng = np.random.default_rng(7)
    letters = np.array(list(copying.LETTERS))

    def scores():
        return rng.normal(size=rng.integers(2, 8)).tolist()

    asked = {
        "lookup": lambda: {
            "query": rng.uniform(-1.4, 1.4, 2).tolist(),
            "temperature": 10 ** rng.uniform(-1.5, 1),
        },
        "capitals": lambda: {
            "query": int(rng.integers(67)),
            "temperature": 10 ** rng.uniform(-2, 1),
            "mix": rng.uniform(),
        },
        "sharpen": lambda: {
            "scores": (s := scores()),
            "scale": 10 ** rng.uniform(-2, 2),
            "g": rng.normal(size=len(s)).tolist(),
        },
        "paths": lambda: {
            "layer": str(rng.choice(list(paths.TABLE_1))),
            "n": (n := int(rng.choice([3, 9, 27]))),
            "input": int(rng.integers(n)),
        },
        "induction": lambda: {
            "sequence": (text := "".join(rng.choice(letters, rng.integers(1, 25)))),
            "step": int(rng.integers(len(text))),
        },
    }
    return {name: [ask() for _ in range(COUNT)] for name, ask in asked.items()}


def difference(name, settings, answer):
    """Return the largest difference from the engine, of numbers above 1 relative."""
    expected = ENGINE[name](**settings)
    assert {*expected} == {*answer} - {"way"}
    worst = 0.0
    for key, right in expected.items():
        got = np.array(answer[key], float)
        assert got.shape == right.shape, (name, key)
        scale = np.maximum(np.abs(right), 1)
        worst = max(worst, float((np.abs(got - right) / scale).max()))
    return worst


def worst_differences(browse, page, questions):
    found = answers(browse, page, questions)
    return {
        name: max(map(difference, [name] * len(asked), asked, found[name]))
        for name, asked in questions.items()
    }


def test_every_function_of_the_page_computes_what_the_engine_computes(
    browse, page, questions
):
    worst = worst_differences(browse, page, questions)
    assert {name: x for name, x in worst.items() if not x < 1e-12} == {}


FAULTS = [  # in the functions, and in their data: one number of each
    [
        (
            "return dot(weights, products) / temperature",
            "return dot(weights, products)",
        ),
        ("(1 - mix) * a", "(1.0000001 - mix) * a"),
        ("scale * a * (g[j] - mean)", "a * (g[j] - mean)"),
        ("Math.min(least, short + 1)", "Math.min(least, short + 2)"),
        ("+ 1e-5)", "+ 1e-6)"),
    ],
    [
        (r'(lesson\.lookup\.data = \{"keys": \[\[\S+, )\S+\]', r"\g<1>0.17]"),
        (r'(lesson\.capitals\.data = .*?"values": \[\[)', r"\g<1>1"),
        (r"(const mean = dot\(g, weights\));", r"\1 * 1.0000001;"),
        (r"(lesson\.paths\.data = .*?\[\d+, \d+, \[-?)(?=\d)", r"\g<1>1"),
        (r'(lesson\.induction\.data = .*?"embedding": \[\[-?)', r"\g<1>1"),
    ],
]


@pytest.mark.parametrize("faults", FAULTS, ids=["functions", "data"])
def test_a_changed_constant_is_found_in_each_of_them(browse, page, questions, faults):
    for old, new in faults:
        old = old if faults is FAULTS[1] else re.escape(old)
        page, count = re.subn(old, new, page, flags=re.DOTALL)
        assert count == 1, old
    # query 0 first, whose number is changed
    first = {
        name: sorted(asked, key=lambda settings: settings.get("query") != 0)
        for name, asked in questions.items()
    }
    few = {name: asked[:20] for name, asked in first.items()}
    worst = worst_differences(browse, page, few)
    assert {name: x for name, x in worst.items() if x < 1e-12} == {}


class Drawn(HTMLParser):
    """What the widgets show: texts and attributes that have a template."""

    def __init__(self, html):
        super().__init__()
        self.shown, self.open = [], False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        for name, field in attributes:
            if name.startswith("data-") and "[" in (field or ""):
                self.open = name == "data-text"
                value = [] if self.open else given.get(name[5:])
                self.shown.append([tag, field, value])

    def handle_data(self, data):
        if self.open:
            self.shown[-1][2].append(data)
            self.open = False

    def handle_endtag(self, tag):
        self.open = False


def test_what_python_draws_is_what_javascript_draws(browse, page):
    before, after = Drawn(page).shown, Drawn(browse(page)).shown
    assert len(before) == len(after) > 300
    number = re.compile(r"-?\d+(?:\.\d+)?")
    for (tag, field, old), (tag_after, field_after, new) in zip(
        before, after, strict=True
    ):
        assert (tag, field) == (tag_after, field_after)
        old, new = ("".join(x).replace("−", "-") for x in (old, new))
        assert number.sub("#", old) == number.sub("#", new), field
        numbers = [np.array(number.findall(x), float) for x in (old, new)]
        np.testing.assert_allclose(*numbers, atol=0.11, err_msg=field)


def test_templates_are_filled_alike(browse, page):
    rng = np.random.default_rng(0)
    values = [*rng.normal(size=20), *10.0 ** rng.uniform(-9, 3, 20), 0.0, -0.004, 1e-7]
    fields = [f"[x.{i}{end}]" for i in range(len(values)) for end in ("", ":2", ":1e")]
    text = "|".join(fields)
    script = f"""<script>document.body.textContent = "ANSWERS" +
    fill({json.dumps(text)}, {{x: {json.dumps(values)}}}) + "ANSWERS";</script></body>"""
    got = browse(page.replace("</body>", script)).split("ANSWERS")[1]
    assert got.split("|") == template.fill(text, {"x": values}).split("|")


def test_the_page_fetches_nothing_and_its_links_lead_somewhere(page):
    assert not re.search(
        r"""(?:src|href)=["']?(?:https?:)?//|@import|url\((?!#)""", page
    )
    assert not re.search(r"\bfetch\(|XMLHttpRequest|import\(", page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_the_widgets_take_at_most_450_lines_of_javascript():
    lines = [(FOLDER / name).read_text("utf-8").splitlines() for name in SCRIPTS]
    assert sum(map(len, lines)) <= 450
    assert max(len(line) for text in lines for line in text) <= 100
