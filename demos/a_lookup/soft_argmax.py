"""Soft argmax: one dial from the mean of all values to the value of the best key.

Question. A hard lookup takes the best key and nothing else. How far is a soft one from
it?

Guess. They are two kinds of thing: one chooses, the other mixes.

Formula. Multiply all scores by c, or divide them by a temperature T = 1/c:

    α = softmax(c s)        c → 0:  αᵢ → 1/m, the mean of all values
                            c → ∞:  α_best → 1, the hard lookup

How fast? Let the best score lead the second by a gap > 0. Each other key has at most
e^(-c gap) times the weight of the best, and there are m - 1 of them:

    1 - α_best ≤ (m - 1) e^(-c gap)

Keys that tie for the best have a gap of 0 between them, and share for ever.

What to look at. Left: the dial. Right: on a logarithmic axis what is left for the other
keys falls in a straight line under its bound, and a tie never falls. It reaches 0 in no
finite c, only in rounding. And "hard" means the best key: `hard_lookup` wants an equal
one, and returns nothing where the soft lookup still answers.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import soft_lookup
from minigrad import Tensor, softmax

from ..stage.drawing import WEIGHT
from ..stage.words import listed, number, small

SCORES = np.array([2.0, 1.2, 0.7, 0.0, -0.5])
TIED = np.array([2.0, 2.0, 0.7, 0.0, -0.5])
VALUES = np.array([10.0, 20.0, 30.0, 40.0, 50.0])


def sharpen(scores, c):
    """Return softmax(c s) for scores (m,) and every scale in c (n,): (n, m)."""
    return softmax(Tensor(c[:, None] * scores)).numpy()


def entropy(weights):
    """Return -Σ α log α in nats over the last axis, with 0 log 0 = 0."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logs).sum(axis=-1)


def left_over(scores, c):
    """Return 1 - α_best, and the bound (m - 1) e^(-c gap) on it, each (n,)."""
    weights = np.sort(sharpen(scores, c), axis=1)  # (n, m), the best one last
    second, best = np.sort(scores)[-2:]
    # the sum of the others: 1 - α_best itself would round to 0
    return weights[:, :-1].sum(axis=1), (len(scores) - 1) * np.exp(-c * (best - second))


def demo(page):
    m = len(SCORES)
    page.say(
        f"Five keys score {listed(SCORES)}; their values are {listed(VALUES)}, of mean"
        f" {VALUES.mean():.0f}. Scale the scores by c, a temperature of 1/c:"
    )
    c = np.array([0.001, 0.1, 1.0, 10.0, 40.0])
    weights = sharpen(SCORES, c)
    rest, bound = left_over(SCORES, c)
    out = weights @ VALUES
    columns = c, 1 / c, weights[:, 0], rest, bound, entropy(weights), out
    page.table(
        [
            "c",
            "T",
            "weight of best",
            "of the others",
            "bound",
            "entropy / nats",
            "output",
        ],
        np.stack(columns, axis=1),
    )

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.7))
    c = np.geomspace(0.01, 100, 200)
    styles = "-", "--", "-.", (0, (4, 1, 1, 1, 1, 1)), ":"
    columns = zip(SCORES, sharpen(SCORES, c).T, styles, strict=True)
    for score, column, style in columns:
        left.plot(c, column, color=WEIGHT, ls=style, label=number(score))
    left.axhline(1 / m, color="0.5", linewidth=1, linestyle=":")
    left.text(100, 1 / m + 0.02, f"1/m = {1 / m}", color="0.4", ha="right")
    left.legend(loc="upper left", title="score of the key", handlelength=3.5)
    left.set(title="From the mean to the best key", xscale="log", ylim=(-0.03, 1.03))
    left.set(xlabel="scale c = 1 / temperature", ylabel="weight of each key")

    c = np.linspace(0, 40, 200)
    for scores, style, name in [(TIED, "-.", "a tie"), (SCORES, "-", "gap 0.8")]:
        rest, bound = left_over(scores, c)
        right.semilogy(c, rest, style, color=WEIGHT, label=f"measured, {name}")
        if scores is SCORES:
            right.semilogy(c, bound, ":", color="0.3", label=r"$(m-1)\,e^{-c\,gap}$")
    right.set(xlabel="scale c = 1 / temperature", ylabel=r"$1-\alpha_{best}$")
    right.set(title="The rest falls under its bound", ylim=(1e-17, 30))
    right.legend(loc="lower left")
    page.picture(figure, "soft_argmax")

    rest, bound = left_over(SCORES, c)
    page.claim(
        "A4",
        "Scaling the scores up turns attention into the lookup of the best key, scaling"
        " them down into the mean.",
        r"$softmax(c\,s)\rightarrow 1[i=i^\star]$ as $c\rightarrow\infty$,"
        r" $1/m$ as $c\rightarrow 0$",
        f"output {out[0]:.3f} at c = 0.001, {out[-1]:.10f} at c = 40",
        abs(out[0] - VALUES.mean()) < 0.02 and abs(out[-1] - VALUES[0]) < 1e-9,
        softmax,
    )
    page.claim(
        "A4",
        "What the other keys keep is bounded by the gap between the best two scores.",
        r"$1-\alpha_{best}\leq (m-1)\,e^{-c\,gap}$",
        f"at most {(rest / bound).max():.2f} of the bound, c from 0 to 40",
        (rest <= bound).all(),
        softmax,
    )
    shared = sharpen(TIED, np.array([1e3]))[0]
    page.claim(
        "A4",
        "Keys that tie for the best share equally, at every scale.",
        r"$\alpha_1=\alpha_2\rightarrow 1/2$",
        f"weights {shared[0]} and {shared[1]} at c = 1000",
        shared[0] == shared[1] == 0.5,
        softmax,
    )
    Ts = np.array([0.1, 1.0, 10.0])
    query, eye = Tensor(SCORES), Tensor(np.eye(m))  # q · kᵢ is then the i-th score
    by_T = np.array([soft_lookup(query, eye, eye, temperature=T).numpy() for T in Ts])
    apart = np.abs(by_T - sharpen(SCORES, 1 / Ts)).max()
    spread = np.exp(entropy(by_T))
    page.claim(
        "B6",
        "A temperature is one over a scale: 0.1 sharpens, 10 flattens.",
        r"$T=1/c$",
        f"keys that share, in effect: {spread[0]:.2f}, {spread[1]:.2f}, {spread[2]:.2f}"
        f" at T = 0.1, 1, 10; apart from scaling by {small(apart)}",
        apart < 1e-12 and (np.diff(spread) > 0).all(),
        soft_lookup,
    )
