"""Ranks: processes that share a batch learn what one process does, and end together."""

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import ranks_script
from conftest import close

from demos.stage import apart, ranks, training
from demos.stage.training import Training

SCRIPT = Path(ranks_script.__file__)
MPIEXEC = apart.mpiexec()
ENV = os.environ | {
    "PYTHONPATH": str(SCRIPT.parent.parent),
    "OPENBLAS_NUM_THREADS": "1",
}


@pytest.fixture(autouse=True)
def xp():
    """Run each test once: its processes compute with NumPy."""
    if MPIEXEC is None:
        pytest.skip("mpiexec is not installed")


def start(*programs):
    """Run programs, each (how many ranks, words), as one; return what became of them.

    A hang would be an error after a minute."""
    words = [MPIEXEC]
    for n, *rest in programs:
        words += [":"] if len(words) > 1 else []
        words += ["-n", str(n), sys.executable, SCRIPT, *rest]
    words = list(map(str, words))
    return subprocess.run(
        words, env=ENV, capture_output=True, text=True, timeout=60, check=False
    )


def numbers(done):
    """Return the losses and the tests that a run printed, once."""
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    losses, tests = line.split("] [")
    return [np.fromstring(part.strip("[]"), sep=",") for part in (losses, tests)]


@functools.cache
def undisturbed(n):
    """Return the losses, the tests and the checkpoint of n ranks."""
    with tempfile.TemporaryDirectory() as folder:
        done = start((n, folder, 9))
        return *numbers(done), (Path(folder) / "run.npz").read_bytes()


@pytest.mark.parametrize("n", [2, 3])  # 4 texts: 2 and 2; 2, 1 and 1
def test_ranks_learn_what_one_process_learns(n, monkeypatch, tmp_path):
    for name, value in ranks_script.SMALL.items():
        monkeypatch.setattr(training, name, value)
    alone = Training(ranks_script.TEXT, 9)
    alone.run(tmp_path / "alone.npz")
    losses, tests, _ = undisturbed(n)
    close(losses, alone.losses, rtol=1e-5)
    close(tests, alone.tests, rtol=1e-5)
    if n == 2:  # each by its own gradient would learn something else
        losses, _ = numbers(start((n, tmp_path / "alone", 9, "alone")))
        assert abs(losses / alone.losses - 1).max() > 1e-3


def test_ctrl_c_at_one_rank_stops_all_and_as_many_go_on_to_the_last_bit(tmp_path):
    losses, _ = numbers(start((2, tmp_path, 9, "interrupted")))
    assert np.isfinite(losses).sum() == 6
    numbers(start((2, tmp_path, 9)))
    assert (tmp_path / "run.npz").read_bytes() == undisturbed(2)[2]


@pytest.mark.parametrize(
    ("fault", "message"),
    [("killed", "Killed"), ("error", "rank 1: [^$]*ValueError: what it had to say")],
)
def test_a_rank_that_dies_ends_the_run_with_a_message(fault, message, tmp_path):
    done = start((2, tmp_path, 500, fault))
    assert done.returncode != 0
    assert re.search(message, done.stderr + done.stdout)


def test_what_ranks_cannot_share_is_said_in_one_line_by_rank_0(tmp_path):
    text, other = tmp_path / "text.txt", tmp_path / "other.txt"
    text.write_text(ranks_script.TEXT)
    other.write_text(ranks_script.TEXT.replace("7", "8"))
    words = "language_model", "--steps", "3", "--out", tmp_path / "out", "--text"
    for programs, code, message in [
        ([(2, *words, text)], 1, "2 ranks share a batch of 1; start at most 1"),
        ([(1, *words, text), (1, *words, other)], 2, "rank 1 has another command line"),
        ([(2, *words, tmp_path / "none")], 1, "cannot read .*none: No such file"),
        ([(2, "language_model", "--out", text)], 1, "cannot write to .*text.txt"),
    ]:
        done = start(*programs)
        assert done.returncode == code
        (line,) = done.stderr.splitlines()
        assert re.match(f"demos: .*{message}", line)


def test_agree_names_what_differs(monkeypatch):
    class World:
        """Three ranks, of which this is the first."""

        def allgather(self, own):
            return [own, *self.others]

    monkeypatch.setattr(ranks, "SIZE", 3)
    monkeypatch.setattr(ranks, "world", World())
    notes = {"text": "a", "start": 1}
    World.others = [(None, notes), (None, notes)]
    assert ranks.agree(lambda: "made", lambda _: notes) == "made"
    for others, message in [
        ([(None, notes), (None, notes | {"start": 2})], "rank 2 has another start"),
        ([("no file", {}), (None, notes)], "^rank 1: no file"),
    ]:
        World.others = others
        with pytest.raises(ValueError, match=message):
            ranks.agree(lambda: "made", lambda _: notes)

    def unreadable():
        raise OSError("no file here")

    with pytest.raises(ValueError, match="^no file here"):
        ranks.agree(unreadable, lambda _: notes)


def test_one_process_needs_no_mpi():
    code = "from demos.stage import ranks, training; ranks.connect(); import sys; "
    code += "assert 'mpi4py' not in sys.modules and ranks.SIZE == 1"
    subprocess.run([sys.executable, "-c", code], env=ENV, check=True)
