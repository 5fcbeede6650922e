"""Training: what a run gives, that it can be stopped and resumed, and how it fails."""

import math
import signal

import numpy as np
import pytest
from conftest import numpy_only, same

from demos.stage import training
from demos.stage.training import Training
from minigrad import Tensor
from minigrad import backend as B

TEXT = "".join(f"{n} times {n} is {n * n}; " for n in range(120))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Make the model and the batches small."""
    sizes = {"context": 16, "d_model": 16, "heads": 2, "layers": 2}
    for name, value in {"CONTEXT": 16, "BATCH": 4, "SIZES": sizes, "EVERY": 8}.items():
        monkeypatch.setattr(training, name, value)


@pytest.fixture(autouse=True)
def interruptible():
    """Let Ctrl-C raise, also where pytest was started with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def same_state(a, b):
    for one, other in [(a, b), (a.optimizer, b.optimizer)]:
        state, expected = one.state_dict(), other.state_dict()
        assert state.keys() == expected.keys()
        for name, values in state.items():
            same(values, expected[name])


@numpy_only
def test_twenty_steps_learn_and_repeat_to_the_last_bit(monkeypatch, tmp_path):
    monkeypatch.setattr(training, "WARMUP", 3)
    first, again, other = (
        Training(TEXT, 20),
        Training(TEXT, 20),
        Training(TEXT, 20, seed=1),
    )
    for run in (first, again, other):
        assert run.run(tmp_path / "run.npz")
    same(again.losses, first.losses)
    assert abs(other.losses - first.losses).min() > 0
    assert first.losses[0] == pytest.approx(math.log(len(first.letters)), abs=0.05)
    assert first.losses[-5:].mean() < first.losses[0] - 0.1
    assert np.isfinite(first.tests).all()
    assert first.tests[-1] == first.test()
    assert first.optimizer.lr == training.warmup_cosine(19, 3, 20, 1e-3, 1e-4) < 1.1e-4
    assert all(p.dtype == "f4" for p in first.model.parameters())


@pytest.mark.parametrize("positions", ["rope", "learned"])
def test_ctrl_c_saves_and_resume_continues_to_the_last_bit(
    positions, monkeypatch, tmp_path
):
    path = tmp_path / "run.npz"
    whole = Training(TEXT, 12, positions)
    assert whole.run(tmp_path / "whole.npz")

    stopped = Training(TEXT, 12, positions)
    backward = Tensor.backward

    def pressed_at_step_5(loss):
        backward(loss)
        if stopped.step == 5:
            signal.raise_signal(signal.SIGINT)  # in the middle of a step

    with monkeypatch.context() as patch:
        patch.setattr("minigrad.Tensor.backward", pressed_at_step_5)
        assert not stopped.run(path)
    assert stopped.step == 6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    resumed = Training(TEXT, 12, positions)
    resumed.resume(path)
    same_state(resumed, stopped)
    assert resumed.run(path)
    same_state(resumed, whole)
    nothing_left = Training(TEXT, 12, positions)
    nothing_left.resume(path)
    assert nothing_left.run(path)
    same_state(nothing_left, whole)


def test_checkpoints_are_written_on_the_way(monkeypatch, tmp_path):
    steps = []
    monkeypatch.setattr(training, "save", lambda path, run, _: steps.append(run.step))
    Training(TEXT, 20).run(tmp_path / "run.npz")
    assert steps == [8, 16, 20]


def test_a_checkpoint_of_another_run_changes_nothing(tmp_path):
    path = tmp_path / "run.npz"
    Training(TEXT, 3).run(path)
    for run, message in [
        (Training(TEXT, 3, "learned"), "positions.weight"),
        (Training(TEXT, 4), "losses"),
    ]:
        before = run.state_dict()
        with pytest.raises(ValueError, match=message):
            run.resume(path)
        for name, values in run.state_dict().items():
            same(values, before[name])


@pytest.mark.parametrize("fault", ["loss", "gradient"])
def test_a_loss_or_gradient_that_is_not_finite_stops_at_its_step(
    fault, monkeypatch, tmp_path
):
    run = Training(TEXT, 9)
    for _ in range(3):
        run.advance()
    before = run.state_dict()
    weight = run.model.norm.weight
    if fault == "loss":
        cross_entropy = training.cross_entropy
        monkeypatch.setattr(
            training, "cross_entropy", lambda *args: cross_entropy(*args) * math.nan
        )
    else:
        clip = training.clip_grad_norm

        def spoiled(params, limit):
            weight.grad = weight.grad * math.inf
            return clip(params, limit)

        monkeypatch.setattr(training, "clip_grad_norm", spoiled)
    with pytest.raises(FloatingPointError, match="step 3"):
        run.run(tmp_path / "run.npz")
    for name, values in run.state_dict().items():
        same(values, before[name])


def test_a_checkpoint_of_another_text_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    Training(TEXT, 3).run(path)
    other = Training(TEXT[::-1], 3)  # of the same letters
    with pytest.raises(ValueError, match="names differ: missing .'text "):
        other.resume(path)
    assert other.step == 0


def test_an_unwritable_folder_is_said_before_the_first_step(tmp_path):
    (tmp_path / "file").write_text("no folder")
    run = Training(TEXT, 3)
    with pytest.raises(OSError, match="cannot write to"):
        run.run(tmp_path / "file" / "run.npz")
    assert run.step == 0


def test_a_text_of_less_than_one_context_is_refused():
    with pytest.raises(ValueError, match="it takes 17 to test one context"):
        Training("to be or not to be " * 8, 3)


def test_the_held_out_text_is_read_once_in_consecutive_contexts():
    run = Training(TEXT, 3)
    losses = []
    for start in range(0, len(run.held_out) - 16, 16):
        ids = run.held_out[start : start + 17]
        logits = B.to_numpy(run.model(ids[None, :-1]))[0].astype(float)
        logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        losses.extend(-logits[np.arange(16), ids[1:]])
    assert len(losses) > 100
    assert run.test() == pytest.approx(np.mean(losses), rel=1e-6)


def test_a_batch_depends_on_seed_and_step_alone():
    run, again = Training(TEXT, 3), Training(TEXT, 3)
    first = run.batch()
    same(again.batch(), first)
    run.advance()
    assert (run.batch() != first).any()
    text = "".join(run.letters[i] for i in first[0])
    assert len(text) == 17
    assert text in TEXT[: len(run.text)]
