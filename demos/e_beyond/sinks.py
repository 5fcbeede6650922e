"""Sinks: the weight must go somewhere.

Question. Softmax weights sum to 1, also where a head has nothing to look for. Where
does it look then?

Guess. Everywhere a little: equal weights, and so the mean of all values.

Formula. The text is letters at random, each drawn by the one before it, which an MLP can
learn; but after a, b and c comes again the letter before that one. For those copies a
head is needed, and elsewhere it is idle. It parks weight on the first token ⊢, which is
always there, and whose value it learns to make small: a sink. Give the dictionary an
empty entry ∅, a key and a value of zeros, and there is a place that costs nothing. Its
score is 0, so it wins where all scores are low:

    αᵢ = e^sᵢ / (1 + Σⱼ e^sⱼ)

Xiao et al., "Efficient Streaming Language Models with Attention Sinks" (2023). The task
is Bigram-Backcopy of Guo et al., "Active-Dormant Attention Heads" (2024), the 1 is that
of Miller, "Attention Is Off By One" (2023).

What to look at. In orange rows the head has work: it looks one back. Left, the others
lean on ⊢; right, on ∅.

Papers speak as if a sink took all; in this short training it is a fifth to three fifths,
by the seed. To lower all scores at once takes biases: without them ∅ stays unused for
long. That sinks do harm, when old keys are dropped or numbers rounded, is the papers'
reason, and was not compared; nor were large models, where sinks are stronger.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, causal_mask, rope
from minigrad import backend as B
from minigrad import concatenate, cross_entropy, nn, no_grad, relu

from ..stage.drawing import weight_map
from .descent import minimise

LETTERS = "abcdefghijklmnop"
COPY = 3  # so many letters at the beginning call for a copy
START = len(LETTERS)  # the first token of every text, ⊢
LENGTH, WIDTH, BATCH = 32, 48, 32


class Model(nn.Module):
    """Tokens (B, T) -> logits (B, T, 16), weights (B, T, m) and values (B, T, d)."""

    def __init__(self, empty_entry):
        self.tokens = nn.Embedding(len(LETTERS) + 1, WIDTH)
        self.norms = [nn.LayerNorm(WIDTH) for _ in range(3)]
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        for layer in self.query, self.key:  # at first all scores are near 0
            layer.weight.data = 0.3 * layer.weight.data
        self.mix = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.output = nn.Linear(WIDTH, len(LETTERS))
        self.empty_entry = empty_entry

    def __call__(self, ids):
        count, T = ids.shape
        x = self.tokens(ids)  # (B, T, d)
        h = self.norms[0](x)
        Q, K, V = rope(self.query(h)), rope(self.key(h)), self.value(h)  # (B, T, d)
        values, mask = V, causal_mask(T, T)
        if self.empty_entry:  # in front of all keys, where every query may look
            zeros = B.xp.zeros((count, 1, WIDTH), "float32")
            K, V = concatenate([zeros, K], axis=1), concatenate([zeros, V], axis=1)
            mask = causal_mask(T, T + 1)
        Y, A = attention(Q, K, V, mask=mask, return_weights=True)
        x = x + self.mix(Y)
        x = x + self.down(relu(self.up(self.norms[1](x))))
        return self.output(self.norms[2](x)), A, values


def texts(rng, follows, count):
    """Return texts as numbers (count, LENGTH + 1), the start token first; `follows`
    (16, 16) says how likely each letter comes after each."""
    ids = np.full((count, LENGTH + 1), START)
    ids[:, 1] = rng.integers(COPY, START, size=count)
    up_to = follows.cumsum(axis=1)
    for t in range(1, LENGTH):
        drawn = (up_to[ids[:, t]] < rng.random((count, 1))).sum(axis=1)
        drawn = np.minimum(drawn, START - 1)  # the sum may end just below 1
        ids[:, t + 1] = np.where(ids[:, t] < COPY, ids[:, t - 1], drawn)
    return ids


def train(empty_entry, seed=0, steps=600):
    """Return a trained model, and how likely each letter came after each (16, 16)."""
    nn.seed(seed)
    model, rng = Model(empty_entry), np.random.default_rng(seed)
    follows = rng.dirichlet([0.3] * START, size=START)

    def loss():
        ids = texts(rng, follows, BATCH)
        return cross_entropy(model(ids[:, :-1])[0], ids[:, 1:])

    name = "sinks, with an entry" if empty_entry else "sinks"
    minimise(loss, model.parameters(), steps, 3e-3, name)
    return model, follows


@no_grad()
def measure(model, follows, seed=1, count=256):
    """Return the mean weight on the first token and on the entry where the head is idle,
    on the first where it works, the length of its value over that of the others, and the
    share of copies that are right. Idle rows count from the fifth on."""
    ids = texts(np.random.default_rng(seed), follows, count)
    logits, A, V = map(B.to_numpy, model(ids[:, :-1]))
    works = ids[:, :-1] < COPY  # (B, T)
    idle = ~works & (np.arange(LENGTH) > 3)
    size = np.linalg.norm(V, axis=-1).mean(axis=0)  # (T,)
    right = logits.argmax(axis=-1) == ids[:, 1:]
    first = A[..., -LENGTH]  # (B, T)
    return {
        "weight on ⊢ where idle": first[idle].mean(),
        "weight on ⊢ where it works": first[works].mean(),
        "weight on ∅ where idle": A[..., 0][idle].mean() * model.empty_entry,
        "length of the value of ⊢": size[0] / size[1:].mean(),
        "copies right": right[works].mean(),
    }


@no_grad()
def draw(models, ids):
    """Draw the weights of both models on one text (T,)."""
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 5.2))
    names = "".join([*LETTERS, "⊢"][i] for i in ids)
    titles = "Idle, the head leans on the first token", "An empty entry takes that over"
    for ax, model, title in zip(axes, models, titles, strict=True):
        A = B.to_numpy(model(ids[None])[1])[0]  # (T, m)
        m = A.shape[1]
        image = weight_map(ax, A, B.to_numpy(causal_mask(len(ids), m)))
        ax.set_xticks(range(m), ("∅" + names)[-m:])
        ax.set_yticks(range(len(ids)), names)
        for row in np.flatnonzero(ids < COPY):
            ax.get_yticklabels()[row].set(color="C1", weight="bold")
        ax.set(title=title, ylabel="query; orange: has to copy", aspect="equal")
    figure.colorbar(image, ax=axes, shrink=0.8, label="weight")
    return figure


def demo(page):
    (without, follows), (with_entry, _) = train(False), train(True)
    plain, entry = (measure(model, follows) for model in (without, with_entry))
    rows = [[name, plain[name], entry[name]] for name in plain]
    page.table(["", "without ∅", "with ∅"], rows)
    ids = texts(np.random.default_rng(2), follows, 1)[0, :24]
    page.picture(draw([without, with_entry], ids), "sinks")
    idle, works, _, size, _ = plain.values()
    moved, _, taken, _, _ = entry.values()
    page.claim(
        "E4",
        "A head with nothing to look for parks its weight on a token of no consequence,"
        " with a small value; given an empty entry, it uses that.",
        r"$\alpha_i=e^{s_i}/(1+\sum_j e^{s_j})$",
        f"on the first token {idle:.2f} where idle, {works:.3f} where it works, its"
        f" value {size:.2f} as long as others; with an entry {moved:.2f}, and"
        f" {taken:.2f} there",
        idle > 0.18
        and idle > 4 * works
        and size < 0.8
        and moved < 0.12
        and taken > 0.4,
        attention,
    )
