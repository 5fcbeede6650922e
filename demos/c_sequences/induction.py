"""Induction: a lookup that a model teaches itself, the last time this letter came up.

Problem. Attention mixes by content, not by place. Will a model find a use for that by
itself? The text is random letters, and then the same letters again, so only one thing in
it can be foretold: in the second copy, the next letter is the one that followed this
letter the first time. The copies are of 6 to 12 letters, so counting back does not help.

Formula. Two layers of attention and nothing else, one head each:

    x ← x + attn₁(norm(x))          x ← x + attn₂(norm(x))          logits = norm(x) W

One layer cannot do it: there a key is made of its own letter alone, and the key to be
found is that of the letter after. Two can. The first puts the letter before into each
position; the second asks which position has my letter before it. With p the length of a
copy that place is p - 1 back, and the score of the head is its mean weight there. Olsson
et al., "In-context Learning and Induction Heads" (2022).

What to look at. Below, the dark stripes: of layer 1 one back, of layer 2 p - 1 back, in
the second copy alone. Above: little for long, then all at once, for neither layer is of
use before the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import MultiHeadAttention
from minigrad import cross_entropy, nn, no_grad
from minigrad.backend import to_numpy
from minigrad.optim import AdamW, clip_grad_norm

from ..stage.drawing import weight_map
from ..stage.progress import progress

LETTERS = "abcdefghijklmnopqrstuvwx"
LENGTH = 24  # of a text: a beginning of no use, and two copies
SHORTEST, LONGEST = 6, 12  # copies
BATCH, STEPS, LR = 32, 500, 0.01


class Model(nn.Module):
    """Letters (B, T) -> logits (B, T, 24), and the weights of each layer (B, T, T)."""

    def __init__(self, width=32):
        self.letters = nn.Embedding(len(LETTERS), width)
        self.norms = [nn.LayerNorm(width, bias=False) for _ in range(2)]
        self.layers = [
            MultiHeadAttention(width, heads=1, causal=True, rope=True) for _ in range(2)
        ]
        self.last_norm = nn.LayerNorm(width, bias=False)
        self.output = nn.Linear(width, len(LETTERS), bias=False)

    def __call__(self, ids):
        x, weights = self.letters(ids), []  # (B, T, d)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            y, A = layer(norm(x), return_weights=True)  # (B, T, d), (B, 1, T, T)
            x = x + y
            weights.append(A[:, 0])
        return self.output(self.last_norm(x)), weights


def draw(rng, count):
    """Return texts as numbers (count, LENGTH), and the lengths p (count, 1) of their
    copies. No letter comes twice but in the second copy."""
    order = rng.random((count, LENGTH)).argsort(axis=1)  # each letter once
    p = rng.integers(SHORTEST, LONGEST + 1, size=(count, 1))
    place, first = np.arange(LENGTH), LENGTH - 2 * p
    return np.take_along_axis(
        order, np.where(place < first, p + place, (place - first) % p), axis=1
    ), p


def stripes(weights, p):
    """Return the mean weight of layer 1 on the letter before, and of layer 2 on what
    followed the letter the first time; weights two arrays (B, T, T), p (B, 1)."""
    first, second = map(to_numpy, weights)
    t = np.arange(LENGTH - 1)
    rows, places = np.nonzero(t >= LENGTH - p)  # of the second copies
    before = first[:, t[1:], t[:-1]].mean()
    return float(before), float(second[rows, places, places - p[rows, 0] + 1].mean())


def train(steps=STEPS, seed=0):
    """Return a trained model, and for each step the loss and the two `stripes`."""
    nn.seed(seed)
    model = Model()
    optimizer = AdamW(model.parameters(), LR, weight_decay=0.0)
    rng = np.random.default_rng(seed)
    history = []
    for _ in progress(range(steps)):
        ids, p = draw(rng, BATCH)
        known = np.arange(LENGTH - 1) >= LENGTH - p  # the next letter is in both copies
        logits, weights = model(ids[:, :-1])
        loss = cross_entropy(logits, np.where(known, ids[:, 1:], -1), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        history.append([loss.item(), *stripes(weights, p)])
    return model, np.array(history)


@no_grad()
def evaluate(model, ids, p):
    """Return the share of the letters of second copies that are foretold, the two
    `stripes`, and the weights of both layers."""
    logits, weights = model(ids[:, :-1])
    known = np.arange(LENGTH - 1) >= LENGTH - p
    right = to_numpy(logits).argmax(axis=-1) == ids[:, 1:]
    return right[known].mean(), stripes(weights, p), [to_numpy(A) for A in weights]


def demo(page):
    model, history = train()
    ids, p = draw(np.random.default_rng(1), 512)
    right, (before, found), weights = evaluate(model, ids, p)
    k = int(np.argmax(p[:, 0] == 9))  # a text to look at
    text = "".join(LETTERS[i] for i in ids[k])
    page.say(
        f"A text: {text[:6]} {text[6:15]} {text[15:]}. In 512 new texts the model"
        f" foretells {right:.1%} of the letters of the second copy, all but its first."
    )
    page.table(
        ["layer", "looks at", "mean weight"],
        [[1, "the letter before", before], [2, "what followed last time", found]],
    )

    figure = plt.figure(figsize=(9.4, 8.0))
    top, left, right_ax = figure.subplot_mosaic(
        [["curve", "curve"], ["first", "second"]], height_ratios=[1, 2.2]
    ).values()
    top.plot(history[:, 0] / np.log(len(LETTERS)), color="0.6", label="loss / log 24")
    top.plot(history[:, 1], color="C1", label="layer 1, on the letter before")
    top.plot(history[:, 2], color="C0", label="layer 2, on what followed last time")
    top.set(
        xlabel="step",
        ylabel="fraction",
        ylim=(-0.03, 1.1),
        title="Little for long, then all at once",
    )
    top.legend(loc="center left")
    allowed = np.tri(LENGTH - 1, dtype=bool)
    titles = ("Layer 1 looks one back", "Layer 2 looks at what followed last time")
    for ax, A, title in zip((left, right_ax), weights, titles, strict=True):
        image = weight_map(ax, A[k], allowed)
        ax.set_xticks(range(LENGTH - 1), text[:-1])
        ax.set_yticks(range(LENGTH - 1), text[:-1])
        ax.set_aspect("equal")
        ax.set_title(title)
        for edge in (5.5, 14.5):  # where the copies begin
            ax.axhline(edge, color="C1", linewidth=1)
            ax.axvline(edge, color="C1", linewidth=1)
    figure.colorbar(image, ax=[left, right_ax], shrink=0.8, label="weight")
    page.picture(figure, "induction")
    page.claim(
        "C5",
        "Two layers of attention learn to look up what followed a letter the last time,"
        " wherever that was.",
        r"$\alpha_{t,\,t-p+1}\approx 1$",
        f"mean weight {found:.2f} there, and {before:.2f} on the letter before in layer 1;"
        f" {right:.1%} of the letters foretold",
        found > 0.9 and before > 0.5 and right > 0.95,
        MultiHeadAttention,
    )
