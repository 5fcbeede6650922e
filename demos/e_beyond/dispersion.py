"""Dispersion: the more there is to read, the less one key can stand out.

Question. A lookup has learned to find the largest of 16 items. Does it find the largest
of 4,096?

Guess. The largest is the largest: the rule that it learned does not depend on their
number.

Formula. A4 told how much the losers can get; this is the other side. Let no score lie
further than g below the best of m. Each loser then has e^-g of its weight, or more:

    α_max ≤ e^g / (e^g + m - 1)          met exactly where all losers are g below

Scores from a network are bounded, and so is g: as m grows, the weight of the best goes
to 0. A remedy is softmax(s log(m) · scores), with s g in the place of g / log m: then
α_max ≤ m^(s g) / (m^(s g) + m - 1), which goes to 1 if s g > 1.

What to look at. Left: the bound, equal losers on it, losers at random below it. Where
these come ever nearer to the best, the remedy does not help either. Right: a model that
learned to find the largest of 16 items, asked among more: it loses sight of it.

Veličković et al., "Softmax is not Enough" (2024), state the fall as an order of growth;
the sharp form is derived here. Nakanishi, "Scalable-Softmax" (2025), trains s with the
model; here it is put in afterwards, s = 1 / log 16, so that nothing changes at 16, and
helps a little. Models trained with it, other remedies, language models: not compared.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import attention
from minigrad import Tensor, cross_entropy, nn, no_grad, relu, softmax
from minigrad import backend as B

from .descent import minimise

GAP, SCALE = 5.0, 0.43  # g and s
CLASSES, SEEN, WIDTH = 10, 16, 32
SIZES = 16, 64, 256, 1024, 4096  # of the lists that the model is asked about


def bound(gap, m):
    """Return the most that the best of m keys can weigh, if no score is further than
    gap below its."""
    return 1 / (1 + (m - 1) * np.exp(-gap))


def weight_of_best(sizes, low, grow=False, seed=0):
    """Return the weight of the best of m keys for each m of sizes, the others from low
    to g below it, and the scores times s log m if they grow."""
    rng, found = np.random.default_rng(seed), []
    for m in sizes:
        scores = np.append(rng.uniform(-GAP, -low, size=m - 1), 0.0)  # (m,)
        scores = SCALE * math.log(m) * scores if grow else scores
        found.append(softmax(Tensor(scores)).numpy()[-1])
    return np.array(found)


class Finder(nn.Module):
    """Items (B, m, 11) -> logits (B, 10), and the weights of the items (B, m)."""

    def __init__(self):
        self.hidden = nn.Linear(CLASSES + 1, WIDTH)
        self.query = nn.Embedding(1, WIDTH)  # the only question there is
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, CLASSES)

    def __call__(self, items, scale=1.0):
        h = relu(self.hidden(items))  # (B, m, width)
        q = scale * self.query(np.array([0]))  # (1, width)
        Y, A = attention(q, self.key(h), self.value(h), return_weights=True)
        return self.output(Y[:, 0]), A[:, 0]  # (B, 10), (B, m)


def draw_lists(rng, count, m):
    """Return items (count, m, 11), a class each and how much it matters, where the one
    that matters most is, and its class (count,)."""
    classes, matters = rng.integers(CLASSES, size=(count, m)), rng.random((count, m))
    items = np.concatenate([np.eye(CLASSES)[classes], matters[..., None]], axis=2)
    best = matters.argmax(axis=1)
    return items.astype("float32"), best, classes[np.arange(count), best]


def train(seed=0, steps=1500):
    """Return a model that finds the class of what matters most among 16 items."""
    nn.seed(seed)
    model, rng = Finder(), np.random.default_rng(seed)

    def loss():
        items, _, answer = draw_lists(rng, 64, SEEN)
        return cross_entropy(model(B.xp.asarray(items))[0], answer)

    minimise(loss, model.parameters(), steps, 3e-3, "dispersion")
    return model


@no_grad()
def evaluate(model, m, scaled=False, count=256, seed=1):
    """Return the share of right answers among m items, and the mean weight on the right
    item."""
    rng, found = np.random.default_rng(seed), []
    scale = math.log(m) / math.log(SEEN) if scaled else 1.0
    for _ in range(count // 64):
        items, best, answer = draw_lists(rng, 64, m)
        logits, A = map(B.to_numpy, model(B.xp.asarray(items), scale))
        found.append([logits.argmax(axis=1) == answer, A[np.arange(64), best]])
    return np.mean(found, axis=(0, 2))


def draw(plain, scaled):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), sharey=True)
    m = 2 ** np.arange(1, 17)
    left.semilogx(m, bound(GAP, m), color="C1", label="bound for g = 5")
    remedy = bound(GAP * SCALE * np.log(m), m)
    left.plot(m, remedy, "--", color="C0", label=f"with {SCALE} log m")
    for grow, colour, marker in (False, "C1", "o"), (True, "C0", "s"):
        for low, face in (GAP, colour), (0.0, "white"):
            best = weight_of_best(m, low, grow)
            left.plot(m, best, marker, color=colour, markersize=5, mfc=face)
    for name, face in ("losers all at g", "black"), ("losers at random", "white"):
        left.plot([], [], "ko", markersize=5, mfc=face, label=name)
    left.set(xlabel="keys m", ylabel="weight of the best key", ylim=(-0.03, 1.05))
    left.set(title="More keys, less for the best")
    left.legend()
    for found, line, name in (plain, "-", ""), (scaled, "--", ", with log m"):
        right.semilogx(SIZES, found[:, 0], "k^" + line, label="right answers" + name)
        right.plot(SIZES, found[:, 1], "C1o" + line, label="weight" + name)
    right.set(xlabel="items m", ylabel="share, weight of the right item")
    right.set(title="Trained on 16 items, lost among more")
    right.set_xticks(SIZES, map(str, SIZES))
    right.minorticks_off()
    right.legend()
    return figure


def demo(page):
    sizes = np.array([16, 256, 4096, 65536])
    met, grown = weight_of_best(sizes, GAP), weight_of_best(sizes, GAP, grow=True)
    rows = zip(sizes, bound(GAP, sizes), met, grown, strict=True)
    page.say(f"All losers g = {GAP:g} below the best, and the same with {SCALE} log m:")
    page.table(["keys", "bound", "weight of the best", "with s log m"], rows)
    off = np.abs(met / bound(GAP, sizes) - 1).max()
    page.claim(
        "E3",
        "The more keys there are, the less weight the best can have, unless scores grow"
        " with their number.",
        r"$\alpha_{max}\leq e^g/(e^g+m-1)$",
        f"equal losers meet it to {off:.1g}; at 65,536 keys {met[-1]:.4f}, and"
        f" {grown[-1]:.4f} with {SCALE} log m",
        off < 1e-12 and grown[-1] > 0.999,
        softmax,
    )
    model = train()
    plain = np.array([evaluate(model, m) for m in SIZES])
    scaled = np.array([evaluate(model, m, scaled=True) for m in SIZES])
    page.picture(draw(plain, scaled), "dispersion")
    rows = np.column_stack([SIZES, plain, scaled])
    page.table(["items", "right", "weight", "right, log m", "weight, log m"], rows)
    (seen, sure), (half, less), (few, least) = plain[[0, 2, 4]]
    page.claim(
        "E3",
        "A model that has learned to find the largest of 16 does not find it among"
        " thousands.",
        r"$\alpha_{max}\rightarrow 0$",
        f"right {seen:.0%}, {half:.0%}, {few:.0%} among 16, 256, 4,096; weight"
        f" {sure:.2f}, {less:.2f}, {least:.3f}",
        seen > 0.9 and half < 0.8 and few < 0.3 and sure > 0.8 and least < 0.05,
        attention,
    )
