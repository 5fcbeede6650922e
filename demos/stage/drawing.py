"""What several demos draw: weights as a heat map, the hull of points in the plane; and
the colours of the formula's terms, the same in every figure.
"""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patheffects import withStroke

# Σ α v, α = softmax(s(q, k)): as in report.css, which has paler ones for a dark ground.
# Told apart in grey by what they are drawn as: arrows, discs, dots, areas, levels.
QUERY, KEY, VALUE = "#b94a00", "#0072b2", "#00805c"
WEIGHT, SCORE = "#a03f8c", "#836600"
SHADES = {  # from none to much
    "weight": LinearSegmentedColormap.from_list("weight", ["white", WEIGHT]),
    "score": LinearSegmentedColormap.from_list("score", ["white", SCORE]),
}


def halo(width=2.5):
    """Return what keeps text legible on lines: a white edge around its letters."""
    return [withStroke(linewidth=width, foreground="white")]


def weight_map(ax, weights, allowed=None, numbers=False):
    """Draw weights (n, m), queries as rows and keys as columns, in colours from 0 to 1.

    Pairs that are not allowed are hatched: to have no weight is not to have weight 0.
    """
    allowed = np.ones(weights.shape, bool) if allowed is None else allowed
    ax.patch.set(facecolor="0.93", hatch="////", edgecolor="0.75", linewidth=0)
    shown = np.where(allowed, weights, np.nan)
    image = ax.imshow(
        shown,
        cmap=SHADES["weight"],
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    ax.set(xlabel="key", ylabel="query")
    ax.grid(False)
    if numbers:
        for (i, j), w in np.ndenumerate(shown):
            if allowed[i, j]:
                colour = "white" if w > 0.5 else "black"
                ax.text(j, i, f"{w:.2f}", ha="center", va="center", color=colour)
    return image


def hull(points):
    """Return the corners (h, 2) of the convex hull of points (m, 2), anticlockwise.

    From each corner the next is the point that leaves all others on its left."""
    corners = [points[np.lexsort(points.T)[0]]]
    while len(corners) <= len(points):
        here = corners[-1]
        ahead = points[0]
        for p in points:
            (ax, ay), (bx, by) = ahead - here, p - here
            turn = ax * by - ay * bx  # below 0: p lies to the right of the way ahead
            if turn < 0 or (turn == 0 and ax * ax + ay * ay < bx * bx + by * by):
                ahead = p
        if np.array_equal(ahead, corners[0]):
            break
        corners.append(ahead)
    return np.array(corners)


def outside(corners, points):
    """Return how far each point (n, 2) lies outside the hull, 0 or less if inside."""
    along = np.roll(corners, -1, axis=0) - corners  # (h, 2)
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)  # (h, 2)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    away = (points[:, None, :] - corners) * outward  # (n, h, 2)
    return away.sum(axis=2).max(axis=1)  # (n,)


def draw_hull(ax, values, weights=None):
    """Draw values (m, 2) as named points, and the outline of their hull.

    With weights (m,) a value is a disc, the fuller the more weight it has.
    """
    corners = hull(values)
    ax.fill(*corners.T, facecolor="0.94", edgecolor="0.45", linewidth=1.2, zorder=0)
    if weights is None:
        ax.scatter(*values.T, s=45, color=VALUE, zorder=4)
    else:
        shades = {"c": weights, "cmap": SHADES["weight"], "vmin": 0, "vmax": 1}
        ax.scatter(
            *values.T, s=90, edgecolors=VALUE, linewidths=1.5, zorder=3, **shades
        )
    middle = values.mean(axis=0)
    for i, v in enumerate(values):
        towards = (v - middle) / np.linalg.norm(v - middle)
        ax.annotate(
            f"$v_{i + 1}$" if weights is None else f"$v_{i + 1}$\n{weights[i]:.2f}",
            v,
            (11 if weights is None else 9) * towards,
            textcoords="offset points",
            ha="center" if weights is None else "left" if towards[0] > 0 else "right",
            va="center",
            color=VALUE,
            path_effects=halo(),
            linespacing=0.95,
            zorder=4,
        )
    ax.set_aspect("equal")
