"""Underflow: "always nonzero" ends where floats end.

Question. In exact arithmetic no weight is 0: whatever the scores, a gradient reaches
every key and value. Is that so in a computer?

Guess. Nearly: a tiny weight is still a weight.

Formula. Two keys, the loser's score lower by a gap, and cotangents g₁, g₂ of the
weights:

    α₂ = e^(-gap) / (1 + e^(-gap))        ∂L/∂v₂ = α₂ ∂L/∂out
    ∂L/∂s₂ = -∂L/∂s₁ = α₁ α₂ (g₂ - g₁)

e^(-gap) has a smallest float: from some gap on it is rounded to 0. Then the loser gets
no gradient at all, and no training step can bring it back. The winner goes deaf
earlier. Its rule α₁ (g₁ - Σ g α) subtracts two numbers that agree to all digits once α₂
is below half a unit in the last place of 1. (A key that a mask hides has weight 0 by
intention.)

What to look at. The ends of the bars: up to there all three floats follow the formula,
near the end with fewer digits. In float16 a gap of 17 is enough.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from minigrad import Tensor, softmax
from minigrad import backend as B

from ..stage.drawing import SCORE, SHADES, halo

DTYPES = "float16", "float32", "float64"
G = 1.0, 3.0  # cotangents of the two weights


def gradients(gaps, dtype):
    """Return ∂L/∂s of winner and loser at each gap (n,), computed in dtype: (n, 2)."""
    gaps = np.asarray(gaps, dtype)
    scores = Tensor(np.stack([0 * gaps, -gaps], axis=1))  # (n, 2)
    softmax(scores).backward(B.xp.asarray(np.full(scores.shape, G, dtype)))
    return B.to_numpy(scores.grad).astype(float)


def last_gap(dtype, column):
    """Return the largest gap, to 0.01, at which that score still has a gradient."""
    low, high = 0.0, 1000.0
    while high - low > 0.01:
        middle = (low + high) / 2
        alive = gradients([middle], dtype)[0, column] != 0
        low, high = (middle, high) if alive else (low, middle)
    return low


def draw(rows):
    """Draw, for each float, up to which gap the two scores get a gradient."""
    figure, ax = plt.subplots(figsize=(8.0, 2.9))
    for y, (dtype, subnormal, _, loser, winner) in enumerate(rows[::-1]):
        bar = {"height": 0.5, "edgecolor": "black", "linewidth": 0.8}
        ax.barh(y, winner - 1, left=1, color=SCORE, **bar)
        ax.barh(y, loser - winner, left=winner, color=SHADES["score"](0.35), **bar)
        inexact = max(subnormal, winner)
        ax.barh(y, loser - inexact, left=inexact, fill=False, hatch="////", **bar)
        how = {"ha": "right", "va": "center", "path_effects": halo()}
        ax.text(winner * 0.96, y, f"{winner:.1f}", **how)
        ax.text(loser * 1.04, y, f"{loser:.1f}: 0 from here on", va="center")
    ax.set_yticks(range(len(rows)), [row[0] for row in rows[::-1]])
    ax.set(xscale="log", xlim=(1, 4000), ylim=(-0.5, 3.1))
    ax.set_xticks([1, 10, 100, 1000], [1, 10, 100, 1000])
    ax.set(xlabel="gap between the scores of two keys")
    ax.grid(visible=False, axis="y")
    ax.legend(
        [*ax.patches[:3]],
        ["both learn", "the winner is deaf", "the loser's weight is inexact"],
        loc="upper left",
        ncols=3,
    )
    ax.set_title("Where a gradient ends: first for the winner, then for the loser")
    return figure


def demo(page):
    rows, within = [], True
    for dtype in DTYPES:
        limits = np.finfo(dtype)
        subnormal = -math.log(limits.tiny)
        zero = -math.log(limits.smallest_subnormal) + math.log(2)
        winner, loser = last_gap(dtype, 0), last_gap(dtype, 1)
        rows.append([dtype, subnormal, zero, loser, winner])
        within = within and subnormal - 1 < loser < zero + 1
    page.picture(draw(rows), "underflow")
    page.table(
        ["dtype", "subnormal from", "0 from, e^-gap", "loser 0 from", "winner 0 from"],
        rows,
    )
    page.claim(
        "B3",
        "A gradient reaches every key and value, up to a gap of the scores that depends"
        " on the floats; beyond it the loser gets exactly 0.",
        r"$\alpha_2=e^{-gap}/(1+e^{-gap})$",
        "0 from a gap of " + ", ".join(f"{row[3]:.1f} ({row[0]})" for row in rows),
        within,
        softmax,
    )
