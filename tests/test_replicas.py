"""Replicas: parts of a batch in several processes give the gradients of the whole."""

import numpy as np
import pytest
from conftest import close, same

from attention import GPT
from demos import replicas
from demos.replicas import Replicas
from demos.training import loss_of
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
        # of one text only the first process has a part
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


def test_a_process_that_fails_is_no_riddle(model, monkeypatch, capfd, xp):
    if xp is not np:
        return  # there are no others
    processes(monkeypatch, 2)
    batch = BATCH.copy()
    batch[-1, 0] = 5  # there is no such letter; the last text is not in our own part
    with Replicas(model, loss_of) as shared:
        with pytest.raises(RuntimeError, match="a process has ended, see above"):
            shared.backward(batch)
        (process, *_), *_ = shared.others
        process.join()
    assert "IndexError" in capfd.readouterr().err
