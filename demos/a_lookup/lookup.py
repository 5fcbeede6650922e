"""Lookup: one query, its weights, its answer and its gradient.

Question. A query is compared with every key. What comes back, and what moves it?

Guess. The sharper the weights, the surer the answer, and so the more can be learned
from it.

Formula. For a query q, keys kᵢ, values vᵢ, any score s and a temperature T:

    αᵢ = e^(s(q, kᵢ) / T) / Σⱼ e^(s(q, kⱼ) / T)      out = Σᵢ αᵢ vᵢ

The score here is the dot product, for which ∂out/∂q = Cov_α(v, k) / T.

What to look at. Left, the query among the keys. Then, at three temperatures, its answer
(the dot) in the hull of the values: the fuller a disc, the more weight that value has. The
ellipse is the gradient: where the answer would go, to first order, if the query moved
by 0.3 in any direction. In the cold it shrinks to a point and the answer sticks to one
value; only between two keys it flares up. The limit is a hard lookup, which jumps there.

`python -m demos lookup --interactive` opens a window with two sliders.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.widgets import Slider

from attention import soft_lookup
from minigrad import Tensor

from ..stage.datasets import FOLDER
from ..stage.drawing import KEY, QUERY, draw_hull
from ..stage.film import film
from ..stage.jacobian import jacobian
from ..stage.lesson import lookup
from ..stage.words import number, small

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


def draw_query(ax, q):
    """Draw the query among the keys."""
    ax.plot(np.cos(CIRCLE), np.sin(CIRCLE), color="0.85", linewidth=1, zorder=0)
    ax.scatter(*KEYS.T, s=300, color="white", edgecolors=KEY, linewidths=1.5)
    for i, k in enumerate(KEYS):
        ax.text(*k, f"$k_{i + 1}$", ha="center", va="center", color=KEY)
    ax.annotate("", 0.93 * q, (0, 0), arrowprops={"arrowstyle": "-|>", "color": QUERY})
    beside = 0.5 * q + [0.17 * q[1], -0.17 * q[0]]
    ax.text(*beside, "q", color=QUERY, ha="center", va="center")
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    ax.set_axis_off()


def draw_answer(ax, weights, out, J):
    """Draw the values with their weights, the answer, and where it would go if the
    query moved by 0.3 in any direction."""
    draw_hull(ax, VALUES, weights)
    ring = np.stack([np.cos(CIRCLE), np.sin(CIRCLE)])  # (2, 60)
    ax.fill(*(out[:, None] + 0.3 * J @ ring), fc=QUERY, alpha=0.6, zorder=5)
    ax.plot(*out, "o", color="black", markersize=4, zorder=6)
    ax.set(xlim=(-2.3, 2.5), ylim=(-1.8, 1.6), aspect="equal")
    ax.set_axis_off()


def window():
    """Return a figure that shows a lookup, and its sliders, which must be kept."""
    figure, places = plt.subplot_mosaic(
        [["query", "answer"], ["angle"] * 2, ["power"] * 2],
        num="A soft lookup",
        clear=True,
        layout="constrained",
        figsize=(9, 4.4),
        width_ratios=(3, 4),
        height_ratios=(14, 1, 1),
    )
    angle = Slider(places["angle"], "query", 0, 360, valinit=100, valfmt="%.0f°")
    # the power, so that each part of the way is the same factor
    power = Slider(places["power"], "temperature T", -2, 1, valinit=-0.7)

    def update(_):
        q, weights, out, J = look(angle.val, 10**power.val)
        for name in ("query", "answer"):
            places[name].clear()
        draw_query(places["query"], q)
        draw_answer(places["answer"], weights, out, J)
        slope = float(np.linalg.norm(J, 2))
        slope = number(slope, 2) if slope > 0.01 else small(slope)
        places["query"].set_title("The query among the keys")
        places["answer"].set_title(f"The answer, gradient {slope}")
        power.valtext.set_text(f"{10**power.val:.3g}")
        figure.canvas.draw_idle()

    for slider in (angle, power):
        slider.vline.set_visible(False)
    # room for the words and the numbers beside the sliders
    figure.get_layout_engine().set(rect=(0.02, 0.02, 0.93, 0.96))
    for name in ("query", "answer"):
        places[name].set_anchor("N")  # both titles at one height
    angle.on_changed(update)
    power.on_changed(update)
    update(None)
    figure.canvas.draw()
    figure.set_layout_engine("none")  # or the panels would jump with their titles
    return figure, (angle, power)


def shoot():
    """Write the moving picture of the README: T goes from 10 to 0.01."""
    figure, (keys, answer, graph) = plt.subplots(
        1, 3, figsize=(8.4, 2.9), width_ratios=(3, 4, 4)
    )
    powers = np.linspace(1, -2, 61)
    sizes = [np.linalg.norm(look(100, 10**p)[3], 2) for p in powers]
    draw_query(keys, look(100, 1.0)[0])
    keys.set_title("the query and the keys")
    graph.semilogx(10**powers, sizes, color="0.8")
    graph.set(xlim=(10, 0.01), ylim=(0, 2.8), xlabel="temperature T")
    graph.set_title("size of the gradient")
    (line,) = graph.semilogx([], [], color=QUERY)
    (dot,) = graph.semilogx([], [], "o", color=QUERY, clip_on=False)
    graph.set_xticks([10, 1, 0.1, 0.01], ["10", "1", "0.1", "0.01"])
    graph.minorticks_off()

    def draw(i):
        _, weights, out, J = look(100, 10 ** powers[i])
        answer.clear()
        draw_answer(answer, weights, out, J)
        answer.set_title(f"the answer at T = {10 ** powers[i]:.2f}")
        line.set_data(10 ** powers[: i + 1], sizes[: i + 1])
        dot.set_data([10 ** powers[i]], [sizes[i]])

    film(figure, draw, [*[0] * 7, *range(60), *[60] * 10], FOLDER.parent / "lookup")


def add_options(parser):
    """Add what `demo` takes beside the page to the command line."""
    text = "write demos/lookup-light.gif and -dark.gif, the README's picture"
    parser.add_argument("--film", action="store_true", help=text)


def widget():
    """Return the widget of this lesson, its query on the way between two keys."""
    return lookup.widget(KEYS, VALUES, 10**-0.7, *look(100, 10**-0.7))


def demo(page, film=False):
    if film:
        shoot()
    temperatures = 1.0, 0.2, 0.03
    figure, (keys, *answers) = plt.subplots(
        1, 4, figsize=(8.4, 2.5), width_ratios=(4, 5, 5, 5)
    )
    draw_query(keys, look(100, 1.0)[0])
    keys.set_title("the query", loc="center", weight="normal", fontsize=10)
    for ax, T in zip(answers, temperatures, strict=True):
        _, weights, out, J = look(100, T)
        draw_answer(ax, weights, out, J)
        size = f"gradient {np.linalg.norm(J, 2):.2g}"
        ax.set_title(f"T = {T:g}, {size}", loc="center", weight="normal", fontsize=10)
    figure.suptitle(
        "Colder: the gradient grows, then one key has won and it is gone",
        weight="bold",
        fontsize=11,
    )
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
