"""Hopfield: a lookup is a gradient step, and a memory that repairs what was spoilt.

Question. Half of a picture is lost. Which of those that were seen before was it?

Guess. That takes a search through all pictures, one by one.

Formula. Let the keys be the values too, a memory of patterns kᵢ. The answer is then the
gradient of a smooth maximum, and the answer in the place of the query is one step of
length 1 down an energy, which therefore never rises:

    attn(q, K, K) = Σᵢ αᵢ kᵢ = ∂/∂q (1/β) logsumexp(β K q)        α = softmax(β K q)
    E(q) = -(1/β) logsumexp(β K q) + ½ q · q        q ← q - ∂E/∂q = attn(q, K, K)

Ramsauer et al., "Hopfield Networks is All You Need" (2020), eq. 3.

What to look at. The memory holds 1,000 digits, ink from -1 to 1 and scaled to length 1.
The erased half is 0, which says nothing. Ten digits stand as they come; one lookup
brings most of them back. In thick frames: another digit agrees as well with the half
that was left, and the answer is that one, or a mixture. The last five are the worst.

The paper says that exponentially many patterns can be stored, each found by one update.
That is for random patterns, which lie far apart, and for most of them: 10,000 of the
65,536 corners of a cube in 16 dimensions have close neighbours, and come back mixed. A
Transformer does not put its answer in the place of the query either: its keys are not
its values, and it adds. Layers that learn their patterns were not compared.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot
from minigrad import Tensor, grad, logsumexp, no_grad

from ..stage import datasets

HALVES = {"lower": np.s_[4:], "upper": np.s_[:4], "left": np.s_[:, :4]}
HALVES["right"] = np.s_[:, 4:]


def update(q, K, beta):
    """Return attn(q, K, K) with the score β q · k, for q (n, d) and K (m, d)."""
    return attention(q, K, K, score=lambda Q, K: beta * dot(Q, K))  # (n, d)


def smooth_maximum(q, K, beta):
    """Return (1/β) logsumexp(β K q) for each q of (n, d): (n,)."""
    return logsumexp(beta * dot(q, K), axis=-1) / beta


def descend(seed=0, n=100, m=20, d=8, beta=1.5, updates=8):
    """Return the largest |attn(q, K, K) - gradient of the smooth maximum| of n random
    queries, and the energy of each after every update, (updates + 1, n)."""
    rng = np.random.default_rng(seed)
    q, K = Tensor(3 * rng.normal(size=(n, d))), Tensor(rng.normal(size=(m, d)))
    slope = grad(lambda q: smooth_maximum(q, K, beta).sum())(q)
    apart = np.abs(slope.numpy() - update(q, K, beta).numpy()).max()
    energies = []
    for _ in range(updates + 1):
        energy = (q * q).sum(axis=1) / 2 - smooth_maximum(q, K, beta)  # (n,)
        energies.append(energy.numpy())
        q = update(q, K, beta)
    return apart, np.array(energies)


@no_grad()
def repair(m, d, seed=0, tried=500):
    """Return the root mean square error of each of up to 500 patterns of m, entries ±1,
    after one update with β = 1 from 0.5 · N(0, 1) beside it."""
    rng = np.random.default_rng(seed)
    K = rng.choice([-1.0, 1.0], size=(m, d))
    q = Tensor(K[:tried] + 0.5 * rng.normal(size=(min(m, tried), d)))
    off = Tensor(update(q, Tensor(K), 1.0)).numpy() - K[:tried]
    return np.sqrt((off**2).mean(axis=1))


def digits(count=1000):
    """Return images of handwritten digits, ink -1 to 1, at length 1: (count, 8, 8)."""
    with np.load(datasets.FOLDER / "digits.npz") as file:
        ink = file["images"][:count] / 8 - 1
    return ink / np.sqrt((ink**2).sum(axis=(1, 2), keepdims=True))


@no_grad()
def complete(images, half, beta=300.0):
    """Return images (m, 8, 8) with a half erased, what one update makes of them, and
    which are then nearest to what they were (m,)."""
    erased = images.copy()
    for image in erased:
        image[HALVES[half]] = 0
    q, K = Tensor(erased.reshape(-1, 64)), Tensor(images.reshape(-1, 64))
    repaired = Tensor(update(q, K, beta)).numpy()
    nearest = (repaired @ images.reshape(-1, 64).T).argmax(axis=1)
    return erased, repaired.reshape(images.shape), nearest == np.arange(len(images))


def draw(images, erased, repaired, right):
    """Draw the first ten digits, and of the others the five that are furthest off."""
    off = ((repaired - images) ** 2).sum(axis=(1, 2))
    shown = [*range(10), *(10 + off[10:].argsort()[:-6:-1])]
    figure, axes = plt.subplots(3, len(shown), figsize=(9.6, 2.7))
    rows = ("half erased", erased), ("one lookup", repaired), ("original", images)
    for line, (name, pictures) in zip(axes, rows, strict=True):
        for ax, i in zip(line, shown, strict=True):
            ax.imshow(pictures[i], cmap="gray_r", vmin=-0.2, vmax=0.2)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            ax.spines[:].set(visible=True, color="0.6" if right[i] else "C1")
            ax.spines[:].set_linewidth(0.8 if right[i] else 3)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    title = f"{right.sum()} of {len(right):,} digits come back; the worst, on the right"
    figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=11)
    return figure


def demo(page):
    off, energies = descend()
    steps = np.diff(energies, axis=0)
    page.claim(
        "E1",
        "With keys as values the answer is the gradient of a smooth maximum, and in the"
        " place of the query it goes down an energy.",
        r"$attn(q,K,K)=\partial_q\,\frac{1}{\beta}\,logsumexp(\beta K q)$",
        f"apart by {off:.1g}; the energy rose in {(steps > 1e-12).sum()} of"
        f" {steps.size} updates",
        off < 1e-13 and (steps < 1e-12).all(),
        attention,
    )
    sizes = [(m, d) for m in (100, 10_000) for d in (16, 32, 64)]
    found = {size: repair(*size) for size in sizes}
    page.say(
        "Patterns of ±1, spoilt by 0.5 · N(0, 1), after one update with β = 1: the root"
        " mean square error. The few that do not come back make its mean far larger than"
        " its median:"
    )
    rows = [[*size, np.median(e), e.mean()] for size, e in found.items()]
    page.table(["patterns", "dimensions", "median error", "mean error"], rows)
    images = digits()
    by_half = {half: complete(images, half) for half in HALVES}
    page.picture(draw(images, *by_half["lower"]), "hopfield")
    right = {half: int(found[-1].sum()) for half, found in by_half.items()}
    page.table(["half erased", "digits brought back, of 1,000"], right.items())
    wide, crowded = np.median(found[10_000, 64]), np.median(found[10_000, 16])
    fewest, most = min(right.values()), max(right.values())
    page.claim(
        "E1",
        "One lookup repairs a spoilt pattern, where patterns lie far apart.",
        r"$q\leftarrow attn(q,K,K)$",
        f"10,000 patterns, median error {wide:.1g} in 64 dimensions, {crowded:.1f} in"
        f" 16; {fewest} to {most} of 1,000 digits, by the half that is erased",
        wide < 1e-11 and crowded > 0.1 and fewest > 650,
        attention,
    )
