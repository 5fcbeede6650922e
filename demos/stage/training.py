"""Training a language model on a text, so that it can stop and go on as if it had not.

nanoGPT's configuration for a CPU (github.com/karpathy/nanoGPT, README), with gelu in its
tanh form."""

import math
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tqdm import tqdm

from attention import GPT
from minigrad import cross_entropy, load, nn, no_grad, save
from minigrad.optim import AdamW, clip_grad_norm, cosine

from .page import make_writable
from .replicas import Replicas

CONTEXT, BATCH = 64, 12
SIZES = {"context": CONTEXT, "d_model": 128, "heads": 4, "layers": 4}
BETAS, DECAY = (0.9, 0.99), 0.1  # of AdamW
HIGH, LOW, WARMUP = 1e-3, 1e-4, 100  # the learning rate, and steps until it is high
CLIP = 1.0  # the longest gradient
EVERY = 250  # steps between checkpoints


class Training:
    """A model, its optimiser, and the losses so far: all that a checkpoint holds.

    The last tenth of the text is held out. The batch of a step is drawn by a generator
    that is seeded with the seed and the number of the step, so the number is all that
    the next run needs to know about chance. It makes the same bits on the same machine,
    with as many processes (replicas.py).

    Raises: ValueError for a text too short to hold out one context, or no steps."""

    def __init__(self, text, steps, positions="rope", seed=0):
        self.letters = sorted(set(text))
        number = {letter: i for i, letter in enumerate(self.letters)}
        ids = np.array([number[letter] for letter in text])
        cut = len(ids) * 9 // 10
        self.text, self.held_out = ids[:cut], ids[cut:]
        if len(self.held_out) <= CONTEXT:
            raise ValueError(
                f"Training: a text of {len(ids)} characters holds out "
                f"{len(self.held_out)}; it takes {CONTEXT + 1} to test one context"
            )
        if steps < 1:
            raise ValueError(f"Training: {steps} steps; there must be at least 1")
        self.steps, self.seed = steps, seed
        nn.seed(seed)
        self.model = GPT(len(self.letters), **SIZES, positions=positions)
        self.optimizer = AdamW(
            self.model.parameters(), HIGH, betas=BETAS, weight_decay=DECAY
        )
        self.replicas = Replicas(self.model, loss_of)
        self.losses = np.full(steps, np.nan)  # of each step's batch
        self.tests = np.full(-(-steps // EVERY), np.nan)  # of the held-out text

    @property
    def step(self):
        """The number of steps made."""
        return self.optimizer.steps[0]

    def state_dict(self):
        own = {"losses": self.losses.copy(), "tests": self.tests.copy()}
        return self.model.state_dict() | own

    def load_state_dict(self, state):
        state = dict(state)
        self.losses, self.tests = state.pop("losses"), state.pop("tests")
        self.model.load_state_dict(state)

    def batch(self):
        """Return BATCH pieces of the text, each one letter longer than a context."""
        rng = np.random.default_rng([self.seed, self.step])
        starts = rng.integers(len(self.text) - CONTEXT, size=(BATCH, 1))
        return self.text[starts + np.arange(CONTEXT + 1)]  # (BATCH, CONTEXT + 1)

    def advance(self):
        """Make one step and return the loss before it.

        Raises: FloatingPointError naming the step when loss or gradient is not finite;
        the parameters are then as they were."""
        step = self.step
        loss = self.replicas.backward(self.batch())
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"the loss is {loss} at step {step}; lower the learning rate"
            )
        try:
            clip_grad_norm(self.model.parameters(), CLIP)
        except FloatingPointError as error:
            raise FloatingPointError(f"step {step}: {error}") from error
        self.optimizer.lr = cosine(step, WARMUP, self.steps, HIGH, LOW)
        self.optimizer.step()
        self.losses[step] = loss
        return loss

    @no_grad()
    def test(self):
        """Return the mean loss over the held-out text in consecutive contexts, in nats
        per letter."""
        n = (len(self.held_out) - 1) // CONTEXT
        inputs = self.held_out[: n * CONTEXT].reshape((n, CONTEXT))
        targets = self.held_out[1 : n * CONTEXT + 1].reshape((n, CONTEXT))
        total = 0.0
        for start in range(0, n, 64):  # contexts at once
            part = slice(start, start + 64)
            loss = cross_entropy(
                self.model(inputs[part]), targets[part], reduction="sum"
            )
            total += loss.item()
        return total / targets.size

    def run(self, path):
        """Train to the last step, with a checkpoint at `path` every EVERY steps.

        Ctrl-C ends it after the present step, with a checkpoint. Return whether the
        last step was reached. This runs in the main thread, and has Replicas.

        Raises: OSError before the first step when the folder cannot be written to."""
        make_writable(Path(path).parent)
        with interruptions() as interrupted, self.replicas, progress(self) as bar:
            while self.step < self.steps and not interrupted:
                loss = self.advance()
                bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
                bar.update(BATCH * CONTEXT)
                if self.step % EVERY == 0 or self.step == self.steps:
                    self.tests[(self.step - 1) // EVERY] = self.test()
                    save(path, self, self.optimizer)
            if interrupted:
                save(path, self, self.optimizer)
        return self.step == self.steps

    def resume(self, path):
        """Continue from the checkpoint at `path`."""
        load(path, self, self.optimizer)


def loss_of(model, ids):
    """Return the mean surprise at the next letter, in texts (B, T + 1), in nats."""
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:])


@contextmanager
def interruptions():
    """Collect Ctrl-C in a list instead of raising: between two lines of an optimiser's
    step it would leave half of the parameters moved."""
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def progress(training):
    """Return a bar that counts tokens, here letters; it shows the loss, tokens a second,
    and the time that is left."""
    done, total = (n * BATCH * CONTEXT for n in (training.step, training.steps))
    return tqdm(
        initial=done,
        total=total,
        unit="tokens",
        unit_scale=True,
        file=sys.stderr,
        disable=None,
    )
