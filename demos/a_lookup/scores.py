"""Scores: anything that says how alike a query and a key are will do.

Question. How alike are a query and a key? The formula of attention does not say. Which
score does it take?

Guess. The dot product, for that is what Transformers have.

Formula. For any s, learned or not:

    attn(q, K, V) = Σᵢ αᵢ vᵢ,   αᵢ = e^s(q, kᵢ) / Σⱼ e^s(q, kⱼ)

The weights are positive and sum to 1 for all of them, and equal scores give 1/m each.
An empty dictionary has no weights to sum: it answers with zeros, and passes no
gradient.

What to look at. The same query and keys under six scores, the last two with random
parameters. All went through the same lines of code, and agree with their formulas.
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

from ..stage.drawing import weight_map

QUERY = np.array([1.0, 0.8])
KEYS = np.array([[2.0, 1.6], [0.9, 0.9], [0.3, -1.0], [-0.8, 0.6], [-1.2, -1.1]])


def weights_by_score(seed=1):
    """Return {score: (weights by attention, weights by the formula)}, each (m,)."""
    rng = np.random.default_rng(seed)
    W, W_q, W_k = rng.normal(size=(3, 2, 2))
    w = rng.normal(size=2)
    q, K, T = QUERY, KEYS, Tensor
    lengths = np.linalg.norm(K, axis=1) * np.linalg.norm(q)
    scores = {
        "dot": (dot, K @ q),
        "scaled_dot": (scaled_dot, K @ q / np.sqrt(2)),
        "cosine": (cosine, K @ q / lengths),
        "gaussian(0.5)": (gaussian(0.5), -((K - q) ** 2).sum(axis=1) / (2 * 0.5**2)),
        "bilinear(W)": (bilinear(T(W)), K @ (q @ W)),
        "additive(…)": (additive(T(W_q), T(W_k), T(w)), np.tanh(q @ W_q + K @ W_k) @ w),
    }
    found = {}
    for name, (score, s) in scores.items():
        inputs = T(q[None]), T(K), T(np.eye(len(K)))
        y = attention(*inputs, score=score)  # (1, m): values eᵢ give Σᵢ αᵢ eᵢ = α
        found[name] = y.numpy()[0], np.exp(s) / np.exp(s).sum()
    return found


def empty():
    """Return the answer of a dictionary without keys, and the gradient of its query."""
    q, nothing = Tensor(QUERY), Tensor(np.zeros((0, 2)))
    y = soft_lookup(q, nothing, nothing)
    y.backward(B.xp.ones(2))
    return y.numpy(), B.to_numpy(q.grad)


def demo(page):
    found = weights_by_score()
    weights = np.array([a for a, _ in found.values()])
    columns = [f"$k_{i + 1}$\n({x}, {y})" for i, (x, y) in enumerate(KEYS)]
    figure, ax = plt.subplots(figsize=(6.4, 3.9))
    image = weight_map(ax, weights, numbers=True)
    ax.set_xticks(range(len(KEYS)), columns)
    ax.set_yticks(range(len(found)), found)
    ax.set(xlabel=f"keys, for the query ({QUERY[0]}, {QUERY[1]})", ylabel="score")
    ax.set(title="The score decides what counts as alike")
    figure.colorbar(image, ax=ax, label="weight")
    page.picture(figure, "scores")

    apart = max(np.abs(a - b).max() for a, b in found.values())
    page.claim(
        "A2",
        "Any score will do: the output is the mean of the values under its softmax.",
        r"$attn(q,K,V)=\sum_i\alpha_i v_i$",
        f"six scores, apart from their formulas by {apart:.0e}",
        apart < 1e-12,
        attention,
    )
    off = np.abs(weights.sum(axis=1) - 1).max()
    alike = softmax(Tensor(np.full(5, 1e4))).numpy()
    page.claim(
        "A3",
        "The weights are positive and sum to 1, and equal scores share alike.",
        r"$\alpha_i\geq 0,\ \sum_i\alpha_i=1,\ s_1=\dots=s_m\Rightarrow\alpha_i=1/m$",
        f"sums off 1 by {off:.0e}, smallest weight {weights.min():.0e}; five scores of"
        f" 10000: {alike}",
        off < 1e-12 and weights.min() > 0 and np.abs(alike - 1 / 5).max() < 1e-15,
        softmax,
    )
    answer, gradient = empty()
    page.claim(
        "A9",
        "An empty dictionary answers with zeros, and passes no gradient.",
        r"$m=0\Rightarrow out=0$",
        f"answer {answer}, gradient of the query {gradient}",
        not answer.any() and not gradient.any(),
        soft_lookup,
    )
