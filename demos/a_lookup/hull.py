"""The hull: a lookup mixes its values and can do nothing else.

Question. What can come out of a lookup, over all queries that there are?

Guess. With the right query, anything: queries can be of any length, in any direction.

Formula. The weights are positive and sum to 1, so the output is a convex combination:

    out = Σᵢ αᵢ vᵢ,   αᵢ ≥ 0,   Σᵢ αᵢ = 1         it lies in the hull of the values

Equal scores, because the query matches no key or all alike, give αᵢ = 1/m and the
centroid of the values. A soft lookup has no "not found": a caller who wants one looks
at the scores or at the spread of the weights, shown here by colour.

What to look at. Left: 5000 random queries, not one outside. Queries orthogonal to all
keys, however long, land on the cross. Right: gradient descent on the query alone, for a
target outside the hull. It ends at the nearest point of the hull and cannot get closer:
a single lookup does not extrapolate.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot
from minigrad import Tensor

from ..stage.drawing import draw_hull, hull, outside
from ..stage.words import small
from .soft_argmax import entropy

VALUES = np.array(
    [[-2.0, -0.7], [-0.4, -1.6], [1.8, -1.0], [2.2, 0.9], [0.3, 0.2], [-1.2, 1.5]]
)
KEYS = np.eye(6, 8)  # orthonormal, and two directions of the queries match no key
TARGET = np.array([1.3, 2.2])


def answer(queries):
    """Return the outputs (n, 2) and weights (n, 6) of queries (n, 8)."""
    Q, K, V = Tensor(queries), Tensor(KEYS), Tensor(VALUES)
    y, a = attention(Q, K, V, score=dot, return_weights=True)
    return y.numpy(), a.numpy()


def pull_to(target, steps=600, rate=0.1):
    """Return the outputs (steps, 2) of gradient descent on a query towards a target."""
    K, V = Tensor(KEYS), Tensor(VALUES)
    query, path = Tensor(np.zeros((1, 8))), []
    for _ in range(steps):
        query.grad = None
        y = attention(query, K, V, score=dot)  # (1, 2)
        path.append(y.numpy()[0])
        ((y - Tensor(target)) ** 2).sum().backward()
        query.data = query.data - rate * query.grad
    return np.array(path)


def nearest(corners, target):
    """Return the point of the outline that is nearest to a target outside, (2,)."""
    ends = np.roll(corners, -1, axis=0)
    along = ends - corners  # (h, 2)
    fraction = ((target - corners) * along).sum(axis=1) / (along**2).sum(axis=1)  # (h,)
    points = corners + np.clip(fraction, 0, 1)[:, None] * along
    return points[np.argmin(((points - target) ** 2).sum(axis=1))]


def demo(page):
    rng = np.random.default_rng(0)
    corners, centroid = hull(VALUES), VALUES.mean(axis=0)
    lengths = rng.uniform(0, 9, size=(5000, 1))
    queries = lengths * rng.normal(size=(5000, 8)) / np.sqrt(8)
    out, weights = answer(queries)
    beyond = outside(corners, out).max()

    unmatched = np.zeros((3, 8))
    unmatched[1:, 6:] = [[3.0, 4.0], [-300.0, 400.0]]
    off = np.abs(answer(unmatched)[0] - centroid).max()

    path = pull_to(TARGET)
    limit = nearest(corners, TARGET)
    gap, least = np.linalg.norm(path[-1] - TARGET), np.linalg.norm(limit - TARGET)

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 4.5), sharey=True)
    draw_hull(left, VALUES)
    sharing = np.exp(entropy(weights))
    dots = left.scatter(*out.T, s=3, c=sharing, vmin=1, vmax=6, linewidths=0)
    dots.set_rasterized(True)  # 5000 dots would make the report large
    cross = {"color": "C1", "markersize": 14, "markeredgewidth": 2.5}
    left.plot(*centroid, "+", label="centroid", **cross)
    left.legend(loc="lower left")
    left.set_title("No query leaves the hull")
    name = "left: keys that share an output, in effect"
    both = left, right
    figure.colorbar(dots, ax=both, label=name, location="bottom", shrink=0.6, aspect=40)
    draw_hull(right, VALUES)
    right.plot(*path.T, color="C0", marker=".", markersize=4)
    right.plot(*TARGET, "*", color="C1", markersize=14)
    right.annotate("target", TARGET, (8, -4), textcoords="offset points")
    right.plot(*np.array([limit, TARGET]).T, ":", color="0.4")
    right.set_title("Trained, it stops at the edge")
    for ax in both:
        ax.set(xlabel="value, coordinate 1", xlim=(-2.6, 2.8), ylim=(-2.1, 2.5))
    left.set_ylabel("value, coordinate 2")
    page.picture(figure, "hull")

    page.claim(
        "A5",
        "Every output lies in the convex hull of the values.",
        r"$out=\sum_i\alpha_i v_i,\ \alpha\in\Delta^{m-1}$",
        f"5000 random queries, the outermost {small(-beyond)} inside the edge",
        beyond < 1e-12,
        attention,
    )
    page.claim(
        "A5",
        "A target outside the hull is approached up to the nearest point of the hull.",
        r"$\min_q \|out(q)-t\| = dist(t, hull)$",
        f"distance {gap:.4f} after {len(path)} steps, the hull's {least:.4f}",
        least - 1e-12 < gap < 1.01 * least,
        attention,
    )
    page.claim(
        "A8",
        "A query that matches no key gets the centroid of the values.",
        r"$s_1=\dots=s_m \Rightarrow out=\frac{1}{m}\sum_i v_i$",
        f"queries of length 0, 5 and 500 orthogonal to all keys: off by {small(off)}",
        off < 1e-12,
        attention,
    )
