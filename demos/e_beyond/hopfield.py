"""Hopfield: a lookup is a gradient step, and a memory that repairs what was spoilt.

Problem. Half of a picture is lost. Which of those that were seen before was it?

Formula. Let the keys be the values too, a memory of patterns kᵢ. The answer is then the
gradient of a smooth maximum, and the answer in the place of the query is one step down
the energy E, of length exactly 1:

    attn(q, K, K) = Σᵢ αᵢ kᵢ = ∂/∂q (1/β) logsumexp(β K q)        α = softmax(β K q)
    E(q) = -(1/β) logsumexp(β K q) + ½ q · q        q ← q - ∂E/∂q = attn(q, K, K)

E never rises: its first part bends downwards, so it lies below its tangent at q, and
the minimum of tangent plus ½ q · q is the answer. Ramsauer et al., "Hopfield Networks
is All You Need" (2020), eq. 3.

What to look at. Each digit is one of 1,000 that the memory holds, with ink from -1 to 1
and at length 1; half of it is set to 0, which says nothing. One lookup brings most of
them back; for those in orange another digit is nearer to the half that was left.

The paper says that exponentially many patterns can be stored, each found by one update.
That is for patterns at random, which lie far apart, and it is the typical error that is
small: 10,000 of the 65,536 corners of a cube in 16 dimensions have close neighbours, and
come back mixed. And a Transformer does not put its answer in the place of the query: it
has other keys than values, and adds. Layers that learn their patterns were not compared.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot
from minigrad import Tensor, grad, logsumexp, no_grad

from ..datasets import FOLDER

MEMORY, BETA = 1000, 300.0  # digits in the memory, and how sharply they are compared
HALVES = {
    "lower": np.s_[4:, :],
    "upper": np.s_[:4, :],
    "left": np.s_[:, :4],
    "right": np.s_[:, 4:],
}


def update(q, K, beta):
    """Return attn(q, K, K) with the score β q · k, for q (n, d) and K (m, d)."""
    return attention(q, K, K, score=lambda Q, K: beta * dot(Q, K))  # (n, d)


def smooth_maximum(q, K, beta):
    """Return (1/β) logsumexp(β K q) for each q of (n, d): (n,)."""
    return logsumexp(beta * dot(q, K), axis=-1) / beta


def apart(seed=0, m=20, d=8, beta=1.5):
    """Return the largest |attn(q, K, K) - the gradient of the smooth maximum|."""
    rng = np.random.default_rng(seed)
    q, K = Tensor(rng.normal(size=(5, d))), Tensor(rng.normal(size=(m, d)))
    slope = grad(lambda q: smooth_maximum(q, K, beta).sum())(q)
    return np.abs(slope.numpy() - update(q, K, beta).numpy()).max()


def energies(seed=0, m=20, d=8, beta=1.5, updates=8):
    """Return E of 100 queries after each update: (updates + 1, 100)."""
    rng = np.random.default_rng(seed)
    q, K = Tensor(3 * rng.normal(size=(100, d))), Tensor(rng.normal(size=(m, d)))
    found = []
    for _ in range(updates + 1):
        found.append(((q * q).sum(axis=1) / 2 - smooth_maximum(q, K, beta)).numpy())
        q = update(q, K, beta)
    return np.array(found)


@no_grad()
def repair(m, d, seed=0, noise=0.5, tried=500):
    """Return the root mean square error of each of up to 500 patterns of m, entries ±1,
    after one update with β = 1 from noise · N(0, 1)."""
    rng = np.random.default_rng(seed)
    K = rng.choice([-1.0, 1.0], size=(m, d))
    original = K[:tried]
    q = Tensor(original + noise * rng.normal(size=original.shape))
    off = Tensor(update(q, Tensor(K), 1.0)).numpy() - original
    return np.sqrt((off**2).mean(axis=1))


def digits(count=MEMORY):
    """Return images of handwritten digits, ink -1 to 1, at length 1: (count, 8, 8)."""
    with np.load(FOLDER / "digits.npz") as file:
        ink = file["images"][:count] / 8 - 1
    return ink / np.sqrt((ink**2).sum(axis=(1, 2), keepdims=True))


@no_grad()
def complete(images, half, beta=BETA):
    """Return images (m, 8, 8) with a half erased, and what one update makes of them."""
    erased = images.copy()
    erased[:, *HALVES[half]] = 0
    q, K = Tensor(erased.reshape(-1, 64)), Tensor(images.reshape(-1, 64))
    return erased, Tensor(update(q, K, beta)).numpy().reshape(images.shape)


def brought_back(images, repaired):
    """Return which images are themselves the nearest to their repaired ones: (m,)."""
    nearest = np.einsum("nij,mij->nm", repaired, images).argmax(axis=1)
    return nearest == np.arange(len(images))


def draw(images, erased, repaired, right):
    """Draw the first of each digit, in order, and the next six that went wrong."""
    shown = [*range(10), *np.flatnonzero(~right)[:6]]
    figure, axes = plt.subplots(3, len(shown), figsize=(9.6, 2.5))
    rows = ("half erased", erased), ("one lookup", repaired), ("original", images)
    for line, (name, pictures) in zip(axes, rows, strict=True):
        for ax, i in zip(line, shown, strict=True):
            size = np.abs(images[i]).max()
            ax.imshow(pictures[i], cmap="gray_r", vmin=-size, vmax=size)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            ax.spines[:].set(visible=True, color="0.6" if right[i] else "C1")
            ax.spines[:].set_linewidth(0.8 if right[i] else 2.5)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    figure.suptitle(
        f"{right.sum()} of {len(right):,} digits come back from their upper half; the"
        " framed find another",
        x=0.01, ha="left", weight="bold", fontsize=11,
    )  # fmt: skip
    return figure


def demo(page):
    gradient_apart, path = apart(), energies()
    falls = (np.diff(path, axis=0) < 1e-12).all()
    page.claim(
        "E1",
        "With keys as values the answer is the gradient of a smooth maximum, and in the"
        " place of the query it goes down an energy.",
        r"$attn(q,K,K)=\partial_q\,\frac{1}{\beta}\,logsumexp(\beta K q)$",
        f"apart by {gradient_apart:.0e}; the energy of 100 queries rose in"
        f" {(np.diff(path, axis=0) > 1e-12).sum()} of {path[1:].size} updates",
        gradient_apart < 1e-13 and falls,
        attention,
    )
    sizes = [(m, d) for m in (100, 10_000) for d in (16, 32, 64)]
    found = {size: repair(*size) for size in sizes}
    page.say(
        "Patterns of ±1, spoilt by 0.5 · N(0, 1), after one update with β = 1. The error"
        " is the root mean square over the entries; most come back, and the few that do"
        " not make the mean far larger than the median:"
    )
    page.table(
        ["patterns", "dimensions", "median error", "mean error", "off by over 0.1"],
        [[m, d, np.median(e), e.mean(), f"{(e > 0.1).mean():.1%}"]
         for (m, d), e in found.items()],
    )  # fmt: skip
    images = digits()
    right = {}
    for half in HALVES:
        erased, repaired = complete(images, half)
        right[half] = brought_back(images, repaired)
        if half == "lower":
            figure = draw(images, erased, repaired, right[half])
    page.picture(figure, "hopfield")
    page.table(
        ["half erased", f"brought back, of {MEMORY:,}"],
        [[half, int(r.sum())] for half, r in right.items()],
    )
    wide, crowded = np.median(found[10_000, 64]), np.median(found[10_000, 16])
    page.claim(
        "E1",
        "One lookup repairs a spoilt pattern, where patterns lie far apart.",
        r"$q\leftarrow attn(q,K,K)$",
        f"10,000 patterns, median error {wide:.0e} in 64 dimensions, {crowded:.1f} in"
        f" 16; digits from half: {min(r.mean() for r in right.values()):.0%} to"
        f" {max(r.mean() for r in right.values()):.0%}",
        wide < 1e-11 and crowded > 0.1 and min(r.mean() for r in right.values()) > 0.6,
        attention,
    )
