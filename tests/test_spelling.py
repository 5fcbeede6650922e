"""E8: the reader that looks from letters to sounds, its parts, and how it is kept."""

import itertools
import re
import sys

import numpy as np
import pytest
from conftest import close, normal, numpy_only

from demos.e_beyond import (
    reader,
    spelling,
)
from demos.stage.command import main
from demos.stage.page import Page
from minigrad import Tensor, nn
from minigrad import backend as B


# E8
def test_a_gru_is_its_equations():
    nn.seed(0)
    cell = reader.GRU(3, 4).astype(float)
    x, h = normal(2, 3), normal(2, 4, seed=1)
    W, b, W_n, b_n = (p.numpy() for p in cell.parameters())
    r, z = np.split(1 / (1 + np.exp(-np.hstack([x, h]) @ W - b)), 2, axis=1)
    new = np.tanh(np.hstack([x, r * h]) @ W_n + b_n)
    close(cell(Tensor(x), Tensor(h)).numpy(), (1 - z) * h + z * new)


def test_edits_are_the_fewest():
    assert spelling.edits("kitten", "sitting") == 3
    for a, b in itertools.product(["", "a", "ab", "ba", "abc", "bca"], repeat=2):
        assert spelling.edits(a, b) == spelling.edits(b, a)
        common = max(
            n
            for n in range(4)
            if set(itertools.combinations(a, n)) & set(itertools.combinations(b, n))
        )
        assert spelling.edits(a, b) >= max(len(a), len(b)) - common
    found = {"x": (["A"], None), "y": (["B"], None)}
    assert spelling.marks(found, {"x": ["A"], "y": ["C", "D"]}) == (
        pytest.approx(2 / 3),
        0.5,
    )


@numpy_only
def test_a_reader_looks_along_the_word():
    short = [(w, p) for w, p in spelling.words("train").items() if len(w) <= 4]
    known = dict(short[:: len(short) // 120][:120])
    model = reader.train(known, steps=100)
    looks = {w: reader.read(model, w) for w in known}
    wrong, right = spelling.marks(looks, known)
    assert wrong < 0.2
    assert right > 0.5
    totals = np.concatenate([A.sum(axis=1) for _, A in looks.values()])
    close(totals, np.ones_like(totals), rtol=1e-5)
    assert spelling.forward_steps(looks) > 0.9
    backward = {w: (sounds, A[::-1]) for w, (sounds, A) in looks.items()}
    assert spelling.forward_steps(backward) < 0.6


def test_each_letter_is_read_with_those_before_it_and_with_those_after_it():
    nn.seed(2)
    model = reader.Reader(e=4, d=4).eval()
    H, other = (
        B.to_numpy(model.encode(reader.numbers([word]))[0])[0]
        for word in ("knight", "knifht")
    )
    changed = (H != other).reshape(6, 2, 4).all(axis=2)  # (T, 2)
    assert changed[:, 0].tolist() == [t >= 3 for t in range(6)]
    assert changed[:, 1].tolist() == [t <= 3 for t in range(6)]


def test_steps_that_stay_or_go_on_are_forward():
    A = np.eye(5)[[0, 2, 2, 1, 4]]
    assert spelling.forward_steps({"word": ("ABCDE", A)}) == 0.75


def test_the_decoder_reads_as_it_was_trained():
    known = dict(list(spelling.words("train").items())[:1])
    ids, before, after = next(reader.batches(known, 1, 0))
    assert after[0].tolist() == [*before[0, 1:], 0]
    assert [reader.PHONEMES[i] for i in before[0, 1:]] == next(iter(known.values()))
    nn.seed(1)
    model = reader.Reader(e=8, d=8).eval()
    logits = B.to_numpy(model(ids, before))[0]
    H, ends, s = model.encode(ids)
    for row, phoneme in zip(logits, before[0], strict=True):
        y = model.phonemes(np.array([phoneme]))
        s, output, _ = model.decode(y, s, H, ends)
        close(model.output(output)[0], row, rtol=1e-5, atol=1e-5)


def test_the_phonemes_are_those_of_the_data():
    heard = set().union(*spelling.words("train", "val", "test").values())
    assert reader.PHONEMES == ["-", *sorted(heard)]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("", "has 0 letters; it takes 1 to 10"),
        ("naïve", "it takes small letters from a to z"),
        ("Knight", "it takes small letters from a to z"),
        ("two words", "it takes small letters from a to z"),
        ("night\n", "it takes small letters from a to z"),
        ("internationalisation", "has 20 letters; it takes 1 to 10"),
    ],
)
def test_a_word_that_cannot_be_read_is_refused_before_anything_is_done(
    monkeypatch, capsys, tmp_path, word, reason
):
    words = ["demos", "spelling", "--word", word, "--out", str(tmp_path / "new")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as leave:
        main()
    printed = capsys.readouterr()
    assert (leave.value.code, printed.out) == (2, "")
    assert printed.err.startswith(f"demos: spelling: --word {word!r}")
    assert reason in printed.err
    assert printed.err.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_word_is_read_by_the_reader_of_an_earlier_run(monkeypatch, capsys, tmp_path):
    nn.seed(3)
    untrained = reader.Reader().eval()
    monkeypatch.setattr(spelling, "train", lambda known: untrained)
    spelling.demo(Page(tmp_path), word="knight")
    first = capsys.readouterr().out
    assert first.startswith("knight is read ")
    monkeypatch.setattr(spelling, "train", None)
    spelling.demo(Page(tmp_path), word="knight")
    assert capsys.readouterr().out == first


def test_a_reader_that_is_damaged_is_named(tmp_path):
    path = tmp_path / "spelling.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(SystemExit, match=f"demos: spelling: .*{re.escape(str(path))}"):
        spelling.demo(Page(tmp_path), word="knight")
