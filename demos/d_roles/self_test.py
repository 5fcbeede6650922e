"""The chapter's self-test, (a) to (e), answered by code.

Question. The chapter ends with five questions: the two limits of the scale c; one score
of 5 against three of 0; the convex hull; the four requirements; and what comes out if
nothing matches. What are the answers?

Guess. A score of 5 against three of 0 takes nearly all the weight, but not all of it.

Formula. All five are about one line, with α positive and of sum 1:

    attn(q, K, V) = Σᵢ αᵢ vᵢ,        αᵢ = e^(c sᵢ) / Σⱼ e^(c sⱼ)

What to look at. How much weight a score of 5 has depends on how many others there are:
98 % against three (b), half against 148. Scaled up it wins against any number, and with
all scores alike it has 1/m (a, e).
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot, soft_lookup
from minigrad import Tensor, graph, softmax

from ..stage.drawing import WEIGHT
from ..stage.words import small

SCORES = np.array([5.0, 0.0, 0.0, 0.0])


def weights(scores, c=1.0):
    """Return softmax(c s) for scores (m,), on the host."""
    return softmax(Tensor(c * scores)).numpy()


def alone(score, others):
    """Return the weight of one score against so many of 0: e^s / (e^s + others)."""
    return 1 / (1 + others * np.exp(-score))


def reach(seed=0, m=6, d=3, queries=1000, directions=200):
    """Return how far outputs for random queries, Q (n, d), K (m, d), V (m, d), pass the
    values along random directions: the largest u · out - maxᵢ u · vᵢ. If it is above 0,
    an output lies outside the hull."""
    draw = np.random.default_rng(seed).standard_normal
    Q, K, V, U = (draw((n, d)) for n in (queries, m, m, directions))
    Y = attention(Tensor(Q), Tensor(K), Tensor(V)).numpy()  # (queries, d)
    return (Y @ U.T - (V @ U.T).max(axis=0)).max()


def batch(n, m, d=4, seed=0):
    """Return Q (n, d), K and V (m, d), and attention's output for them, as Tensors."""
    draw = np.random.default_rng(seed).standard_normal
    Q, K, V = (Tensor(draw((rows, d))) for rows in (n, m, m))
    return Q, K, V, attention(Q, K, V, score=dot)


def requirements(sizes=(1, 16, 4096)):
    """Return the rows of (d): requirement, the piece that delivers it, what was
    measured, and whether that is as required."""
    by_m = [batch(2, m) for m in sizes]
    q, k, v = (
        {graph.path_lengths(run[-1], run[i])[1] for run in by_m} for i in range(3)
    )
    for *_, Y in by_m:
        Y.sum().backward()  # dL/dvⱼ is the weight of key j, summed over the queries
    by_n = [graph.count(batch(n, 16)[-1]) for n in (1, 64)]
    Q, K, V, Y = by_m[1]
    order = np.random.default_rng(1).permutation(sizes[1])
    apart = np.abs(
        attention(Q, K[order], V[order], score=dot).numpy() - Y.numpy()
    ).max()
    return [
        (
            "unbounded conditioning",
            "the sum over all i",
            f"all of m = {', '.join(map(str, sizes))} values reached by a gradient",
            all((V.grad > 0).all() for _, _, V, _ in by_m),
        ),
        (
            "constant path length",
            "one weighted sum",
            f"{max(q)}, {max(k)}, {max(v)} ops to q, k, v, whatever m",
            len(q) == len(k) == len(v) == 1,
        ),
        (
            "parallel forward pass",
            "softmax(Q Kᵀ) V",
            "{matmul} matmuls, {softmax} softmax for 64 queries".format(**by_n[1]),
            by_n[0] == by_n[1],
        ),
        (
            "content-addressed mixing",
            "s(q, kᵢ) knows no i",
            f"pairs in another order: output moves by {small(apart)}",
            apart < 1e-12,
        ),
    ]


