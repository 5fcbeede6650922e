"""A model that learns to copy: two layers of attention, on texts that repeat themselves.

Letters: B texts, T positions, d the width, p the length of a copy.
"""

import numpy as np

from attention import MultiHeadAttention
from minigrad import backend, cross_entropy, nn, no_grad
from minigrad.backend import to_numpy
from minigrad.optim import AdamW, clip_grad_norm

from . import datasets
from .progress import progress

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


def trained(steps=STEPS, seed=0):
    """Return a trained model, and for each step the loss and the two `stripes`."""
    nn.seed(seed)
    model = Model()
    optimizer = AdamW(model.parameters(), LR, weight_decay=0.0)
    rng = np.random.default_rng(seed)
    history = []
    bar = progress(range(steps))
    for _ in range(steps):
        ids, p = draw(rng, BATCH)
        known = np.arange(LENGTH - 1) >= LENGTH - p  # the next letter is in both copies
        logits, weights = model(ids[:, :-1])
        loss = cross_entropy(logits, np.where(known, ids[:, 1:], -1), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        history.append([loss.item(), *stripes(weights, p)])
        bar.update()
    bar.close()
    return model, np.array(history)


@no_grad()
def evaluate(model, ids, p):
    """Return the share of the letters of second copies that are foretold, the two
    `stripes`, and the weights of both layers."""
    logits, weights = model(ids[:, :-1])
    known = np.arange(LENGTH - 1) >= LENGTH - p
    right = to_numpy(logits).argmax(axis=-1) == ids[:, 1:]
    return right[known].mean(), stripes(weights, p), [to_numpy(A) for A in weights]


def write(model, history):
    """Write demos/data/induction.npz: all parameters, and the history (steps, 3).

    Parameters are rounded to multiples of 1/64, which float16 holds exactly, and which
    are short as decimals in a page.
    """
    arrays = {
        name: (np.rint(64 * value) / 64).astype(np.float16)
        for name, value in model.state_dict().items()
    }
    np.savez_compressed(
        datasets.FOLDER / "induction.npz", history=history.astype(np.float16), **arrays
    )


def shipped(dtype=np.float32):
    """Return the model of demos/data/induction.npz and its history."""
    model, arrays = Model(), datasets.induction()
    for name, parameter in model.named_parameters():
        parameter.data = backend.xp.asarray(arrays[name].astype(dtype))
    return model, arrays["history"].astype(float)
