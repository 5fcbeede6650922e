"""What several demos draw: weights as a heat map, the hull of points in the plane."""

import numpy as np


def weight_map(ax, weights, allowed=None, numbers=False):
    """Draw weights (n, m), queries as rows and keys as columns, in colours from 0 to 1.

    Pairs that are not allowed are hatched: to have no weight is not to have weight 0.
    """
    allowed = np.ones(weights.shape, bool) if allowed is None else allowed
    ax.patch.set(facecolor="0.93", hatch="////", edgecolor="0.75", linewidth=0)
    shown = np.where(allowed, weights, np.nan)
    image = ax.imshow(shown, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
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


def draw_hull(ax, values):
    """Draw values (m, 2) as named points, and the outline of their hull."""
    corners = hull(values)
    ax.fill(*corners.T, facecolor="0.94", edgecolor="0.45", linewidth=1.2, zorder=0)
    ax.scatter(*values.T, s=45, color="black", zorder=4)
    middle = values.mean(axis=0)
    for i, v in enumerate(values):
        towards = (v - middle) / np.linalg.norm(v - middle)
        ax.annotate(
            f"$v_{i + 1}$",
            v,
            11 * towards,
            textcoords="offset points",
            ha="center",
            va="center",
            bbox={
                "boxstyle": "round,pad=0.1",
                "fc": "white",
                "ec": "none",
                "alpha": 0.7,
            },
            zorder=4,
        )
    ax.set_aspect("equal")
