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

What to look at. The slopes of the peaks, measured while the pass runs.
"""

import tracemalloc
from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, tiled_attention
from minigrad import Tensor
from minigrad import backend as B

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


def demo(page):
    peaks = {
        name: [peak(attend, n) / 2**20 for n in NS] for name, attend in WAYS.items()
    }
    page.table(
        ["peak in MiB", *(f"n = {n}" for n in NS), "slope"],
        [[name, *row, slope(row)] for name, row in peaks.items()],
    )

    figure, ax = plt.subplots(figsize=(6.4, 3.8))
    for (name, row), colour in zip(peaks.items(), ("C1", "C0"), strict=True):
        ax.loglog(NS, row, "o-", color=colour)
        text = f"{name}\nslope {slope(row):.2f}"
        ax.text(2300, row[-1], text, color=colour, va="center")
    ax.set_xticks(NS, NS)
    ax.minorticks_off()
    ax.set(xlabel="positions n", ylabel="peak of a pass there and back / MiB")
    ax.set(title="Twice the length: four times the memory, or twice")
    ax.set(xlim=(220, 5000), ymargin=0.1)
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
        f" {apart:.0e} at n = 512",
        0.9 < slope(tiled) < 1.1 and apart < 1e-12,
        tiled_attention,
    )
