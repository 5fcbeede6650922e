"""Lookup: one query, its weights, its answer and its gradient.

Problem. A query is compared with every key. What comes back, and what moves it?

Formula. For a query q, keys kᵢ, values vᵢ, any score s and a temperature T:

    αᵢ = e^(s(q, kᵢ) / T) / Σⱼ e^(s(q, kⱼ) / T)      out = Σᵢ αᵢ vᵢ

The score here is the dot product, for which ∂out/∂q = Cov_α(v, k) / T.

What to look at. Left, the query among the keys: the darker a key, the more weight it
has. Middle, the weights. Right, the answer in the hull of the values. The ellipse is
the gradient: where the answer would go, to first order, if the query moved by 0.3 in
any direction. In the cold it shrinks to a point and the answer sticks to one value;
only between two keys it flares up. The limit is a hard lookup, which jumps there.

`python -m demos lookup --interactive` opens a window with two sliders.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.widgets import Slider

from attention import soft_lookup
from minigrad import Tensor

from ..stage.drawing import draw_hull
from ..stage.jacobian import jacobian

ANGLES = np.deg2rad([10, 75, 150, 215, 290])
KEYS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
VALUES = np.array([[1.6, -0.9], [1.9, 1.2], [-0.2, 0.3], [-1.6, 1.3], [-1.2, -1.4]])
CIRCLE = np.linspace(0, 2 * np.pi, 60)


def look(angle, temperature):
    """Return q (2,), weights (m,), output (2,) and ∂out/∂q (2, 2); angle in degrees."""
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
    plane.set(title=f"Query {angle:.0f}°, T = {temperature:.2g}")
    plane.set(xlabel="coordinate 1", ylabel="coordinate 2")

    names = [f"$k_{i + 1}$" for i in range(len(KEYS))]
    bars.bar(names, weights, color="C0")
    bars.set(ylim=(0, 1), title="Weights", ylabel="weight", xlabel="key")

    draw_hull(answers, VALUES)
    ring = np.stack([np.cos(CIRCLE), np.sin(CIRCLE)])  # (2, 60)
    answers.fill(*(out[:, None] + 0.3 * J @ ring), color="C1", alpha=0.3)
    answers.plot(*out, "o", color="C1", markersize=5, zorder=5)
    answers.set(xlim=(-2.3, 2.5), ylim=(-2, 2), aspect="equal")
    answers.set(title=f"Answer; gradient {np.linalg.norm(J, 2):.2g}")
    answers.set(xlabel="coordinate 1", ylabel="coordinate 2")


def window():
    """Return a figure that shows a lookup, and its sliders, which must be kept."""
    figure, places = plt.subplot_mosaic(
        [["query", "weights", "answer"], ["angle"] * 3, ["power"] * 3],
        figsize=(11, 5),
        width_ratios=(3, 3, 4),
        height_ratios=(14, 1, 1),
    )
    axes = [places[name] for name in ("query", "weights", "answer")]
    angle = Slider(places["angle"], "angle / °", 0, 360, valinit=100)
    # the power, so that each part of the way is the same factor
    power = Slider(places["power"], "log₁₀ temperature", -2, 1, valinit=-0.7)

    def update(_):
        draw(axes, angle.val, 10**power.val)
        figure.canvas.draw_idle()

    angle.on_changed(update)
    power.on_changed(update)
    update(None)
    return figure, (angle, power)


def demo(page):
    temperatures = 1.0, 0.2, 0.03
    figure, axes = plt.subplots(3, 3, figsize=(7.4, 7.8), width_ratios=(3, 3, 4))
    for row, T in zip(axes, temperatures, strict=True):
        draw(row, 100, T)
    figure.suptitle("Colder: the gradient grows, then one key has won and it is gone")
    page.picture(figure, "lookup")

    weight = [look(100, T)[1].max() for T in temperatures]
    size = [np.linalg.norm(look(100, T)[3], 2) for T in temperatures]
    page.table(
        ["T", "largest weight", "size of the gradient"],
        zip(temperatures, weight, size, strict=True),
    )
    page.claim(
        "B4",
        "As one key takes all the weight, the query loses its gradient.",
        r"$\alpha\rightarrow onehot \Rightarrow \partial out/\partial q\rightarrow 0$",
        f"weight {weight[0]:.2f} to {weight[-1]:.4f}, gradient {size[0]:.2f}, at first"
        f" {size[1]:.1f}, then {size[-1]:.3f}",
        weight[-1] > 0.99 and size[-1] < 0.1 < size[1],
        soft_lookup,
    )
