"""A language model: the whole chapter put to work on nine plays.

Question. Given the letters so far, how likely is each next one? Projections, heads, a
causal mask, positions, a network in each position, residuals and norms: does that stack
of lookups learn to write, and about as well as others have got it to?

Guess. An engine of a few thousand lines will do worse than the real ones.

Formula. Four blocks on the vectors of 64 letters, then a score for each of 65 letters:

    x ← x + attention(norm(x))          x ← x + mlp(norm(x))          logits = norm(x) Wᵀ

and the loss is the mean surprise, -log softmax(logits)[next letter], in nats per letter.
The configuration is nanoGPT's for a CPU (its README reports a loss of 1.88), 2,000 steps
of 12 contexts each. With rotated queries and keys (`--positions rope`) in place of
learned positions it gets further.

What to look at. The curve, against guessing by letter frequencies and by pairs of
letters. The four heads that look most clearly at something with a name, and how much of
their weight is there. The sample: words, names and verses, all of them made up.
"""

import math
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from attention import GPT, generate

from ..stage import datasets, ranks
from ..stage.files import read
from ..stage.heads import draw_heads
from ..stage.letters import printable
from ..stage.training import CONTEXT, EVERY, SIZES, Training

STEPS, SAMPLE = 2000, 500  # of training; letters
PLAYS = "nine plays by Shakespeare"
ENOUGH = {"learned": 1.91, "rope": 1.81}  # nats per letter, after STEPS
NANOGPT = 1.88


def add_options(parser):
    """Add what `demo` takes beside the page to the command line."""
    option = parser.add_argument
    option(
        "--text",
        type=Path,
        metavar="FILE",
        help="learn this text in UTF-8 (default: nine plays by Shakespeare)",
    )
    option(
        "--steps", type=int, default=STEPS, help="of training (default: %(default)s)"
    )
    option(
        "--positions",
        choices=["rope", "learned"],
        default="rope",
        help="how it is told where letters stand: turned queries and keys, or learned"
        " vectors (default: %(default)s)",
    )
    option(
        "--seed",
        type=int,
        default=0,
        help="beginning of all random numbers: weights, batches, sample"
        " (default: %(default)s)",
    )
    option(
        "--resume",
        action="store_true",
        help="go on from the last checkpoint of a run with the same options",
    )


def baselines(training):
    """Return the loss on the held-out text of letter frequencies, and of the frequencies
    after each letter, with one added to each count: some letter may be new there."""
    n, seen, new = len(training.letters), training.text, training.held_out
    single = np.bincount(seen, minlength=n) + 1
    single = single / single.sum()
    pairs = np.ones((n, n))
    np.add.at(pairs, (seen[:-1], seen[1:]), 1)
    pairs /= pairs.sum(axis=1, keepdims=True)
    return -np.log(single[new]).mean(), -np.log(pairs[new[:-1], new[1:]]).mean()


def draw_curve(training, others=True):
    """Return a figure of the losses over the steps, of others too if it is their text."""
    figure, ax = plt.subplots()
    steps = np.arange(1, training.steps + 1)
    ax.plot(steps, training.losses, color="C0", alpha=0.35, linewidth=1, label="batch")
    tested = np.minimum(EVERY * np.arange(1, len(training.tests) + 1), training.steps)
    ax.plot(tested, training.tests, "o-", color="C1", label="held-out text")
    names = ("letter frequencies", "pairs of letters")
    for loss, name in zip(baselines(training), names, strict=True):
        ax.axhline(loss, color="0.5", linestyle=":", linewidth=1)
        ax.text(steps[-1], loss + 0.03, name, color="0.4", ha="right")
    if others:
        ax.axhline(NANOGPT, color="0.5", linestyle=":", linewidth=1)
        x, y = 0.01 * training.steps, NANOGPT - 0.04
        ax.text(x, y, "nanoGPT's README", color="0.4", va="top")
    ax.set(
        xlabel="step", ylabel="loss / nats per letter", xlim=(0, 1.02 * training.steps)
    )
    ax.set_ylim(bottom=min(NANOGPT, training.losses.min()) - 0.2)
    ax.set_title(f"{training.tests[-1]:.3f} nats per letter of text not seen")
    ax.legend()
    return figure


def begin(checkpoint, text, steps, positions, seed, resume):
    """Return a Training at its first step, or at that of the checkpoint."""
    if seed < 0:
        raise ValueError(f"--seed {seed} must not be negative")
    if resume and not checkpoint.exists():
        raise ValueError(f"no {checkpoint} to go on from; start without --resume")
    words = read(text) if text else datasets.shakespeare()
    training = Training(words, steps, positions, seed)
    ranks.part_of(training.batch())  # refused now if there are too many ranks
    if resume:
        training.resume(checkpoint)
    return training


def demo(page, steps=STEPS, positions="rope", seed=0, resume=False, text=None):
    name = f"{text.stem}_{positions}" if text else positions
    checkpoint = page.out / f"language_model_{name}_{seed}_{steps}.npz"
    options = checkpoint, text, steps, positions, seed, resume
    try:
        training = ranks.agree(lambda: begin(*options), Training.notes)
    except (TypeError, ValueError) as error:
        sys.exit(f"demos: language_model: {error}")
    size = sum(p.size for p in training.model.parameters())
    page.say(
        f"{len(training.text):,} characters of {text.name if text else PLAYS} to learn"
        f" from, {len(training.held_out):,} held out, {len(training.letters)} different"
        f" ones. {size:,} parameters, {positions} positions, steps {training.step} to"
        f" {steps}; checkpoints go to {checkpoint}."
    )
    try:
        done = training.run(checkpoint)
    except FloatingPointError as error:  # all ranks have it: the loss is their sum
        sys.exit(f"demos: language_model: {error}")
    if not done:
        sys.exit(f"stopped at step {training.step} of {steps}; go on with --resume")
    if ranks.RANK:
        return  # rank 0 has the same model to show
    loss = training.tests[-1]
    page.table(
        ["text foretold by", "nats per letter"],
        [
            ["nothing", math.log(len(training.letters))],
            *zip(["letter frequencies", "pairs"], map(float, baselines(training))),
            ["this model", float(loss)],
        ],
    )
    page.picture(draw_curve(training, others=not text), "language_model")
    n = min(64, (len(training.held_out) - 1) // CONTEXT)
    texts = training.held_out[1 : n * CONTEXT + 1].reshape(n, CONTEXT)
    page.picture(draw_heads(training.model, texts, training.letters), "heads")
    first = training.letters.index("\n") if "\n" in training.letters else texts[0, 0]
    with threadpool_limits(limits=1):  # products of one text are too small for more
        sample = generate(training.model, [first], SAMPLE, seed=seed)
    print(printable("".join(training.letters[i] for i in sample)), end="\n\n")
    if steps >= STEPS and not text:
        page.claim(
            "GPT",
            f"A block of these parts, {SIZES['layers']} times, learns to foretell text"
            f" about as well as nanoGPT of the same size, which reports {NANOGPT}.",
            r"$L=-\frac{1}{N}\sum_t \log softmax(z_t)_{x_{t+1}}$",
            f"{loss:.3f} nats per letter over {len(training.held_out):,} letters, with"
            f" {positions} positions; at most {ENOUGH[positions]} is asked",
            loss <= ENOUGH[positions],
            GPT,
        )
