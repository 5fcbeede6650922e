"""Smoothing: attention with a Gaussian score is kernel regression.

Question. Points (xᵢ, yᵢ) were measured with noise. What is y at some x?

Guess. That is statistics: kernel regression, of 1964, which has nothing to do with
attention.

Formula. The mean of the yᵢ, each weighted by how near its xᵢ is, after Nadaraya (1964)
and Watson (1964):

    y(x) = Σᵢ αᵢ yᵢ,   αᵢ = e^(-(x - xᵢ)² / 2σ²) / Σⱼ e^(-(x - xⱼ)² / 2σ²)

This is a lookup: x is the query, the xᵢ are keys and the yᵢ values. The bandwidth σ is
all that there is to learn. Its error is that of predicting each point from all the
others, so hide the diagonal:

    E(σ) = 1/n Σᵢ (yᵢ - y₋ᵢ(xᵢ))²

and go down its slope, which backward gives: in log σ, so that σ stays positive, and
down log E, so that one rate suits both data sets. No step exceeds 0.3, lest it jumps a
valley.

What to look at. Above: the fit. Below: the error from close by, and where two descents
end. The geyser's error has two valleys, 0.2 % apart in height, and a start from wide σ
ends in the higher one. Gradients find a valley, not the lowest: start twice and
compare.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, gaussian
from minigrad import Tensor, exp, log
from minigrad import backend as B

from ..stage.datasets import columns
from ..stage.drawing import QUERY, VALUE
from ..stage.words import number, small

DATA = [  # file, what x and y are, unit of x, what is seen
    (
        "mcycle.csv",
        "time after the impact / ms",
        "head acceleration / g",
        "ms",
        "The head is thrown back, then forth",
    ),
    (
        "old_faithful.csv",
        "length of the eruption / min",
        "wait until the next / min",
        "min",
        "The longer it spouts, the longer it rests",
    ),
]
STARTS = 0.1, 5.0  # σ in the units of x: far too narrow, far too wide


def smooth(queries, x, y, sigma):
    """Return the fit to points x, y (m,) with bandwidth sigma, at the queries (n,)."""
    Q, K, V = (Tensor(a[:, None]) for a in (queries, x, y))  # (n, 1), (m, 1), (m, 1)
    return attention(Q, K, V, score=gaussian(sigma)).numpy()[:, 0]


def closed_form(queries, x, y, sigma):
    """Return the same by the formula above."""
    kernel = np.exp(-((queries[:, None] - x) ** 2) / (2 * sigma**2))  # (n, m)
    return kernel @ y / kernel.sum(axis=1)


def log_error(log_sigma, x, y):
    """Return log E(σ) for points x, y (n,)."""
    X, Y = Tensor(x[:, None]), Tensor(y[:, None])  # (n, 1)
    others = B.xp.asarray(~np.eye(len(x), dtype=bool))  # (n, n)
    off = attention(X, X, Y, score=gaussian(exp(log_sigma)), mask=others) - Y
    return log((off * off).mean())


def learn_sigma(start, x, y, steps=60, rate=2.0):
    """Return σ and E(σ) on the way of gradient descent from `start`, (steps, 2)."""
    path, now = [], Tensor(math.log(start))
    for _ in range(steps):
        now.grad = None
        error = log_error(now, x, y)
        error.backward()
        path.append([math.exp(now), math.exp(error)])
        now.data = now.data - (rate * now.grad).clip(-0.3, 0.3)
    return np.array(path)


def errors(sigmas, x, y):
    """Return E at every σ."""
    return np.exp([float(log_error(math.log(sigma), x, y)) for sigma in sigmas])


def demo(page):
    figure, axes = plt.subplots(2, 2, figsize=(8.2, 5.8))
    rows, learned, off, apart = [], [], 0.0, 0.0
    for (name, x_label, y_label, unit, finding), (above, below) in zip(
        DATA, axes.T, strict=True
    ):
        x, y = columns(name)
        paths = [learn_sigma(start, x, y) for start in STARTS]
        ends = sorted((path[-1] for path in paths), key=lambda end: end[1])
        sigma, error = ends[0]
        fine = sigma * np.linspace(0.98, 1.02, 41)  # steps of 0.1 %
        best = fine[np.argmin(errors(fine, x, y))]
        off = max(off, abs(sigma / best - 1))
        grid = np.linspace(x.min(), x.max(), 300)
        fit = smooth(grid, x, y, sigma)
        difference = np.abs(fit - closed_form(grid, x, y, sigma)).max()
        apart = max(apart, difference / np.abs(y).max())
        constant = y.var() * (len(y) / (len(y) - 1)) ** 2  # E of the mean of the others
        rows.append([name, *(path[-1, 0] for path in paths), best, error, constant])
        learned.append(f"{sigma:.3f} {unit}")

        above.scatter(x, y, s=9, color=VALUE, alpha=0.5, linewidths=0)
        above.plot(grid, fit, color="black", label=f"σ = {sigma:.3f} {unit}, learned")
        above.legend(loc="best")
        above.set(xlabel=x_label, ylabel=y_label)
        above.set_title(finding, fontsize=10)
        wide = np.geomspace(0.15, 2, 150)
        below.semilogx(wide, errors(wide, x, y), color="0.3")
        looks = ("o", "white", 13), ("X", QUERY, 8)  # if they end together, both show
        for path, start, (marker, colour, size) in zip(
            paths, STARTS, looks, strict=True
        ):
            below.plot(*path.T, marker, markersize=4, color=colour, mec="k", mew=0.8)
            below.plot(
                *path[-1],
                marker,
                markersize=size,
                color=colour,
                markeredgecolor="k",
                label=f"end, from {number(start)} {unit}",
            )
        below.legend()
        higher = ends[1][1] / error - 1
        two = f"Two valleys, {100 * higher:.1f} % apart"
        one = "One valley: both starts agree"
        below.set_title(two if higher > 1e-4 else one, fontsize=10)
        below.set(xlabel=f"σ / {unit}", ylabel=f"error / {y_label.split()[-1]}²")
        below.set(xlim=(0.15, 2), ylim=(0.996 * error, 1.04 * error))
        below.set_xticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
        below.xaxis.set_minor_formatter("")
    page.picture(figure, "smoothing")
    page.table(
        ["data", "σ from 0.1", "σ from 5", "σ of a grid", "error", "of a constant"],
        rows,
    )
    page.claim(
        "A6",
        "Attention with a Gaussian score is Nadaraya-Watson regression.",
        r"$softmax(-(x-x_i)^2/2\sigma^2)\,y$",
        f"two real data sets, apart by {small(apart)} of the largest |y|",
        apart < 1e-12,
        gaussian,
    )
    page.claim(
        "A6",
        "The bandwidth is learned: gradient descent lands on the optimum of a grid.",
        r"$\log\sigma\leftarrow\log\sigma-2\,d\log E/d\log\sigma$",
        f"{' and '.join(learned)}, {100 * off:.2f} % off the best of a fine grid",
        off < 0.005,
        attention,
    )
