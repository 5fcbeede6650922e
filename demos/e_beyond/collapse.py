"""Collapse: lookups alone forget who asked, and the residual path keeps them apart.

Question. Stack lookups on lookups. Every row is then a mean of means of all rows. What
is left of the differences between them?

Guess. More layers, more said about each row: depth helps.

Formula. Let x̄ be the mean of the rows of X (n, d), and measure what is not common to all:

    r(X) = ‖X - 1 x̄ᵀ‖ / ‖X‖

    lookups alone     X ← attn(X W_q, X W_k, X W_v)
    with an MLP       and then X ← relu(X W_1) W_2
    with skips        X ← X + attn(X W_q, X W_k, X W_v)
    the block         X ← X + attn(norm(X)),  X ← X + mlp(norm(X))

Once rows are nearly alike so are their queries, and the weights, and the next rows are
more alike than that. Dong, Cordonnier, Loukas, "Attention is not all you need: pure
attention loses rank doubly exponentially with depth" (2021).

What to look at. Left: after four lookups no float tells the rows apart, with an MLP
after each or without; what adds to X instead of replacing it keeps its rows. Right: the
rows themselves, which turn into one row, seen as stripes.

The paper's cubic rate, r → r³, is a bound, for its own norm: here r falls faster, as the
exponents in the table show, until the floats end. Weights are random here, as before
training; with skips r falls too, slowly. Trained models were not measured.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import Block, attention
from minigrad import Tensor, nn, no_grad, relu

N = D = 32  # rows and their width
LAYERS, DRAWS = 8, 10


def residual(X):
    """Return r(X), the share of X (n, d) that is not common to its rows."""
    return np.linalg.norm(X - X.mean(axis=0)) / np.linalg.norm(X)


@no_grad()
def stack(seed=0, skip=False, mlp=False, layers=LAYERS):
    """Return the rows after each layer of lookups with random weights:
    (layers + 1, n, d)."""
    rng = np.random.default_rng(seed)

    def weights(d_in, d_out):
        return Tensor(rng.normal(size=(d_in, d_out)) / np.sqrt(d_in))

    X = Tensor(rng.normal(size=(N, D)))
    rows = [X.numpy()]
    for _ in range(layers):
        Q, K, V = (X @ weights(D, D) for _ in "qkv")  # (n, d) each
        Y = attention(Q, K, V)
        X = X + Y if skip else Y
        if mlp:
            Y = relu(X @ weights(D, 4 * D)) @ weights(4 * D, D)
            X = X + Y if skip else Y
        rows.append(Tensor(X).numpy())
    return np.array(rows)


@no_grad()
def blocks(seed=0, layers=LAYERS):
    """Return the rows after each of the blocks of the package, untrained."""
    nn.seed(seed)
    X = Tensor(np.random.default_rng(seed).normal(size=(N, D)))
    rows = [X.numpy()]
    for _ in range(layers):
        X = Block(D, heads=1)(X)
        rows.append(Tensor(X).numpy())
    return np.array(rows)


KINDS = {
    "lookups alone": stack,
    "with an MLP": lambda seed: stack(seed, mlp=True),
    "with skips": lambda seed: stack(seed, skip=True),
    "the block": blocks,
}


def residuals(kind, seeds=range(DRAWS)):
    """Return r after each layer for several draws: (draws, layers + 1)."""
    return np.array([[residual(X) for X in KINDS[kind](seed)] for seed in seeds])


def draw(found):
    figure = plt.figure(figsize=(10.4, 4.3))
    curve, maps = figure.subfigures(1, 2, width_ratios=[1, 1.15])
    ax = curve.subplots()
    looks = ("C1", "o-"), ("C4", "s--"), ("C0", "^-"), ("black", "v:")
    for (kind, r), (colour, line) in zip(found.items(), looks, strict=True):
        ax.semilogy(np.maximum(r.T, 1e-17), color=colour, alpha=0.2, linewidth=0.8)
        ax.semilogy(np.median(r, axis=0), line, color=colour, markersize=5, label=kind)
    ax.set(xlabel="layers", ylabel="r, what the rows do not share")
    ax.set(title="Four lookups, and all rows are one")
    ax.legend(loc="center right")
    lines = maps.subplots(2, 3)
    maps.suptitle("X itself: its rows turn into one", weight="bold", fontsize=11)
    for line, kind in zip(lines, ("lookups alone", "with skips"), strict=True):
        rows = KINDS[kind](0)
        for ax, layer in zip(line, (0, 2, 4), strict=True):
            size = np.abs(rows[layer]).max()
            ax.imshow(rows[layer], cmap="RdBu", vmin=-size, vmax=size)
            ax.set(xticks=[], yticks=[], xlabel=f"after {layer} layers")
            ax.grid(False)
        line[0].set_ylabel(f"{kind}\nrow of X")
    return figure


def demo(page):
    found = {kind: residuals(kind) for kind in KINDS}
    page.say(f"The median of r over {DRAWS} draws of the weights, after each layer:")
    at = [0, 1, 2, 3, 4, 8]
    rows = [[kind, *np.median(r, axis=0)[at]] for kind, r in found.items()]
    page.table(["layers:", *map(str, at)], rows)
    page.picture(draw(found), "collapse")
    alone, mlp, skips, block = found.values()
    exponents = np.log(alone[:, 1:4]) / np.log(alone[:, :3])  # (draws, 3)
    spans = [f"{e.min():.1f} to {e.max():.1f}" for e in exponents.T]
    page.say(f"r becomes r to the power of {', then '.join(spans)}, then floats end.")
    page.claim(
        "E6",
        "Lookups alone make all rows one, and an MLP after each does not help; the"
        " residual path keeps them apart.",
        r"$\|X-1\,\bar{x}^T\|\,/\,\|X\|$",
        f"{DRAWS} draws: at most {alone[:, 4].max():.1g} after 4 lookups,"
        f" {mlp[:, 3].max():.1g} after 3 with MLPs; at least {skips[:, -1].min():.2f}"
        f" after {LAYERS} with skips, {block[:, -1].min():.2f} after {LAYERS} blocks",
        alone[:, 4].max() < 1e-9
        and mlp[:, 3].max() < 1e-5
        and min(skips[:, -1].min(), block[:, -1].min()) > 0.1,
        Block,
    )
