"""Lookup: one query, its weights, its answer and its gradient.

Problem. A query is compared with every key. What comes back, and what moves it?

Formula. For a query q, keys kᵢ, values vᵢ, any score s and a temperature T:

    αᵢ = e^(s(q, kᵢ) / T) / Σⱼ e^(s(q, kⱼ) / T)      out = Σᵢ αᵢ vᵢ

and for the dot product ∂out/∂q = Cov_α(v, k) / T. The score is a choice: six are shown,
through the same lines of code. An empty dictionary has no weights, and answers with zeros.

What to look at. Left, the query among the keys: the darker a key, the more weight it has.
Middle, the weights. Right, the answer in the hull of the values. The ellipse is the
gradient: where the answer would go, to first order, if the query moved by 0.2 in any
direction. In the cold it shrinks to a point and the answer sticks to one value; only
between two keys it flares up. The limit is a hard lookup, which jumps there.

`python -m demos lookup --interactive` opens a window with two sliders.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.widgets import Slider

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

from .covariance import jacobian
from .drawing import draw_hull
from .run import main

ANGLES = np.deg2rad([10, 75, 150, 215, 290])
KEYS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
VALUES = np.array([[1.6, -0.9], [1.9, 1.2], [-0.2, 0.3], [-1.6, 1.3], [-1.2, -1.4]])
CIRCLE = np.linspace(0, 2 * np.pi, 60)


def look(angle, temperature):
    """Return query (2,), weights (m,), output (2,) and ∂out/∂q (2, 2), angle in degrees."""
    q = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    K, V, eye = Tensor(KEYS), Tensor(VALUES), Tensor(np.eye(len(KEYS)))
    weights = soft_lookup(Tensor(q), K, eye, temperature).numpy()  # Σᵢ αᵢ eᵢ = α

    def answer(q):
        return soft_lookup(q, K, V, temperature)

    return q, weights, answer(Tensor(q)).numpy(), jacobian(answer, q)


def draw(axes, angle, temperature):
    """Draw one lookup into three axes."""
    q, weights, out, J = look(angle, temperature)
    plane, bars, answers = axes
    for ax in axes:
        ax.clear()
    plane.plot(np.cos(CIRCLE), np.sin(CIRCLE), color="0.85", linewidth=1, zorder=0)
    plane.scatter(*KEYS.T, s=330, c=weights, vmin=0, vmax=1, edgecolors="black")
    for i, (k, w) in enumerate(zip(KEYS, weights, strict=True)):
        colour = "white" if w > 0.6 else "black"
        plane.text(*k, f"$k_{i + 1}$", ha="center", va="center", color=colour)
    plane.annotate("", q, (0, 0), arrowprops={"arrowstyle": "-|>", "color": "C1"})
    plane.text(*(0.5 * q + [0.15 * q[1], -0.15 * q[0]]), "q", color="C1", ha="center")
    plane.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
    plane.set(title=f"Query at {angle:.0f}°, T = {temperature:.2g}")
    plane.set(xlabel="coordinate 1", ylabel="coordinate 2")

    names = [f"$k_{i + 1}$" for i in range(len(KEYS))]
    bars.bar(names, weights, color="C0")
    bars.set(ylim=(0, 1), title="Weights", ylabel="weight", xlabel="key")

    draw_hull(answers, VALUES)
    ring = np.stack([np.cos(CIRCLE), np.sin(CIRCLE)])  # (2, 60)
    answers.fill(*(out[:, None] + 0.2 * J @ ring), color="C1", alpha=0.3)
    answers.plot(*out, "o", color="C1", markersize=8, zorder=5)
    answers.set(xlim=(-2.3, 2.5), ylim=(-2, 2), aspect="equal")
    answers.set(title=f"Answer; gradient {np.linalg.norm(J, 2):.2g}")
    answers.set(xlabel="coordinate 1")


def interactive():
    """Open a window with sliders; raise ImportError where there is no display for it."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 5))
    if figure.canvas.required_interactive_framework is None:
        raise ImportError("no display to open a window on")
    figure.set_layout_engine("none")
    figure.subplots_adjust(left=0.07, right=0.98, bottom=0.3, wspace=0.3)
    angle = Slider(
        figure.add_axes([0.2, 0.12, 0.6, 0.03]), "angle / °", 0, 360, valinit=40
    )
    # the slider moves the exponent, so that half of its way is a factor
    power = Slider(
        figure.add_axes([0.2, 0.05, 0.6, 0.03]),
        "log₁₀ temperature",
        -2,
        1,
        valinit=-0.5,
    )

    def update(_):
        draw(axes, angle.val, 10**power.val)
        figure.canvas.draw_idle()

    angle.on_changed(update)
    power.on_changed(update)
    update(None)
    plt.show()