def draw():
    """Draw the weight of a score of 5 against more and more scores of 0."""
    figure, ax = plt.subplots(figsize=(7.4, 4.0))
    others = np.unique(np.geomspace(1, 1e5, 300).round())
    for c, style in [(2.0, "--"), (1.0, "-"), (0.5, "-."), (0.0, ":")]:
        ax.plot(others, alone(5 * c, others), style, color=WEIGHT)
    half = math.exp(5)
    ax.plot([3, half], [alone(5, 3), 0.5], "o", color="black", zorder=3)
    for x, y, text in [
        (2.4, 1.07, f"(b) {alone(5, 3):.4f} against three"),
        (1.5e3, 1.07, "(a) c → ∞: 1, the hard lookup"),
        (1.25 * half, 0.52, f"half, against {half:.0f}"),
        (3e4, 0.52, "c = 2"),
        (1.25e3, 0.16, "c = 1"),
        (30, 0.32, "c = ½"),
        (1.1, 0.12, "(a, e) c = 0,\nall alike: 1/m"),
    ]:
        ax.text(x, y, text, va="center")
    ax.set(xscale="log", ylim=(-0.03, 1.12), xlim=(1, 1e5))
    ax.set(xlabel="other keys, of score 0", ylabel="weight of the key of score 5 c")
    ax.set_title(f"98 % against three keys, and half against {half:.0f}")
    return figure


def demo(page):
    page.say(
        "(a) Softmax of c · s for s = (5, 0, 0, 0): a hard argmax at c → ∞, 1/m at 0."
    )
    scales = (0.0, 0.01, 0.1, 1.0, 10.0)
    page.table(
        ["c", "α₁", "α₂, α₃, α₄"], [[c, *weights(SCORES, c)[:2]] for c in scales]
    )
    page.picture(draw(), "self_test")
    flat, sharp = weights(SCORES, 0.0), weights(SCORES, 200.0)
    limits = (flat == 0.25).all() and (sharp == [1, 0, 0, 0]).all()

    first, other = weights(SCORES)[:2]
    closed = math.exp(5) / (math.exp(5) + 3)
    page.say(
        f"(b) α₁ = e⁵ / (e⁵ + 3) = {first:.8f}, the others 1 / (e⁵ + 3) = {other:.8f}."
        f" α₁ is {1 - first:.8f} from 1."
    )
    page.claim(
        "A7",
        "A score of 5 against three of 0 takes 98 % of the weight, not all of it.",
        r"$\alpha_1=e^5/(e^5+3)$",
        f"{first:.8f}, and {other:.8f} for each of the others",
        abs(first - closed) < 1e-12 and abs(other - (1 - closed) / 3) < 1e-12,
        softmax,
    )

    beyond = reach()
    page.say(
        "(c) Positive weights of sum 1 are what a convex combination is, so along any"
        " direction u the output is no further than the furthest value:"
        " u · out = Σ αᵢ u · vᵢ ≤ maxᵢ u · vᵢ. For 1000 queries and 200 directions it"
        f" stays {-beyond:.3f} or more short of that. One layer can mix values, never go"
        " beyond them."
    )

    rows = requirements()
    page.say(
        "(d) The four requirements, and the piece of the formula that delivers each:"
    )
    page.table(["requirement", "piece", "measured"], [row[:3] for row in rows])

    V = np.random.default_rng(2).standard_normal((4, 2))
    query = Tensor(np.zeros(3))  # at right angles to every key: all scores are 0
    out = soft_lookup(query, Tensor(np.eye(4)[:, :3]), Tensor(V)).numpy()
    centroid = np.abs(out - V.mean(axis=0)).max()
    page.say(
        "(e) Not nothing: with equal scores all weights are 1/m, and the output is the"
        f" mean of all values (apart by {small(centroid)}), a point inside their hull. The"
        " spread of the weights, not the output, tells that nothing matched."
    )
    page.claim(
        "D5",
        "The five questions of the self-test, answered.",
        r"$attn(q,K,V)=\sum_i\,\alpha_i\,v_i$",
        f"(a) limits reached, (b) off by {small(abs(first - closed))}, (c) inside by"
        f" {-beyond:.3f}, (d) {sum(row[3] for row in rows)} of 4,"
        f" (e) off by {small(centroid)}",
        limits and beyond <= 0 and all(row[3] for row in rows) and centroid < 1e-12,
        attention,
    )
