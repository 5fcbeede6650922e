"""The command line of the demos: what runs, where its output goes, and every wrong word."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from demos import DEMOS
from demos.d_roles import exercise
from demos.stage import datasets, window
from demos.stage.command import main
from demos.stage.page import Page
from minigrad import backend

FOLDER = datasets.FOLDER.parent
TOUR = [demo for demo in DEMOS if not demo.slow and not demo.beyond]


@pytest.fixture(autouse=True)
def xp():
    """Run each test once, on NumPy."""
    return np


def too_wide(line):
    """Return whether a line is too wide for a terminal; a path may be."""
    return len(line) > 80 and not line.startswith("wrote ")


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs `python -m demos` with some words, and returns its
    exit code, what it printed, and its message."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["demos", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as leave:
            code = leave.code or 0
        printed = capsys.readouterr()
        if isinstance(code, str):  # Python prints such a code and leaves with 1
            return 1, printed.out, code
        return code, printed.out, printed.err

    return call


@pytest.fixture
def read_only():
    """Return a folder in which this process may not write, not even as root."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        if root:
            os.seteuid(65534)  # nobody
        yield Path(folder)
        if root:
            os.seteuid(0)
        os.chmod(folder, 0o755)


def test_list_names_every_demo_in_two_parts(command):
    code, out, _ = command("--list")
    assert code == 0
    chapter, beyond = out.split("\n\n")
    for text, part in [(chapter, False), (beyond, True)]:
        names = [line.split()[0] for line in text.splitlines()[1:]]
        assert names == [demo.name for demo in DEMOS if demo.beyond == part]
    assert [demo.name for demo in DEMOS if demo.beyond] == sorted_out("e_beyond")


def sorted_out(folder):
    """Return the demos of a folder, in the order of the table."""
    return [demo.name for demo in DEMOS if demo.folder == folder]


def test_which_demos_run(command, monkeypatch, tmp_path):
    ran = []
    ran_by = lambda d, out: ran.append(d.name) or Page(out)
    monkeypatch.setattr("demos.stage.command.run", ran_by)
    monkeypatch.setattr("demos.stage.command.write_report", lambda pages, path: path)
    for words, expected in [
        ([], [demo.name for demo in TOUR]),
        (["--report"], [demo.name for demo in TOUR]),
        (["--all"], [demo.name for demo in DEMOS if not demo.beyond]),
        (["--beyond", "--all"], sorted_out("e_beyond")),
        (["self_test", "capitals"], ["self_test", "capitals"]),
    ]:
        ran.clear()
        assert command(*words, "--out", tmp_path)[0] == 0
        assert ran == expected


def test_unknown_name_lists_the_demos(command, tmp_path):
    code, _, message = command("exercise", "nonsense", "--out", tmp_path / "new")
    assert code == 2
    assert "no demo named nonsense\n" in message
    assert all(demo.name in message for demo in DEMOS)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("word", "name"),
    [("soft-argmax", "soft_argmax"), ("softargmax", "soft_argmax")]
    + [("capital", "capitals"), ("Self_Test", "self_test")],
)
def test_an_unknown_name_finds_the_nearest(command, word, name):
    code, _, message = command(word)
    assert code == 2
    assert message.startswith(f"no demo named {word}; did you mean {name}?\n")


def test_an_empty_folder_name_is_refused_in_one_line(command):
    code, out, message = command("exercise", "--out", "")
    assert (code, out) == (2, "")
    assert message == "demos: --out is empty; give the name of a folder\n"


def test_help_names_the_default_of_every_option_with_a_value(command):
    code, out, _ = command("language_model", "--help")
    assert code == 0
    assert not any(map(too_wide, out.splitlines()))
    for option in ("--out DIR", "--backend", "--text FILE", "--steps", "--positions"):
        said = out.split(f"\n  {option}")[1].split("\n  --")[0]
        assert re.search(r"\(default: .+\)", " ".join(said.split())), option


def test_pictures_go_to_a_folder_that_is_created_and_a_second_run_repeats_the_first(
    command, tmp_path
):
    """Also as a program with `--report`, and with whatever settings the user has."""
    out = tmp_path / "not" / "yet"
    code, printed, _ = command("exercise", "--out", out)
    assert code == 0
    assert f"wrote {out / 'exercise.png'}" in printed
    assert printed.endswith(f"{out / 'index.html'}\n")
    files = {file.name: file.read_bytes() for file in out.iterdir()}
    assert sorted(files) == ["exercise.png", "index.html"]
    assert b"D4" in files["index.html"]

    rc = tmp_path / "matplotlibrc"
    rc.write_text("savefig.dpi: 20\ntext.usetex: True\nsavefig.format: pdf\n")
    env = {k: v for k, v in os.environ.items() if "DISPLAY" not in k}
    env |= {"PYTHONPATH": str(FOLDER.parent), "MATPLOTLIBRC": str(rc)}
    env |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # a notebook's
    words = [sys.executable, "-m", "demos", "exercise", "--report"]
    subprocess.run(words, cwd=tmp_path, env=env, check=True, capture_output=True)
    again = (tmp_path / "figures" / "exercise.png").read_bytes()
    assert again == files["exercise.png"]


def test_folder_that_cannot_be_written(command, read_only):
    code, out, message = command("exercise", "--out", read_only)
    assert (code, out) == (1, "")
    assert message == f"demos: cannot write to {read_only}: Permission denied"


def test_cupy_that_is_absent(command, monkeypatch, tmp_path, xp):
    monkeypatch.setitem(sys.modules, "cupy", None)
    code, out, message = command("--backend", "cupy", "--out", tmp_path / "new")
    assert (code, out) == (1, "")
    assert re.fullmatch("demos: .*cupy is not installed.*", message)
    assert backend.xp is xp
    assert not (tmp_path / "new").exists()


def test_data_that_is_missing(command, monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "FOLDER", tmp_path / "nowhere")
    code, _, message = command("capitals", "--out", tmp_path)
    assert code == 1
    assert re.fullmatch(r"demos: capitals: .*capitals\.npz.*", message)
    assert not list(tmp_path.iterdir())


def test_a_claim_that_fails_is_the_exit_code(command, monkeypatch, tmp_path):
    monkeypatch.setattr(exercise, "LOG_WEIGHTS", np.zeros(4))
    code, out, message = command("exercise", "--out", tmp_path)
    assert code == 1
    assert "D4 FAILS: A query whose scores are log-weights" in out
    assert message == "demos: D4 failed"


def test_a_toolkit_that_is_missing_is_named(monkeypatch, command):
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(window, "find_spec", lambda name: None)
    code, _, message = command("lookup", "--interactive")
    assert code == 2
    assert "tkinter is missing: apt install python3-tk" in message


def test_no_window_for_other_demos(command):
    code, _, message = command("lookup", "hull", "--interactive")
    assert code == 2
    assert "opens a window for lookup, and for nothing else" in message
