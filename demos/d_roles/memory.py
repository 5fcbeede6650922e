"""Memory: what the matrix of scores takes.

Question. n queries and n keys make n² scores. At n = 100,000 in float32 that is 40 GB.
Must they be stored?

Guess. Softmax divides by the sum over all scores of a row, so all of them must be there
at once.

Formula. With n positions of width d, there and back:

    Q, K, V, output, gradients, and
    the copies that are kept here   14 n d numbers      slope 1 on a log-log axis
    scores, weights, and the
    gradients of both               4 n² numbers        slope 2

The n² is a matter of storage, not of attention: a row of weights is needed only while
its output is summed. So make the scores tile by tile, and carry along what softmax
needs of the tiles before, a maximum and a sum: `tiled_attention`. It is exact, and so
are its gradients, for which the tiles are made again.

What to look at. Left, to scale for n = 256 and d = 32: what is stored, and what one tile
takes. Right, the slopes of the peaks, measured while the pass runs.
"""

import tracemalloc
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from attention import attention, tiled_attention
from minigrad import Tensor
from minigrad import backend as B

from ..stage.drawing import KEY, QUERY, SCORE, SHADES, VALUE
from ..stage.words import small

NS = 256, 512, 1024, 2048
D = 32
WAYS = {
    "scores stored": attention,
    "tile by tile": partial(tiled_attention, block=64),
}


def forward_and_back(attend, n, seed=0):
    """Return the output and the gradients of Q, K and V for a random cotangent."""
    rng = np.random.default_rng(seed)
    Q, K, V, g = rng.normal(size=(4, n, D))
    leaves = Tensor(Q), Tensor(K), Tensor(V)
    y = attend(*leaves)
    y.backward(B.xp.asarray(g))
    return [y.numpy(), *(B.to_numpy(x.grad) for x in leaves)]


def peak(attend, n):
    """Return the most bytes that were held at a time during a pass."""
    if hasattr(B.xp, "get_default_memory_pool"):  # CuPy: what the pool had to ask for
        pool = B.xp.get_default_memory_pool()
        pool.free_all_blocks()
        forward_and_back(attend, n)
        return pool.total_bytes()
    tracemalloc.start()
    forward_and_back(attend, n)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def slope(peaks):
    """Return the power of n in the last doubling."""
    return float(np.log2(peaks[-1] / peaks[-2]))


def draw_stored(ax, n=256, block=64):
    """Draw what each way holds of n positions, to scale: n × n scores, or a tile."""
    gap = 0.06 * n
    strips = [(-gap - D, 0, D, n, QUERY, "Q"), (0, n + gap, n, D, KEY, "Kᵀ")]
    strips += [(n + gap, 0, D, n, VALUE, "V")]
    strips += [(n + 2 * gap + D, 0, D, n, "0.35", "output")]
    for x, y, width, height, colour, name in strips:
        ax.add_patch(Rectangle((x, y), width, height, fc=colour, alpha=0.75))
        turned = 90 if height > width else 0
        middle = x + width / 2, y + height / 2
        ax.text(*middle, name, color="white", ha="center", va="center", rotation=turned)
    ax.add_patch(Rectangle((0, 0), n, n, fc=SHADES["score"](0.25), ec=SCORE))
    for edge in range(0, n, block):
        ax.plot([0, n], [edge] * 2, [edge] * 2, [0, n], color="white", linewidth=0.8)
    tile = Rectangle(
        (block, 2 * block), block, block, fc=SCORE, hatch="///", ec="white"
    )
    ax.add_patch(tile)
    ax.text(n / 2, 0.8 * block, "all scores, n × n", ha="center", va="center")
    ax.annotate("one tile", (2 * block, 2.5 * block), (2.3 * block, 2.5 * block),
                va="center")  # fmt: skip
    ax.set(xlim=(-D - 2 * gap, n + 2 * D + 3 * gap), ylim=(-gap, n + D + 2 * gap))
    ax.set_aspect("equal")
    ax.set_axis_off()


def demo(page):
    peaks = {
        name: [peak(attend, n) / 2**20 for n in NS] for name, attend in WAYS.items()
    }
    page.table(
        ["peak in MiB", *(f"n = {n}" for n in NS), "slope"],
        [[name, *row, slope(row)] for name, row in peaks.items()],
    )

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.8), width_ratios=(4, 5))
    draw_stored(left)
    left.set_title("A tile at a time is enough")
    for (name, row), style in zip(peaks.items(), ("s--", "o-"), strict=True):
        right.loglog(NS, row, style, color="black")
        text = f"{name}:\nslope {slope(row):.2f}"
        right.annotate(
            text, (NS[1], row[1]), (8, -6), va="top", textcoords="offset points"
        )
    right.set_xticks(NS, NS)
    right.minorticks_off()
    right.set(xlabel="positions n", ylabel="peak of a pass there and back / MiB")
    right.set(title="Then memory grows as n, not n²", ymargin=0.15)
    page.picture(figure, "memory")

    stored, tiled = peaks.values()
    page.claim(
        "D2",
        "The matrix of scores makes the memory of attention quadratic in its length.",
        r"$n\,m$ scores",
        f"slope {slope(stored):.2f} from n = {NS[-2]} to {NS[-1]}; {stored[-1]:.0f}"
        f" MiB, {stored[-1] * 2**17 / NS[-1] ** 2:.1f} matrices of n² float64",
        1.9 < slope(stored) < 2.05,
        attention,
    )
    apart = max(
        float(np.abs(a - b).max())
        for a, b in zip(*(forward_and_back(f, 512) for f in WAYS.values()), strict=True)
    )
    page.claim(
        "D2",
        "The matrix need not be stored: tile by tile the memory is linear, and output"
        " and gradients are the same.",
        r"$O(n+m)$",
        f"slope {slope(tiled):.2f}; {tiled[-1]:.0f} MiB at n = {NS[-1]},"
        f" {tiled[-1] * 2**17 / NS[-1] / D:.1f} arrays of n d float64; apart by"
        f" {small(apart)} at n = 512",
        0.9 < slope(tiled) < 1.1 and apart < 1e-12,
        tiled_attention,
    )
