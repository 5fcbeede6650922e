"""Replicas: parts of a batch in several processes give the gradients of the whole."""

import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import close, same

from attention import GPT
from demos.stage import replicas
from demos.stage.replicas import Replicas
from demos.stage.training import loss_of
from minigrad import nn

BATCH = np.random.default_rng(0).integers(5, size=(7, 9))


@pytest.fixture
def model():
    nn.seed(0)
    return GPT(5, context=8, d_model=8, heads=2, layers=1)


def processes(monkeypatch, n):
    """Have n processes, the present one included, on a machine of any size."""
    monkeypatch.setattr(replicas, "THREADS", n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_gradients_of_the_parts_add_up(n, model, monkeypatch, xp):
    processes(monkeypatch, n)
    with Replicas(model, loss_of) as shared:
        assert len(shared.others) == (n - 1 if xp is np else 0)
        # a batch of one text leaves no part for the others
        for batch in (BATCH, BATCH[:1], BATCH[::-1]):
            for p in model.parameters():
                p.grad = None
            expected = loss_of(model, batch)
            expected.backward()
            gradients = [p.grad for p in model.parameters()]
            assert shared.backward(batch) == pytest.approx(expected.item(), rel=1e-6)
            for p, g in zip(model.parameters(), gradients, strict=True):
                assert p.grad.dtype == "f4"
                close(p.grad, g, rtol=1e-4, atol=1e-6)
                p.data = p.data - g  # the next batch meets new weights


def test_the_same_parts_give_the_same_bits(model, monkeypatch):
    processes(monkeypatch, 3)
    runs = []
    for _ in range(2):
        with Replicas(model, loss_of) as shared:
            loss = shared.backward(BATCH)
            runs.append([loss, *(p.grad for p in model.parameters())])
    for one, other in zip(*runs, strict=True):
        same(one, other)


def test_no_process_outlives_the_block(model, monkeypatch):
    processes(monkeypatch, 3)
    with Replicas(model, loss_of) as shared:
        others = [process for process, *_ in shared.others]
        assert all(process.is_alive() for process in others)
    assert [process.exitcode for process in others] == [0] * len(others)
    shared.backward(BATCH)  # alone


def test_ctrl_c_is_not_for_the_other_processes(model, monkeypatch):
    processes(monkeypatch, 2)
    with Replicas(model, loss_of) as shared:
        loss = shared.backward(BATCH)
        for process, *_ in shared.others:
            os.kill(process.pid, signal.SIGINT)
        assert shared.backward(BATCH) == loss


def test_a_process_that_fails_is_no_riddle(model, monkeypatch, capfd, xp):
    if xp is not np:
        return  # there are no others
    processes(monkeypatch, 2)
    ended = pytest.raises(RuntimeError, match="a process ended with exit code 1")
    with Replicas(model, loss_of) as shared, ended:
        shared.backward(spoiled(-1))
    assert "IndexError" in capfd.readouterr().err


NO_GUARD = """
from attention import GPT
from demos.stage import replicas
from demos.stage.training import loss_of

replicas.THREADS = 3
model = GPT(300, context=8, d_model=128, heads=2, layers=1)  # more than a pipe holds
with replicas.Replicas(model, loss_of):
    pass
"""


def test_a_script_without_a_guard_ends_and_is_told_of_it(tmp_path, xp):
    if xp is not np:
        return
    script = tmp_path / "script.py"
    script.write_text(NO_GUARD)
    run = subprocess.run(
        [sys.executable, script],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    assert "Replicas: a process ended with exit code 1" in run.stderr
    assert "a script needs" in run.stderr


def test_after_an_error_no_answer_is_taken_for_another(model, monkeypatch):
    processes(monkeypatch, 2)
    with Replicas(model, loss_of) as shared:
        with pytest.raises(IndexError, match="outside"):
            shared.backward(spoiled(0))
        loss = shared.backward(BATCH[::-1])
    assert loss == pytest.approx(loss_of(model, BATCH[::-1]).item(), rel=1e-6)


def spoiled(text):
    """Return the batch with a letter in this text that does not exist.

    The first text is in the part of this process, the last is not."""
    batch = BATCH.copy()
    batch[text, 0] = 5
    return batch


def test_where_a_process_cannot_be_started_all_is_as_before(model, monkeypatch, xp):
    if xp is not np:
        return
    processes(monkeypatch, 3)
    started = []
    start = multiprocessing.process.BaseProcess.start

    def start_one(process):
        if started:
            raise OSError("no more")
        started.append(process)
        start(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start_one)
    with pytest.raises(OSError, match="no more"):
        Replicas(model, loss_of).__enter__()
    assert [process.is_alive() for process in started] == [False]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_replicas_cannot_share_is_refused(model):
    with pytest.raises(ValueError, match="the batch is empty"):
        Replicas(model, loss_of).backward(BATCH[:0])
    model.astype(float)
    with pytest.raises(TypeError, match="float64"):
        Replicas(model, loss_of).__enter__()
