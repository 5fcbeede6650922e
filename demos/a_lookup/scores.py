"""Scores: anything that says how alike a query and a key are will do.

Question. How alike are a query and a key? The formula of attention does not say. Which
score does it take?

Guess. The dot product, for that is what Transformers have.

Formula. For any s, learned or not:

    attn(q, K, V) = Σᵢ αᵢ vᵢ,   αᵢ = e^s(q, kᵢ) / Σⱼ e^s(q, kⱼ)

The weights are positive and sum to 1 for all of them, and equal scores give 1/m each.
An empty dictionary has no weights to sum: it answers with zeros, and passes no
gradient.

What to look at. The plane of keys: the darker a place, the higher the score of a key
there with the query, the arrow. On it the same five keys, and their weights; the last
two scores have random parameters. All went through the same lines of code, and agree
with their formulas.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import (
    additive,
    attention,
    bilinear,
    cosine,
    dot,
    gaussian,
    scaled_dot,
    soft_lookup,
)
from minigrad import Tensor, softmax
from minigrad import backend as B

from ..stage import drawing
from ..stage.drawing import KEY, SHADES, WEIGHT, halo
from ..stage.words import listed, small

QUERY = np.array([1.0, 0.8])
KEYS = np.array([[2.0, 1.6], [0.9, 0.9], [0.3, -1.0], [-0.8, 0.6], [-1.2, -1.1]])


LEVELS = np.arange(-5, 5.5, 0.5)  # the same for all, so that steep looks steep
TITLES = {
    "dot": "dot: length counts",
    "scaled_dot": "scaled dot: the same, flatter",
    "cosine": "cosine: angle alone, and flat",
    "gaussian(0.5)": "Gaussian: distance alone",
    "bilinear(W)": "bilinear: another direction",
    "additive(…)": "additive: bounded by tanh",
}


def six_scores(seed=1):
    """Return {name: (score, its formula for the query and keys (m, 2))}."""
    rng = np.random.default_rng(seed)
    W, W_q, W_k = rng.normal(size=(3, 2, 2))
    w = rng.normal(size=2)
    q, T = QUERY, Tensor

    def cosines(K):
        return K @ q / (np.linalg.norm(K, axis=1) * np.linalg.norm(q))

    return {
        "dot": (dot, lambda K: K @ q),
        "scaled_dot": (scaled_dot, lambda K: K @ q / np.sqrt(2)),
        "cosine": (cosine, cosines),
        "gaussian(0.5)": (
            gaussian(0.5),
            lambda K: -((K - q) ** 2).sum(axis=1) / (2 * 0.5**2),
        ),
        "bilinear(W)": (bilinear(T(W)), lambda K: K @ (q @ W)),
        "additive(…)": (
            additive(T(W_q), T(W_k), T(w)),
            lambda K: np.tanh(q @ W_q + K @ W_k) @ w,
        ),
    }


def weights_by_score(seed=1):
    """Return {name: (weights by attention, weights by the formula)}, each (m,)."""
    found = {}
    for name, (score, formula) in six_scores(seed).items():
        inputs = Tensor(QUERY[None]), Tensor(KEYS), Tensor(np.eye(len(KEYS)))
        y = attention(*inputs, score=score)  # (1, m): values eᵢ give Σᵢ αᵢ eᵢ = α
        s = formula(KEYS)
        found[name] = y.numpy()[0], np.exp(s) / np.exp(s).sum()
    return found


def draw(found):
    """Draw each score over the plane of keys, and on it the keys and their weights."""
    figure, axes = plt.subplots(
        2, 3, figsize=(8.4, 5.0), sharex=True, sharey=True, layout="constrained"
    )
    side = np.linspace(-2.6, 2.6, 104)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for ax, (name, (score, _)) in zip(axes.flat, six_scores().items(), strict=True):
        height = score(Tensor(QUERY[None]), Tensor(grid)).numpy().reshape(104, 104)
        image = ax.contourf(
            side, side, height, LEVELS, cmap=SHADES["score"], alpha=0.6, extend="both"
        )
        weights = found[name][0]
        ax.scatter(*KEYS.T, s=55, c=weights, cmap=SHADES["weight"], vmin=0, vmax=1,
                   edgecolors=KEY, linewidths=1.4, zorder=3)  # fmt: skip
        for k, weight in zip(KEYS, weights, strict=True):
            text = ax.text(*(k + [0, 0.45]), f"{weight:.2f}", ha="center", va="center")
            text.set(color=WEIGHT, weight="bold", path_effects=halo())
        ax.annotate(
            "", QUERY, (0, 0), arrowprops={"arrowstyle": "-|>", "color": drawing.QUERY}
        )
        ax.set_title(TITLES[name], fontsize=10)
        ax.set(aspect="equal", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        ax.grid(False)
    figure.colorbar(image, ax=axes, label="score", shrink=0.6, ticks=range(-4, 5, 2))
    return figure


def empty():
    """Return the answer of a dictionary without keys, and the gradient of its query."""
    q, nothing = Tensor(QUERY), Tensor(np.zeros((0, 2)))
    y = soft_lookup(q, nothing, nothing)
    y.backward(B.xp.ones(2))
    return y.numpy(), B.to_numpy(q.grad)


def demo(page):
    found = weights_by_score()
    weights = np.array([a for a, _ in found.values()])
    page.picture(draw(found), "scores")

    apart = max(np.abs(a - b).max() for a, b in found.values())
    page.claim(
        "A2",
        "Any score will do: the output is the mean of the values under its softmax.",
        r"$attn(q,K,V)=\sum_i\alpha_i v_i$",
        f"six scores, apart from their formulas by {small(apart)}",
        apart < 1e-12,
        attention,
    )
    off = np.abs(weights.sum(axis=1) - 1).max()
    alike = softmax(Tensor(np.full(5, 1e4))).numpy()
    page.claim(
        "A3",
        "The weights are positive and sum to 1, and equal scores share alike.",
        r"$\alpha_i\geq 0,\ \sum_i\alpha_i=1,\ s_1=\dots=s_m\Rightarrow\alpha_i=1/m$",
        f"sums off 1 by {small(off)}, smallest weight {small(weights.min())}; five"
        f" scores of 10000: {listed(alike)}",
        off < 1e-12 and weights.min() > 0 and np.abs(alike - 1 / 5).max() < 1e-15,
        softmax,
    )
    answer, gradient = empty()
    page.claim(
        "A9",
        "An empty dictionary answers with zeros, and passes no gradient.",
        r"$m=0\Rightarrow out=0$",
        f"answer {listed(answer)}, gradient of the query {listed(gradient)}",
        not answer.any() and not gradient.any(),
        soft_lookup,
    )
