"""`python -m demos` as a program: pipes that close, disks that are full, no display."""

import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import numpy_only

from demos.stage import command as command_line
from demos.stage import datasets

FOLDER = datasets.FOLDER.parent
pytestmark = numpy_only


def test_a_closed_pipe_is_no_error_and_a_full_disk_takes_a_line(tmp_path):
    words = [sys.executable, "-u", "-m", "demos", "exercise", "--out", tmp_path]
    env = os.environ | {"PYTHONPATH": str(FOLDER.parent)}
    run = subprocess.Popen(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with run:
        assert run.stdout.readline().startswith("exercise: ")
        run.stdout.close()
        assert run.stderr.read() == ""
    assert run.returncode == 0
    closed_before = f"{shlex.quote(sys.executable)} -m demos --list >&-"
    run = subprocess.run(
        closed_before, shell=True, env=env, capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            words = [sys.executable, "-m", "demos", "--list"]
            run = subprocess.run(
                words, env=env, stdout=full, stderr=subprocess.PIPE, check=False
            )
        assert run.returncode == 1
        assert run.stderr == b"[Errno 28] No space left on device\n"


def test_ctrl_c_outside_of_a_demo_is_no_traceback(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt  # SIGINT itself may be ignored where pytest was started

    monkeypatch.setattr(command_line, "main", interrupted)
    with pytest.raises(SystemExit, match="^demos: interrupted$"):
        runpy.run_module("demos", run_name="__main__")


@pytest.mark.parametrize("graphics", ["TkAgg", None])
def test_no_window_without_a_display(tmp_path, graphics):
    env = {k: v for k, v in os.environ.items() if "DISPLAY" not in k}
    env |= {"PYTHONPATH": str(FOLDER.parent)}
    env |= {"MPLBACKEND": graphics} if graphics else {}
    words = [sys.executable, "-m", "demos", "lookup", "--interactive"]
    done = subprocess.run(
        words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "demos: --interactive: no display to open a window on\n"
    assert not list(tmp_path.iterdir())
