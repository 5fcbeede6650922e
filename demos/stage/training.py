"""Training a language model on a text, so that it can stop and go on as if it had not.

nanoGPT's configuration for a CPU (github.com/karpathy/nanoGPT, README), with gelu in its
tanh form."""

import hashlib
import math
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from attention import GPT
from minigrad import cross_entropy, load, nn, no_grad, save
from minigrad.optim import AdamW, clip_grad_norm, warmup_cosine

from . import ranks
from .files import make_writable
from .progress import progress

CONTEXT, BATCH = 64, 12
SIZES = {"context": CONTEXT, "d_model": 128, "heads": 4, "layers": 4}
BETAS, DECAY = (0.9, 0.99), 0.1  # of AdamW
HIGH, LOW, WARMUP = 1e-3, 1e-4, 100  # the learning rate, and steps until it is high
CLIP = 1.0  # the longest gradient
MOST = 10**8  # steps; their losses take 0.8 GB
EVERY = 250  # steps between checkpoints
AT_ONCE = 64  # contexts of the held-out text


class Training:
    """A model, its optimiser, and the losses so far: all that a checkpoint holds.

    The last tenth of the text is held out. The batch of a step is drawn by a generator
    that is seeded with the seed and the number of the step, so the number is all that
    the next run needs to know about chance. It makes the same bits on the same machine,
    with as many processes (ranks.py).

    Raises: ValueError for a text too short to hold out one context, or no steps."""

    def __init__(self, text, steps, positions="rope", seed=0):
        self.mark = f"text of SHA-256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"
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
        if not 1 <= steps <= MOST:
            raise ValueError(f"Training: {steps} steps; there must be 1 to {MOST:,}")
        self.steps, self.seed = steps, seed
        nn.seed(seed)
        self.model = GPT(len(self.letters), **SIZES, positions=positions)
        self.optimizer = AdamW(
            self.model.parameters(), HIGH, betas=BETAS, weight_decay=DECAY
        )
        self.losses = np.full(steps, np.nan)  # of each step's batch
        self.tests = np.full(-(-steps // EVERY), np.nan)  # of the held-out text

    @property
    def step(self):
        """The number of steps made."""
        return self.optimizer.steps[0]

    def state_dict(self):
        own = {"losses": self.losses.copy(), "tests": self.tests.copy()}
        own[self.mark] = np.array(len(self.text))  # no run on another text goes on
        return self.model.state_dict() | own

    def load_state_dict(self, state):
        state = dict(state)
        del state[self.mark]
        self.losses, self.tests = state.pop("losses"), state.pop("tests")
        self.model.load_state_dict(state)

    def batch(self):
        """Return BATCH pieces of the text, each one letter longer than a context."""
        rng = np.random.default_rng([self.seed, self.step])
        starts = rng.integers(len(self.text) - CONTEXT, size=(BATCH, 1))
        return self.text[starts + np.arange(CONTEXT + 1)]  # (BATCH, CONTEXT + 1)

    def advance(self, interrupted=()):
        """Make one step; return the loss before it, and whether any rank has something
        in its list `interrupted` by then.

        Raises: FloatingPointError naming the step when loss or gradient is not finite;
        the parameters are then as they were."""
        step, parameters = self.step, self.model.parameters()
        part = ranks.part_of(self.batch())
        self.optimizer.zero_grad()
        loss = loss_of(self.model, part) * (len(part) / BATCH)
        loss.backward()
        loss, stop = ranks.add_up(parameters, loss.item(), len(interrupted))
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"the loss is {loss} at step {step}; lower the learning rate"
            )
        try:
            clip_grad_norm(parameters, CLIP)
        except FloatingPointError as error:
            raise FloatingPointError(f"step {step}: {error}") from error
        self.optimizer.lr = warmup_cosine(step, WARMUP, self.steps, HIGH, LOW)
        self.optimizer.step()
        self.losses[step] = loss
        return loss, stop > 0

    @no_grad()
    def test(self, bar=None):
        """Return the mean loss over the held-out text in consecutive contexts, in nats
        per letter."""
        contexts = (len(self.held_out) - 1) // CONTEXT
        first, last = (contexts * r // ranks.SIZE for r in (ranks.RANK, ranks.RANK + 1))
        total = 0.0
        for start in range(first, last, AT_ONCE):
            n = min(AT_ONCE, last - start)
            ids = self.held_out[start * CONTEXT :][: n * CONTEXT + 1]
            inputs, targets = ids[:-1].reshape(n, CONTEXT), ids[1:].reshape(n, CONTEXT)
            total += cross_entropy(self.model(inputs), targets, reduction="sum").item()
            if bar is not None:
                bar.update(targets.size * ranks.SIZE)
        return ranks.total(total) / (contexts * CONTEXT)

    def run(self, path):
        """Train to the last step, with a checkpoint at `path` every EVERY steps.

        Ctrl-C ends it after the present step, with a checkpoint. Return whether the
        last step was reached. This runs in the main thread, for the sake of Ctrl-C.

        Raises: OSError before the first step when the folder cannot be written to."""
        if ranks.RANK == 0:
            make_writable(Path(path).parent)
        stop, total = False, self.read(self.steps)
        with (
            one_core_each(),
            interruptions() as interrupted,
            progress(total=total, initial=self.read(self.step), unit="letters") as bar,
        ):
            while self.step < self.steps and not stop:
                loss, stop = self.advance(interrupted)
                bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
                bar.update(BATCH * CONTEXT)
                if self.step % EVERY == 0 or self.step == self.steps:
                    bar.set_description("testing")
                    self.tests[(self.step - 1) // EVERY] = self.test(bar)
                    self.save(path)
                    bar.set_description("")
                    bar.n = self.read(self.step)  # with what other ranks have read
            if stop:
                self.save(path)
        return self.step == self.steps

    def read(self, steps):
        """Return how many letters are read in so many steps, those of tests too."""
        tests = -(-self.steps // EVERY) if steps == self.steps else steps // EVERY
        return steps * BATCH * CONTEXT + tests * len(self.held_out)

    def notes(self):
        """Return what all ranks must have alike."""
        state = [*self.state_dict().values(), *self.optimizer.state_dict().values()]
        start = hashlib.sha256(b"".join(x.tobytes() for x in state)).hexdigest()
        return {"text": self.mark, "beginning or checkpoint": start}

    def save(self, path):
        """Write a checkpoint, as rank 0; the others have the same numbers."""
        if ranks.RANK == 0:
            save(path, self, self.optimizer)

    def resume(self, path):
        """Continue from the checkpoint at `path`."""
        load(path, self, self.optimizer)


def loss_of(model, ids):
    """Return the mean surprise at the next letter, in texts (B, T + 1), in nats."""
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:])


def one_core_each():
    """Keep NumPy's products to one thread, if ranks share the cores already: for the
    whole step, since threads that wait for work take the other rank's core."""
    return threadpool_limits(limits=1 if ranks.SIZE > 1 else None)


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
