"""Paths: Table 1 of "Attention Is All You Need", measured on recorded graphs.

Question. A gradient from the last position back to the first passes one op after
another. How many, and what does a layer cost?

Guess. The farther apart, the more steps lie between.

Formula. Vaswani et al. (2017), Table 1, for n positions of width d and kernels of width
k:

    layer                    FLOPs       sequential steps    longest path
    attention                n² d        1                   1
    recurrent                n d²        n                   n
    convolution              k n d²      1                   n / k
    dilated convolution      k n d²      1                   log_k n

Nothing of it is assumed: each layer runs on n separate leaves, and the recorded graph
is walked. FLOPs are summed op by op. Sequential steps are matmuls of one layer that
wait for each other. The path joins the positions that are farthest apart, the last
output and the first input, by the fewest ops, through as many layers as it takes to
connect them: one, but for convolutions.

What to look at. The exponents are the table's. The path of attention is 3 ops through
the values and 6 through the queries, at any length. What O() hides: attention takes two
steps, and costs less than a recurrent layer only where n is below d / 2.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import attention
from minigrad import Tensor, concatenate, graph, matmul

from ..stage.layers import attend, convolve, recur
from ..stage.lesson import paths
from ..stage.words import listed

COLOURS = {
    "attention": "C0",
    "recurrent": "C1",
    "convolution": "C2",
    "dilated convolution": "C3",
}
TABLE_1 = {"attention": (2, 1, 0), "recurrent": (1, 2, 0), "convolution": (1, 2, 1)}
COTANGENT = np.array([[0.6, -0.8]])  # g of the last output, (1, 2)
MOVES = {"getitem", "concatenate", "swapaxes"}  # ops that compute nothing


def leaves(n, d):
    """Return n Tensors of shape (1, d)."""
    return [Tensor(x) for x in np.random.default_rng(0).normal(size=(n, 1, d))]


def layer(name, xs, k=3, gap=1):
    """Return the outputs of one layer."""
    if name == "attention":
        return attend(xs)
    eye = 0.9 * np.eye(xs[0].shape[1])  # (d, d)
    if name == "recurrent":
        return recur(xs, Tensor(eye))
    return convolve(xs, Tensor(np.tile(eye, (k, 1))), gap)


def flops(output):
    """Return the multiplications and additions in a graph: 2 k to each number of a
    product over k, and 1 to each number of any other op."""
    total = 0
    for t in graph.nodes(output):
        if t.op is matmul:
            total += 2 * t.inputs[0].shape[-1] * t.size
        elif t.op and t.op.__name__.strip("_") not in MOVES:
            total += t.size
    return total


def steps(output):
    """Return the number of matmuls on the longest chain of ops that need each other."""
    chain = {}
    for t in graph.nodes(output):
        before = max((chain[x] for x in graph.inputs(t)), default=0)
        chain[t] = before + (t.op is matmul)
    return chain[output]


def cost(name, n, d, k=3):
    """Return the FLOPs and the sequential steps of one layer."""
    y = concatenate(layer(name, leaves(n, d), k))  # (n, d)
    return flops(y), steps(y)


def exponents(name, n=128, d=64, k=3):
    """Return the powers of n, d and k in the FLOPs of one layer, by doubling each."""
    base, _ = cost(name, n, d, k)
    doubled = cost(name, 2 * n, d, k), cost(name, n, 2 * d, k), cost(name, n, d, 2 * k)
    return [math.log2(more / base) for more, _ in doubled]


def connected(name, n, k=3):
    """Return the inputs, and the last output of as many layers as connect it to all."""
    gaps = {
        "convolution": [1] * math.ceil((n - 1) / (k - 1)),
        "dilated convolution": [k**i for i in range(n) if k**i < n],
    }
    inputs = ys = leaves(n, 2)
    for gap in gaps.get(name, [1]):
        ys = layer(name, ys, k, gap)
    return inputs, ys[-1]


def path(name, n):
    """Return the lengths in ops (shortest, longest) of the paths that connect them."""
    inputs, last = connected(name, n)
    return graph.path_lengths(last, inputs[0])


def widget():
    """Return the widget of this lesson: the graphs of three layers, and their flow."""
    graphs = {}
    for name in TABLE_1:
        joined = {n: connected(name, n) for n in paths.NS}
        graphs[name] = {
            n: (x, graph.flow(y, COTANGENT)) for n, (x, y) in joined.items()
        }
    return paths.widget(graphs, 9)


def demo(page):
    rows = [
        [name, *exponents(name), cost(name, 128, 64)[1], cost(name, 256, 64)[1]]
        for name in TABLE_1
    ]
    page.table(
        ["one layer", "power of n", "of d", "of k", "steps at n = 128", "256"], rows
    )
    ns = 3, 9, 27, 81
    lengths = {name: [path(name, n)[0] for n in ns] for name in COLOURS}
    page.table(
        ["ops on the path", *(f"n = {n}" for n in ns)],
        [[name, *row] for name, row in lengths.items()],
    )

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.8))
    for name, row in lengths.items():
        left.loglog(ns, row, "o-", color=COLOURS[name])
        text = name.replace(" ", "\n")
        left.text(95, row[-1], text, color=COLOURS[name], va="center")
    left.set_xticks(ns, ns)
    left.set(xlabel="positions n", ylabel="ops from the last output to the first input")
    left.set(title="Attention's path does not grow", xlim=(2.7, 600), ylim=(2, 400))
    sizes = np.array([8, 16, 32, 64, 128, 256])
    for name in TABLE_1:
        row = np.array([cost(name, n, 64)[0] for n in sizes]) / 1e6
        right.loglog(sizes, row, "o-", color=COLOURS[name])
        right.text(300, row[-1], name, color=COLOURS[name], va="center")
    right.set_xticks(sizes, sizes)
    right.set(xlabel="positions n", ylabel="million FLOPs of one layer, d = 64")
    right.set(title="Its cost grows as n²", xlim=(7, 2600))
    left.minorticks_off()
    right.minorticks_off()
    page.picture(figure, "paths")

    page.claim(
        "C2",
        "A gradient passes as many ops at any distance in attention. Their number grows"
        " with the distance in a recurrent net and a stack of convolutions, and with"
        " its logarithm if they are dilated.",
        r"$O(1),\ O(n),\ O(n/k),\ O(\log_k n)$",
        f"n = {listed(ns)}: "
        + ", ".join(f"{name} {listed(row)}" for name, row in lengths.items()),
        {path("attention", n) for n in ns} == {(3, 6)}
        and lengths["recurrent"] == [3 * (n - 1) for n in ns]
        and lengths["convolution"] == [3 * (n - 1) // 2 for n in ns]
        and lengths["dilated convolution"] == [3, 6, 9, 12],
        attention,
    )
    found = np.array([row[1:4] for row in rows])
    off = np.abs(found - list(TABLE_1.values())).max()
    page.claim(
        "C2",
        "Table 1: a layer of attention costs n²d, a recurrent one nd², a convolution"
        " knd² FLOPs; only the recurrent one has n steps that wait for each other.",
        r"$n^2d,\ nd^2,\ knd^2$",
        f"exponents off by {off:.3f} at most; steps at n = 256: "
        + ", ".join(f"{row[0]} {row[-1]}" for row in rows),
        off < 0.03 and [row[-1] for row in rows] == [2, 255, 1],
        attention,
    )
