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

What to look at. The ends of the lines: all three floats follow the formula and stop. In
float16 a gap of 17 is enough.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from minigrad import Tensor, softmax
from minigrad import backend as B

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


def demo(page):
    rows, within = [], True
    figure, (ax, near) = plt.subplots(1, 2, figsize=(7.4, 3.8), width_ratios=(3, 2))
    looks = ("C1", 6), ("C2", 4), ("C0", 1.5)  # the lines lie upon each other
    for dtype, (colour, width) in zip(DTYPES, looks, strict=True):
        limits = np.finfo(dtype)
        subnormal = -math.log(limits.tiny)
        zero = -math.log(limits.smallest_subnormal) + math.log(2)
        winner, loser = last_gap(dtype, 0), last_gap(dtype, 1)
        rows.append([dtype, subnormal, zero, loser, winner])
        within = within and subnormal - 1 < loser < zero + 1
        gaps = np.linspace(0.1, loser, 400)
        slopes = np.abs(gradients(gaps, dtype))
        ax.semilogy(gaps, slopes[:, 1], color=colour, linewidth=width)
        ax.plot(gaps[-1], slopes[-1, 1], "o", color=colour, clip_on=False)
        text = f"{dtype}: 0 from {loser:.1f}"
        ax.text(loser + 25, slopes[-1, 1] * 1e6, text, color=colour)
        gaps = np.linspace(0.1, winner, 400)
        slopes = np.abs(gradients(gaps, dtype))
        near.semilogy(gaps, slopes[:, 0], color=colour, linewidth=width)
        near.plot(gaps[-1], slopes[-1, 0], "o", color=colour)
        text = f"{dtype}: 0 from {winner:.1f}"
        near.text(winner + 2, slopes[-1, 0], text, color=colour)
    ax.set(xlabel="gap between the scores", ylabel="gradient of the losing score")
    ax.set(title="A loser is cut off by underflow", xlim=(0, 1400))
    ax.set_yticks([1e-300, 1e-200, 1e-100, 1])
    near.set(xlabel="gap between the scores", ylabel="gradient of the winning score")
    near.set(title="The winner goes deaf first", xlim=(0, 105))
    page.picture(figure, "underflow")
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
