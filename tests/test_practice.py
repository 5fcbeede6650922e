"""The files of the blanks: written, run side by side from any folder, and given what no
answer should be."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import numpy_only
from practice_answers import filled

from demos.practice import BLANKS, check, check_file, desk
from demos.practice.__main__ import main
from demos.practice.sheet import sheet
from demos.practice.source import cut

pytestmark = numpy_only
each_blank = pytest.mark.parametrize("name", BLANKS)
ROOT = Path(__file__).parent.parent


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs `python -m demos.practice` with some words, and returns
    its exit code, what it printed, and its message."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["practice", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as leave:
            code = leave.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def python(*words, cwd):
    """Run Python as a learner does, in a folder; return exit code, output, message."""
    setting = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=setting,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_list_that_nobody_reads_to_its_end_is_no_error():
    end, start = os.pipe()
    os.close(end)
    words = [sys.executable, "-m", "demos.practice"]
    with open(start, "w") as closed:
        done = subprocess.run(
            words, cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_list_says_what_each_teaches_and_how_long_it_takes(command):
    code, out, _ = command()
    assert code == 0
    for blank in BLANKS.values():
        assert re.search(rf"{blank.name} +{blank.minutes} min  {blank.teaches}", out)
    assert max(map(len, out.splitlines())) <= 80
    assert next(iter(BLANKS)) == "product"
    assert len(BLANKS) >= 12


def test_a_file_is_written_once_and_never_over_another(command, tmp_path):
    code, out, err = command("softmax", "--out", tmp_path / "new")
    path = tmp_path / "new" / "softmax.py"
    assert (code, err) == (0, "")
    assert str(path) in out
    path.write_text("mine")
    code, out, err = command("softmax", "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert f"{path} is there already" in err
    assert path.read_text() == "mine"
    assert command("softmax", "--out", "")[0] == 2


def test_a_folder_that_cannot_be_is_said_in_a_line(command, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = command("softmax", "--out", tmp_path / "file")
    assert code == 2
    assert err.startswith("practice: cannot write") and err.count("\n") == 1


def test_an_unknown_name_gets_the_list_and_the_nearest(command, tmp_path):
    code, out, err = command("softmaxx", "--out", tmp_path)
    assert (code, out) == (2, "")
    assert "no blank named softmaxx; did you mean softmax?" in err
    assert "causal_mask" in err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError, match="did you mean causal_mask"):
        check("causal-mask", print)
    with pytest.raises(TypeError, match="3 is no function"):
        check("softmax", 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the files of all blanks, some of them filled in."""
    folder = tmp_path_factory.mktemp("practice")
    for name, blank in BLANKS.items():
        (folder / f"{name}.py").write_text(sheet(blank), encoding="utf-8")
    for name in ("attention", "soft_lookup"):
        text = filled(name, cut(BLANKS[name]).body)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["attention", "soft_lookup"])
def test_files_work_side_by_side_from_any_folder(folder, name):
    """attention.py would hide the package of that name from soft_lookup.py."""
    for cwd, path in ((folder, f"{name}.py"), (ROOT, folder / f"{name}.py")):
        code, out, err = python(path, cwd=cwd)
        assert (code, err) == (0, "")
        assert out.startswith(f"{name}: right, in ")


def test_programs_of_this_package_start_beside_an_attention_py(folder):
    code, out, _ = python("-m", "demos.practice", "soft_lookup.py", cwd=folder)
    assert code == 0
    assert out.startswith("soft_lookup: right")
    assert python("-m", "demos", "exercise", "--help", cwd=folder)[0] == 0


def test_a_file_from_the_clone_runs_where_nothing_is_installed(folder):
    setting = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, folder / "softmax.py"],
        cwd=ROOT,
        env=setting,
        capture_output=True,
        check=False,
    )
    assert b"nothing is written here yet" in done.stdout


def test_a_file_gives_hints_and_knows_no_more(folder):
    first, _, third = BLANKS["matmul"].hints.split("\n\n")
    assert python("matmul.py", "--hint", "1", cwd=folder) == (0, f"{first}\n", "")
    code, _, err = python("matmul.py", "--hint", "4", cwd=folder)
    assert code == 2
    assert third not in err


def test_an_empty_body_says_that_it_is_empty(folder):
    code, out, err = python("fit.py", cwd=folder)
    assert (code, err) == (1, "")
    assert out == "fit: nothing is written here yet (at x a row)\n"


def line_with(text, part):
    """Return the number of the line that has a part in it."""
    return next(i for i, line in enumerate(text.split("\n"), 1) if part in line)


BAD = {
    "return y * (g -": ("syntax", "was never closed"),
    "return undefined": ("raises", "NameError: name 'undefined' is not defined"),
    "return 1 / 0": ("raises", "ZeroDivisionError: division by zero"),
    "exit()": ("raises", "SystemExit"),
    "return rule(g, y, x)": ("raises", "RecursionError"),
    "return y[7]": ("raises", "IndexError"),
    "pass": ("none", "it returns None"),
    "return [g]": ("type", "a list"),
    "return 'g'": ("type", "a str"),
    "return g[..., :1]": ("shape", "shape"),
    "return g * np.nan": ("nan", "NaN"),
    "return g, g": ("count", "2 arrays"),
}


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_answer_is_named_with_the_learners_own_line(tmp_path, body):
    id, words = BAD[body]
    path = tmp_path / "softmax.py"
    path.write_text(filled("softmax", body), encoding="utf-8")
    right, mistake, message = check_file(path)
    assert (right, mistake) == (False, id)
    assert words in message
    assert "Traceback" not in message
    if id in ("syntax", "raises"):
        assert message.count("\n") == 0
        line = line_with(path.read_text(encoding="utf-8"), body)
        assert f"softmax.py, line {line}: " in message


def test_a_file_that_cannot_be_checked_is_said_in_a_line(command, tmp_path):
    for name, words in {
        "soft.py": "no blank named soft; did you mean softmax?",
        "softmax.py": "cannot read",
        "softmax_2.py": "did you mean softmax?",
    }.items():
        code, out, err = command(tmp_path / name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err
    (tmp_path / "softmax.py").write_bytes(b"\xff\xfe\x00")
    assert command(tmp_path / "softmax.py")[0] == 2
    (tmp_path / "softmax.py").write_text("raise ValueError('two\\nlines')\n")
    code, out, _ = command(tmp_path / "softmax.py")
    assert (code, out) == (1, "softmax: softmax.py, line 1: ValueError: two lines\n")
    (tmp_path / "softmax.py").write_text("rule = 3\n")
    code, out, _ = command(tmp_path / "softmax.py")
    assert (code, out) == (1, "softmax: there is no function `rule` in the file\n")


def test_python_itself_says_which_line_does_not_parse(folder, tmp_path):
    path = tmp_path / "softmax.py"
    path.write_text(filled("softmax", "return y * (g -"), encoding="utf-8")
    code, out, err = python(path, cwd=tmp_path)
    line = line_with(path.read_text(encoding="utf-8"), "return y * (g -")
    assert (code, out) == (1, "")
    assert f'softmax.py", line {line}' in err
    assert "Traceback" not in err


def test_ctrl_c_on_the_command_line_is_no_traceback(monkeypatch, capsys):
    def rule(g, y, x, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["softmax.py"])
    with pytest.raises(SystemExit) as leave:
        desk.main("softmax", {"rule": rule})
    assert leave.value.code == 130
    assert capsys.readouterr() == ("interrupted\n", "")
