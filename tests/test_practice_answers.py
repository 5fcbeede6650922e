"""The blanks judge answers: wrong ones by the name of the mistake, right ones as right
however they are written, and what they do not know, not at all."""

import itertools

import numpy as np
import pytest
from conftest import numpy_only
from practice_answers import judged, names_in
from practice_right import RIGHT
from practice_wrong import WRONG

from demos.practice import BLANKS, checking, measuring, naming
from demos.practice.blank import average, total
from demos.practice.source import cut

pytestmark = numpy_only
each_blank = pytest.mark.parametrize("name", BLANKS)
TOLD = ["nan", "raises", "shape", "dtype", "float64", "none", "type", "count"]


@each_blank
def test_a_wrong_answer_is_named_by_its_mistake(name):
    assert len({body for _, body in WRONG[name]}) >= 15  # 180 in all
    found = [(id, judged(name, body)) for id, body in WRONG[name]]
    assert not any(verdict.right for _, verdict in found)
    assert [verdict.mistake for _, verdict in found] == [id for id, _ in found]


@each_blank
def test_a_right_answer_is_right_however_it_is_written(name):
    assert len(set(RIGHT[name])) >= 16
    wrong = [
        (body, v.message) for body in RIGHT[name] if not (v := judged(name, body))[0]
    ]
    assert wrong == []


def test_there_are_200_right_answers_and_60_wrong_ones():
    assert sum(map(len, map(set, RIGHT.values()))) >= 200
    assert sum(map(len, WRONG.values())) >= 60
    assert RIGHT.keys() == WRONG.keys() == BLANKS.keys()


@each_blank
def test_the_body_of_the_source_is_right(name):
    blank = BLANKS[name]
    assert judged(name, cut(blank).body) == checking.check(name, blank.original)
    assert judged(name, cut(blank).body).right


def names_without(name, mistakes):
    """Return the ids of the wrong answers of a blank if these were all its mistakes."""
    blank = BLANKS[name]._replace(mistakes=mistakes)
    functions = ANSWERS.setdefault(name, [])
    if not functions:
        for id, body in WRONG[name]:
            namespace = names_in(name, body)
            for key, value in vars(blank.module).items():
                namespace.setdefault(key, value)
            functions.append((id, namespace[cut(blank).name]))
    return [(id, lambda f=f: checking.verdict(blank, f)[1]) for id, f in functions]


ANSWERS = {}


@each_blank
def test_without_any_one_entry_of_the_list_a_mistake_loses_its_name(name):
    mistakes = BLANKS[name].mistakes
    for i, mistake in enumerate(mistakes):
        ids = names_without(name, mistakes[:i] + mistakes[i + 1 :])
        assert any(id == mistake.id != found() for id, found in ids), mistake.id


@pytest.mark.parametrize(
    "entry", ["zero", "sign", "transposed", "swapped", "factor", "terms"]
)
def test_without_what_any_answer_may_have_it_loses_its_name(monkeypatch, entry):
    blank, id = {
        "transposed": ("split_heads", "transposed"),
        "zero": ("product", "zero"),
        "swapped": ("product", "swapped"),
        "factor": ("product", "factor"),
        "terms": ("softmax", "coefficient"),
    }.get(entry, ("attention", entry))
    rest = [m for m in naming.ANYWHERE if m.id != entry]
    monkeypatch.setattr(naming, "ANYWHERE", rest)
    if entry == "swapped":
        never = naming.SWAPPED._replace(answer=lambda *_, **__: None)
        monkeypatch.setattr(naming, "SWAPPED", never)
    if entry in ("sign", "factor"):  # a sign is a factor, too
        monkeypatch.setattr(measuring, "factor", lambda found: None)
    if entry == "terms":
        monkeypatch.setattr(measuring, "coefficients", lambda *_: None)
    answers = names_without(blank, BLANKS[blank].mistakes)
    assert any(found() != id for wrong, found in answers if wrong == id)


def test_no_two_mistakes_of_a_blank_are_the_same():
    for name, blank in BLANKS.items():
        for mistake in blank.mistakes:
            found = checking.check(name, mistake.answer).mistake
            assert found in (mistake.id, "swapped"), (name, mistake.id)
    # both inputs with their own factor, or both with what the smaller one gets
    assert checking.check("product", lambda g, y, a, b: (g * a, g * b)).mistake


ATOMS = {
    "g": lambda g, y, x: g,
    "g y": lambda g, y, x: g * y,
    "g x": lambda g, y, x: g * x,
    "g y²": lambda g, y, x: g * y * y,
    "y Σ g": lambda g, y, x: y * total(g),
    "y Σ g y": lambda g, y, x: y * total(g * y),
    "Σ g y": lambda g, y, x: total(g * y) + 0 * x,
    "Σ g x": lambda g, y, x: total(g * x) + 0 * x,
    "mean g": lambda g, y, x: average(g) + 0 * x,
    "y mean g y": lambda g, y, x: y * average(g * y),
    "g exp y": lambda g, y, x: g * np.exp(y),
    "exp y Σ g": lambda g, y, x: np.exp(y) * total(g),
    "exp y Σ g y": lambda g, y, x: np.exp(y) * total(g * y),
    "g / root": lambda g, y, x: g / np.sqrt(average(x * x) + 1e-5),
    "g root": lambda g, y, x: g * np.sqrt(average(x * x) + 1e-5),
    "y": lambda g, y, x: y,
}


def formula(parts):
    """Return the rule that is this sum of atoms, each with a coefficient."""

    def rule(g, y, x, **_):
        return sum(c * ATOMS[atom](g, y, x) for c, atom in parts)

    return rule


def formulas(n):
    """Return n different sums of one to three atoms."""
    rng = np.random.default_rng(0)
    found = [[(1, atom)] for atom in ATOMS]
    pairs = itertools.combinations(ATOMS, 2)
    found += [[(1, a), (-1, b)] for a, b in list(pairs)[::3]]
    while len(found) < n:
        atoms = rng.choice(list(ATOMS), 3, replace=False)
        found.append([(rng.choice([1, -1, 2, 0.5]), atom) for atom in atoms])
    return found[:n]


def truly(name, id, rule):
    """Return whether a rule makes this mistake, on numbers it was not checked with."""
    blank, rng = BLANKS[name], np.random.default_rng(5)
    x = rng.standard_normal((4, 7))
    y, g = blank.function(x), rng.standard_normal(x.shape)
    got, right = rule(g, y, x), blank.original(g, y, x)
    if id == "factor":
        return np.allclose(got / right, got[0, 0] / right[0, 0])
    if id == "sign":
        return np.allclose(got, -right)
    if id == "coefficient":
        terms = np.stack([t.value(g, y, x).ravel() for t in blank.terms], 1)
        fit = np.linalg.lstsq(terms, got.ravel(), rcond=None)[0]
        return np.allclose(terms @ fit, got.ravel())
    if id == "nan":
        return True
    made = [m.answer(g, y, x) for m in blank.mistakes if m.id == id]
    return any(np.allclose(got, answer) for answer in made)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "rms_norm"])
def test_100_random_formulas_are_not_misnamed(name):
    unknown = 0
    for parts in formulas(100):
        found = checking.check(name, formula(parts))
        assert not found.right, parts
        assert found.mistake is None or truly(name, found.mistake, formula(parts)), (
            parts
        )
        unknown += found.mistake is None
    assert unknown > 50  # and the rest is named, such as g y
