"""Parallel: n lookups are two matrix products and one softmax.

Question. Every position of a sequence asks its own query. Must they wait for each
other?

Guess. A sequence is read from left to right, so each waits for the one before.

Formula. No query needs the answer of another one, so stack the queries as rows:

    outᵢ = softmax(qᵢ Kᵀ / √d) V   for each i        n lookups, one after another
    Out  = softmax(Q Kᵀ / √d) V                      all of them at once

Row i of a product depends on row i of its left factor only, and softmax works on each
row by itself: the two are the same numbers.

What to look at. The recorded graph has as many ops for 256 queries as for one. The loop
pays for its 256 trips through Python; the batch is arithmetic.
"""

import time
from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from attention import attention
from minigrad import Tensor, graph, stack

from ..stage.words import small

D = 4  # narrow, so that no product is large enough for several threads


def inputs(n, seed=0):
    """Return Q, K and V of n rows."""
    rng = np.random.default_rng(seed)
    return [Tensor(rng.normal(size=(n, D))) for _ in range(3)]


def loop(Q, K, V):
    """Return attention computed one query at a time."""
    return stack([attention(Q[i : i + 1], K, V)[0] for i in range(len(Q))])


def counts(n):
    """Return how many matmuls, softmaxes and ops in all one batched pass records."""
    ops = graph.count(attention(*inputs(n)))
    return ops["matmul"], ops["softmax"], ops.total()


def seconds(functions, tries=5):
    """Return the shortest time of a call of each; they take turns."""
    times = np.empty((tries, len(functions)))
    for row in times:
        for i, f in enumerate(functions):
            start = time.perf_counter()
            f()
            row[i] = time.perf_counter() - start
    return times.min(axis=0)


def demo(page):
    rows = []
    for n in (1, 4, 16, 64, 256):
        Q, K, V = inputs(n)
        apart = float(abs(loop(Q, K, V) - attention(Q, K, V)).numpy().max())
        times = seconds([partial(loop, Q, K, V), partial(attention, Q, K, V)])
        rows.append([n, *counts(n), apart, *times, times[0] / times[1]])
    page.table(
        ["n", "matmul", "softmax", "ops", "apart", "loop / s", "batch / s", "ratio"],
        rows,
    )
    ns, *_, one_by_one, at_once, ratio = zip(*rows, strict=True)
    best = max(ratio)

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.2, 4.2), width_ratios=(4, 5), layout="constrained"
    )
    ops = graph.count(loop(*inputs(ns[-1]))).total()
    for times, style, text, at in [
        (one_by_one, "s--", f"one by one:\n{ops:,} ops at {ns[-1]}", -3),
        (at_once, "o-", f"all at once:\n{rows[-1][3]} ops at any n", -2),
    ]:
        right.loglog(ns, times, style, color="black")
        right.annotate(
            text, (ns[at], times[at]), (-8, 12), ha="right", textcoords="offset points"
        )
    right.set_xticks(ns, ns)
    right.minorticks_off()
    right.set(xlabel="queries and keys n", ylabel="time of a forward pass / s")
    right.set(title=f"Up to {best:.0f} times sooner", ymargin=0.15)
    left.set_title(f"What is computed for {ns[-1]} queries")
    figure.draw_without_rendering()  # the letters are made for the size of their axes
    graph.draw(attention(*inputs(ns[-1])), left)
    page.picture(figure, "parallel")
    page.claim(
        "C4",
        "n queries take two matmuls and one softmax, whatever n, and give the numbers"
        " of a loop over the queries.",
        r"$softmax(QK^T/\sqrt{d})\,V$",
        f"2 matmuls and 1 softmax at n = 1 to {ns[-1]}; apart by"
        f" {small(max(row[4] for row in rows))}; loop / batch in time: {best:.0f} at best",
        all(row[1:4] == [2, 1, rows[0][3]] and row[4] < 1e-12 for row in rows),
        attention,
    )