def weights_by_score(q):
    """Return {score: (weights by attention, weights by its formula)} for a query (2,)."""
    rng = np.random.default_rng(0)
    W, W_q, W_k = rng.normal(size=(3, 2, 2))
    v, K, T = rng.normal(size=2), KEYS, Tensor
    scores = {
        "dot": (dot, K @ q),
        "scaled_dot": (scaled_dot, K @ q / np.sqrt(2)),
        "cosine": (cosine, K @ q / np.linalg.norm(K, axis=1) / np.linalg.norm(q)),
        "gaussian": (gaussian(0.5), -((K - q) ** 2).sum(axis=1) / (2 * 0.5**2)),
        "bilinear": (bilinear(T(W)), K @ (q @ W)),
        "additive": (additive(T(W_q), T(W_k), T(v)), np.tanh(q @ W_q + K @ W_k) @ v),
    }
    found = {}
    for name, (score, s) in scores.items():
        inputs = T(q[None]), T(K), T(VALUES)
        _, a = attention(*inputs, score=score, return_weights=True)
        found[name] = a.numpy()[0], np.exp(s) / np.exp(s).sum()
    return found


def empty():
    """Return the answer of an empty dictionary, and the gradient of the query."""
    q = Tensor(np.ones(2))
    y = soft_lookup(q, Tensor(np.zeros((0, 2))), Tensor(np.zeros((0, 2))))
    y.backward(np.ones(2))
    return y.numpy(), B.to_numpy(q.grad)


def demo(page):
    figure, axes = plt.subplots(3, 3, figsize=(7.4, 7.8), width_ratios=(3, 3, 4))
    for row, temperature in zip(axes, (1.0, 0.2, 0.03), strict=True):
        draw(row, 100, temperature)
    figure.suptitle("Colder: the gradient grows, then one key has won and it is gone")
    page.picture(figure, "lookup")

    q = np.array([1.0, 0.8])
    found = weights_by_score(q)
    page.table(
        ["score", *(f"α{i + 1}" for i in range(len(KEYS)))],
        [[name, *(f"{w:.3f}" for w in a)] for name, (a, _) in found.items()],
    )
    apart = max(np.abs(a - b).max() for a, b in found.values())
    page.claim(
        "A2",
        "Any score will do: the answer is the mean of the values under the softmax of it.",
        r"$attn(q,K,V)=\sum_i\alpha_i v_i$",
        f"six scores, apart from their formulas by {apart:.0e}",
        apart < 1e-12,
        attention,
    )
    sums = [a.sum() for a, _ in found.values()]
    alike = look(0, 1e9)[1]  # at a very high temperature all scores are equal
    page.claim(
        "A3",
        "The weights are positive and sum to 1; equal scores give 1/m each.",
        r"$\alpha_i\geq 0,\ \sum_i\alpha_i=1$",
        f"sums off 1 by {np.abs(np.array(sums) - 1).max():.0e}; equal scores: {alike}",
        np.allclose(sums, 1, rtol=1e-12) and np.allclose(alike, 1 / 5, rtol=1e-8),
        softmax,
    )
    answer, gradient = empty()
    page.claim(
        "A9",
        "An empty dictionary answers with zeros, and passes no gradient.",
        r"$m=0\Rightarrow out=0$",
        f"answer {answer}, gradient {gradient}",
        not answer.any() and not gradient.any(),
        soft_lookup,
    )


if __name__ == "__main__":
    main("lookup")
