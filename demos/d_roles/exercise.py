"""The chapter's exercise: 90 % alike is not a weight of 0.9.

Question. Four documents, and a query that is 90 % like document 2 and 10 % like
document 0. What comes out, and what do temperatures do?

Guess. About 0.9 v₂ + 0.1 v₀, as the chapter expects.

Formula. With keys of length 1 at right angles, q = 0.9 k₂ + 0.1 k₀ has the scores
s = (0.1, 0, 0.9, 0), and the weights are not the scores but

    α = softmax(s / T)          α₂ / α₀ = e^(0.8 / T),      α₁ = α₃ > 0

At T = 1 that ratio is 2.2, not 9. A ratio of 9 needs T = 0.8 / log 9 = 0.36, and there
the two documents that are not like the query at all still have 13 % between them. So
the expectation holds at no temperature. What does give the weights w is the query
whose scores are their logarithms, for e^(log wᵢ) / Σ e^(log wⱼ) = wᵢ:

    q = Σᵢ log(wᵢ) kᵢ           at T = 1

A weight of 0 would need a score of -∞, so documents 1 and 3 get 0.001 each.

What to look at. Left, the query as written never meets both dashed lines at once.
Right, the one of log-weights meets them at T = 1.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import soft_lookup
from minigrad import Tensor

from ..stage.drawing import WEIGHT
from ..stage.words import listed

TEMPERATURES = (0.1, 1.0, 10.0)
KEYS = np.eye(4)  # document i is the i-th axis: keys of length 1 at right angles
AS_WRITTEN = 0.9 * KEYS[2] + 0.1 * KEYS[0]
WANTED = np.array([0.099, 0.001, 0.899, 0.001])
LOG_WEIGHTS = np.log(WANTED) @ KEYS


def weights(query, temperature):
    """Return the weights (4,): the answer where the value of document i is axis i."""
    keys = values = Tensor(KEYS)
    return soft_lookup(Tensor(query), keys, values, temperature).numpy()


def random_documents(seed=0, d=64):
    """Return the weights (4,) at T = 1 for four random keys of length 1 in d
    dimensions, nearly at right angles, and the query as written."""
    keys = np.random.default_rng(seed).standard_normal((4, d))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    query = 0.9 * keys[2] + 0.1 * keys[0]
    return soft_lookup(Tensor(query), Tensor(keys), Tensor(np.eye(4))).numpy()


def draw():
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True)
    T = np.geomspace(0.03, 30, 200)
    panels = [
        ("As written: never 0.9 and 0.1", AS_WRITTEN),
        ("Log-weights: 0.9 and 0.1 at T = 1", LOG_WEIGHTS),
    ]
    for ax, (title, query) in zip(axes, panels, strict=True):
        for wanted in (0.1, 0.9):
            ax.axhline(wanted, color="0.5", linestyle="--", linewidth=1)
        by_T = np.array([weights(query, t) for t in T])
        ax.plot(T, by_T[:, 2], color=WEIGHT, label="document 2")
        ax.plot(T, by_T[:, 0], "-.", color=WEIGHT, label="document 0")
        ax.plot(T, by_T[:, 1], ":", color=WEIGHT, label="documents 1 and 3")
        for t in TEMPERATURES:
            ax.plot([t] * 3, weights(query, t)[[2, 0, 1]], ".", color="black", ms=7)
        ax.set(xscale="log", ylim=(-0.03, 1.03), xlabel="temperature T")
        ax.set_title(title)
    axes[0].set_ylabel("weight")
    axes[0].legend(loc=(0.5, 0.58))  # clear of the falling curve
    return figure


def demo(page):
    page.say(
        "Four documents with keys at right angles; the query is 0.9 times the key of"
        " document 2 plus 0.1 times that of document 0. Its weights:"
    )
    columns = ["T", *(f"document {i}" for i in range(4))]
    page.table(columns, [[T, *weights(AS_WRITTEN, T)] for T in TEMPERATURES])
    page.say(
        "T = 0.1 is nearly the hard lookup of document 2, T = 10 nearly the mean of all"
        " four. None is 0.9 and 0.1: softmax turns differences of scores into ratios of"
        " weights. Random keys in 64 dimensions are nearly at right angles, and give"
        f" at T = 1 {listed(random_documents())}."
    )
    page.picture(draw(), "exercise")

    grid = np.geomspace(0.01, 100, 400)
    by_T = np.array([weights(AS_WRITTEN, T) for T in grid])
    off = np.abs(by_T - [0.1, 0, 0.9, 0]).max(axis=1)
    page.claim(
        "D4",
        "As written, the exercise's expectation holds at no temperature.",
        r"$softmax\left((0.1,\,0,\,0.9,\,0)/T\right)\neq(0.1,\,0,\,0.9,\,0)$",
        f"weights {listed(weights(AS_WRITTEN, 1.0))} at T = 1; nearest are"
        f" {listed(by_T[off.argmin()])}"
        f" at T = {grid[off.argmin()]:.2f}",
        off.min() > 0.01,
        soft_lookup,
    )
    found = weights(LOG_WEIGHTS, 1.0)
    page.claim(
        "D4",
        "A query whose scores are log-weights gives those weights.",
        r"$q=\sum_i\,\log(w_i)\,k_i\;\Rightarrow\;\alpha=w$",
        f"weights {listed(found, 6)} at T = 1",
        np.abs(found - WANTED).max() < 1e-12,
        soft_lookup,
    )
    T = 0.8 / math.log(9)
    nine = weights(AS_WRITTEN, T)
    page.say(
        f"The ratio alone can be had: at T = 0.8 / log 9 = {T:.3f} the weights are"
        f" {listed(nine)}, 9 to 1 for documents 2 and 0."
    )
