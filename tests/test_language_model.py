"""The language model as a demo: any text, whatever is in the file, on each backend; what
its heads look at."""

import math

import numpy as np
import pytest
import ranks_script

from demos.c_sequences import language_model
from demos.stage import heads, letters, training
from demos.stage.files import read
from demos.stage.page import Claim, Page, Picture

WORDS = "Один раз — не раз.\nοὐδὲν κακὸν ἀμιγὲς καλοῦ\n七転び八起き\n"


@pytest.mark.parametrize(
    ("written", "right"),
    [
        (WORDS.encode(), WORDS),
        (b"\xef\xbb\xbf" + WORDS.encode(), WORDS),  # a byte-order mark
        (WORDS.replace("\n", "\r\n").encode(), WORDS),
        (b"one\rtwo", "one\ntwo"),
        (b"", ""),
    ],
)
def test_a_text_is_its_letters_whatever_the_system_that_wrote_it(
    written, right, tmp_path
):
    (tmp_path / "text").write_bytes(written)
    assert read(tmp_path / "text") == right


@pytest.mark.parametrize(
    "written",
    [WORDS.encode("utf-16"), b"\x89PNG\r\n", b"one\0two", "é".encode("latin1")],
)
def test_bytes_that_are_no_text_are_refused_by_the_name_of_the_file(written, tmp_path):
    (tmp_path / "text").write_bytes(written)
    with pytest.raises(ValueError, match=r"text is not text in UTF-8: "):
        read(tmp_path / "text")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path, reason in [
        (tmp_path, "Is a directory"),
        (tmp_path / "x", "No such file"),
    ]:
        with pytest.raises(OSError, match=f"cannot read {path}: {reason}"):
            read(path)


@pytest.fixture
def small(monkeypatch):
    for name, value in ranks_script.SMALL.items():
        monkeypatch.setattr(training, name, value)
    monkeypatch.setattr(language_model, "CONTEXT", training.CONTEXT)
    monkeypatch.setattr(language_model, "SAMPLE", 20)
    monkeypatch.setattr(heads, "SHOWN", 6)


def test_any_text_is_learned_and_shown_on_every_backend(small, tmp_path, capsys):
    path = tmp_path / "proverbs.txt"
    path.write_text((WORDS + "\x1b[2J $x$ \t") * 12)
    page = Page(tmp_path)
    language_model.demo(page, steps=9, positions="learned", text=path)
    checkpoint = tmp_path / "language_model_proverbs_learned_0_9.npz"
    assert checkpoint.exists()
    assert [x.path.stem for x in page.items if isinstance(x, Picture)] == [
        "language_model",
        "heads",
    ]
    assert not any(isinstance(x, Claim) for x in page.items)  # those are of the plays
    out = capsys.readouterr().out
    assert "proverbs.txt" in out
    assert "\x1b" not in out
    resumed = language_model.begin(checkpoint, path, 9, "learned", 0, resume=True)
    assert resumed.step == 9


def test_a_text_of_one_letter_has_a_sample_too(small, tmp_path, capsys):
    path = tmp_path / "letters.txt"
    path.write_text("a" * 400)
    language_model.demo(Page(tmp_path), steps=1, text=path)
    assert capsys.readouterr().out.endswith("\n" + 21 * "a" + "\n\n")


def test_a_letter_that_only_the_held_out_text_has_is_foretold_too(small):
    training = language_model.Training("ab" * 180 + "abcd" * 10, 1)
    assert all(map(math.isfinite, language_model.baselines(training)))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("too short", {}, "a text of 9 characters holds out 1; it takes 17"),
        ("x" * 400, {"steps": 0}, "0 steps; there must be 1 to 100,000,000"),
        ("x" * 400, {"steps": 10**30}, "there must be 1 to 100,000,000"),
        ("x" * 400, {"seed": -1}, "--seed -1 must not be negative"),
        ("x" * 400, {"resume": True}, "to go on from; start without --resume"),
    ],
)
def test_what_cannot_be_learned_is_said_in_one_line(
    small, text, options, message, tmp_path
):
    path = tmp_path / "text.txt"
    path.write_text(text)
    with pytest.raises(SystemExit) as leave:
        language_model.demo(Page(tmp_path), text=path, **{"steps": 2, **options})
    assert leave.value.code.startswith("demos: language_model: ")
    assert message in leave.value.code
    assert "\n" not in leave.value.code
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_letter_without_a_glyph_is_shown_by_its_number():
    assert [letters.label(x) for x in "a $\nя"] == ["a", "␣", "$", "↵", "я"]
    assert letters.label("転") == "8ee2"


def test_lines_are_at_most_80_wide_and_hold_nothing_that_a_terminal_obeys():
    assert letters.printable("a\x1b[2J\tb\n\n" + "x" * 170) == (
        "a·[2J·b\n\n" + "x" * 80 + "\n" + "x" * 80 + "\n" + "x" * 10
    )


def test_what_a_head_may_look_at_is_where_it_is():
    names = sorted(set("ab cab\na"))
    ids = np.array([[names.index(x) for x in "ab cab\na"]])
    found = {
        name: where[0].tolist() for name, where in heads.places(ids, names).items()
    }
    assert found == {  # the positions are 0 to 7
        "the letter before": [-1, 0, 1, 2, 3, 4, 5, 6],
        "the beginning of the word": [-1, -1, -1, -1, -1, 3, -1, -1],
        "the last line break": [-1, -1, -1, -1, -1, -1, -1, -1],
        "the same letter": [-1, -1, -1, -1, 0, 1, -1, 4],
        "what followed the same letter": [-1, -1, -1, -1, 1, 2, -1, 5],
    }


def test_the_clearest_heads_are_those_that_look_there():
    rng = np.random.default_rng(0)
    ids, names = rng.integers(4, size=(3, 12)), ["a", "b", " ", "\n"]
    weights = np.full((2, 3, 2, 12, 12), 1e-3)  # 2 layers, 3 texts, 2 heads
    planted = {"the letter before": (1, 0), "the same letter": (0, 1)}
    for name, (layer, head) in planted.items():
        for b, t in np.argwhere(heads.places(ids, names)[name] >= 0):
            weights[layer, b, head, t, heads.places(ids, names)[name][b, t]] = 0.9
    found = heads.clearest(heads.scores(weights, ids, names))
    assert {name: head for score, name, head in found if score > 0.8} == planted
    assert len({head for _, _, head in found}) == len(found)


def test_weights_of_heads_are_those_of_the_model(small):
    run = training.Training(ranks_script.TEXT, 3)
    weights = heads.weights_of_heads(run.model, run.batch()[:, :-1])
    assert weights.shape == (2, 4, 2, 16, 16)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)
    assert (
        weights[..., np.triu_indices(16, 1)[0], np.triu_indices(16, 1)[1]] == 0
    ).all()
