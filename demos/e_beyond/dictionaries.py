"""Dictionaries: three ways to keep what was written, to add, to correct, to compare.

Question. Pairs of a key and a value come one by one. What should be kept of them?

Guess. A matrix of fixed size has room for as many pairs as it has numbers.

Formula. One matrix S can answer by S q, however many pairs it was told. Linear attention
adds each pair up; the delta rule looks what S would have said, and corrects that;
softmax keeps all pairs, and compares:

    add        S ← S + v kᵀ                          Katharopoulos et al. (2020)
    correct    S ← S + β (v - S k) kᵀ                Schlag, Irie, Schmidhuber (2021)
    compare    keep (k, v);  Σᵢ αᵢ vᵢ,  α = softmax(c K q)

To correct is one step of gradient descent on ½‖S k - v‖², so such a layer learns while
it reads (Yang et al., 2024; Wang, Shi, Fox, 2025). With m random keys and values of
length 1 in d dimensions, adding is off by √((m - 1) / d): each other pair adds its
value times the cosine of the two keys, about 1/√d.

What to look at. Each column is a moment, each row a pair: how well is it read then? A
matrix that adds blurs all pairs alike; one that corrects knows the last for sure, and
wears out the others; comparing forgets none. The price: S stays d × d, the pairs grow.

The papers speak of a capacity of d keys. That is for keys at right angles; with random
ones there is no cliff at d, and the second pair blurs the first. Linear attention as it
was published maps keys to positive features and divides by a sum, too. Not compared:
learned keys, gates that forget, speed, and what a language model makes of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot
from minigrad import Tensor, grad, no_grad

D, SCALE = 64, 20.0  # the width of keys and values, and c
WAYS = {"add": "Adding blurs all alike", "correct": "Correcting wears out the old"}
WAYS["compare"] = "Comparing forgets none"


def add(S, k, v):
    """Return S after the pair k, v (d,) was added."""
    return S + np.outer(v, k)


def correct(S, k, v, beta=1.0):
    """Return S after its answer to k was moved towards v, at β = 1 all the way."""
    return S + beta * np.outer(v - S @ k, k)


@no_grad()
def compare(Q, K, V):
    """Return the answers to Q (n, d) of a softmax over the pairs K, V (m, d)."""
    Q, K, V = Tensor(SCALE * Q), Tensor(K), Tensor(V)
    return Tensor(attention(Q, K, V, score=dot)).numpy()


def directions(rng, m):
    """Return m random vectors of length 1: (m, d)."""
    x = rng.normal(size=(m, D))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def fill(m, seed=0):
    """Return how far off each way reads pair i after t pairs: (3, m, m), NaN for the
    pairs that it was not told yet."""
    rng = np.random.default_rng(seed)
    K, V = directions(rng, m), directions(rng, m)
    off, added, corrected = np.full((3, m, m), np.nan), *np.zeros((2, D, D))
    for t, (k, v) in enumerate(zip(K, V, strict=True)):
        added, corrected = add(added, k, v), correct(corrected, k, v)
        Q, told = K[: t + 1], V[: t + 1]
        answers = Q @ added.T, Q @ corrected.T, compare(Q, Q, told)  # (t + 1, d) each
        off[:, : t + 1, t] = np.linalg.norm(np.stack(answers) - told, axis=-1)
    return off


def spread(m, seed=0, repeats=20):
    """Return the root mean square error of adding up m pairs, over 20 repeats, as a
    multiple of √((m - 1) / d)."""
    rng, squares = np.random.default_rng(seed), []
    for _ in range(repeats):
        K, V = directions(rng, m), directions(rng, m)
        off = K @ (K.T @ V) - V  # Vᵀ K is the sum of all v kᵀ
        squares.append((off**2).sum(axis=1).mean())
    return np.sqrt(np.mean(squares) / ((m - 1) / D))


def rewritten(write, others, seed=0):
    """Return how far off a key is read that was given a second value, after `others`
    pairs were written in between."""
    rng = np.random.default_rng(seed)
    K, V = directions(rng, others + 1), directions(rng, others + 2)
    S = np.zeros((D, D))
    for k, v in zip([*K, K[0]], V, strict=True):  # first and last the same key
        S = write(S, k, v)
    return np.linalg.norm(S @ K[0] - V[-1])


def gradient_step(S, k, v, beta):
    """Return S after one step of gradient descent on ½‖S k - v‖², by our engine."""
    slope = grad(lambda S: ((S @ Tensor(k) - Tensor(v)) ** 2).sum() / 2)(Tensor(S))
    return S - beta * slope.numpy()


def draw(off):
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.3), sharey=True)
    m = off.shape[1]
    look = {"vmin": 0, "vmax": 1.5, "origin": "lower", "extent": (0.5, m + 0.5) * 2}
    for ax, title, way in zip(axes, WAYS.values(), off, strict=True):
        ax.patch.set(facecolor="0.93", hatch="////", edgecolor="0.75", linewidth=0)
        image = ax.imshow(way, **look)
        ax.axvline(D, color="0.3", linestyle="--", linewidth=1)
        ax.set(xlabel="pairs written so far", title=title)
        ax.set(xticks=[1, D, m], yticks=[1, D, m])
        ax.grid(False)
        box = {"facecolor": "0.93", "edgecolor": "none"}
        ax.text(0.24 * m, 0.8 * m, "not written\nyet", ha="center", bbox=box)
    axes[0].set_ylabel("the pair that is read")
    figure.colorbar(image, ax=axes, label="error; values have length 1", pad=0.01)
    return figure


def demo(page):
    off, rows = fill(128), []
    for m in (2, 16, 64, 128):
        rms = np.sqrt(np.nanmean(off[:, :m, m - 1] ** 2, axis=1))  # (3,)
        rows.append([m, np.sqrt((m - 1) / D), *rms, D * D, 2 * m * D])
    page.table(["pairs", "√((m-1)/d)", *WAYS, "numbers kept", "by compare"], rows)
    page.picture(draw(off), "dictionaries")
    laws = spread(16), spread(256)
    page.claim(
        "E2",
        "A matrix that adds pairs up blurs each by the number of the others.",
        r"$S\leftarrow S+v\,k^T$,   error $\sqrt{(m-1)/d}$",
        "{:.3f} and {:.3f} of that with 16 and 256 pairs".format(*laws),
        max(abs(law - 1) for law in laws) < 0.05,
        add,
    )
    rng = np.random.default_rng(0)
    S, (k, v) = rng.normal(size=(D, D)), directions(rng, 2)
    apart = np.abs(correct(S, k, v, 0.7) - gradient_step(S, k, v, 0.7)).max()
    added, corrected = rewritten(add, 16), rewritten(correct, 16)
    page.claim(
        "E2",
        "To correct is a gradient step, and can give a key a second value.",
        r"$S\leftarrow S+\beta\,(v-S k)\,k^T$",
        f"steps differ by {apart:.1g}; the second value is off by {corrected:.1g},"
        f" where all are added by {added:.2f}",
        apart < 1e-15 and corrected < 1e-14 and added > 0.7,
        correct,
    )
    most = np.nanmax(off[2])
    page.claim(
        "E2",
        "Comparing keeps all pairs apart, but has to keep all pairs.",
        r"$\alpha=softmax(20\,K q)$",
        f"at most {most:.1g} off, with up to {off.shape[1]} pairs",
        most < 5e-4,
        attention,
    )
