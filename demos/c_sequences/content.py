"""Content: attention looks for what, convolution for where.

Question. A convolution also mixes positions with weights. What is different?

Guess. Little: both are weighted sums, and either can learn its weights.

Formula. Its weights belong to offsets, those of attention to keys:

    convolution    out_t = Σᵢ w_{t-i} xᵢ        w is the same wherever the words stand
    attention      out   = Σᵢ αᵢ vᵢ             αᵢ = softmax(s(q, kᵢ)) moves with kᵢ

So permute the pairs (kᵢ, vᵢ): the sum has the same terms in another order. (That cuts
both ways. Attention alone does not know the order of its keys, and a model that needs
it must write positions into them.)

What to look at. In row p the matching key stands at position p. The weight of attention
follows it along the diagonal; the convolution looks at its three columns, come what
may.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention
from minigrad import Tensor

from ..stage.drawing import weight_map
from ..stage.layers import convolve
from ..stage.words import small

M, D = 10, 8


def needle(seed=0):
    """Return a query (1, D) that matches the first of the keys (M, D), and values."""
    rng = np.random.default_rng(seed)
    keys, values = rng.normal(size=(2, M, D))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    return 16 * keys[:1], keys, values


def moved(p):
    """Return the order of M positions in which the first has moved to position p."""
    return np.insert(np.arange(1, M), p, 0)


def attention_weights():
    """Return the weights (M, M) of attention: in row p the matching key is at p."""
    q, K, V = needle()
    rows = [
        attention(*map(Tensor, (q, K[o], V[o])), return_weights=True)[1].numpy()[0]
        for o in map(moved, range(M))
    ]
    return np.array(rows)


def kernel():
    """Return a smoothing kernel over three positions as a matrix (3 D, D)."""
    return np.concatenate([weight * np.eye(D) for weight in (0.2, 0.3, 0.5)])


def convolution_weights():
    """Return the weights (M, M) of a convolution's last output, likewise: how much the
    sum of that output moves with each position."""
    _, K, _ = needle()
    rows = []
    for p in range(M):
        xs = [Tensor(np.abs(x)[None]) for x in K[moved(p)]]  # above 0, where relu is x
        convolve(xs, Tensor(kernel()))[-1].mean().backward()
        rows.append([0.0 if x.grad is None else float(x.grad.sum()) for x in xs])
    return np.array(rows)


def shuffled_apart(seed=0):
    """Return how far attention and a convolution change when pairs (kᵢ, vᵢ) are
    permuted."""
    q, K, V = needle()
    order = np.random.default_rng(seed).permutation(M)

    def attend(order):
        return attention(Tensor(q), Tensor(K[order]), Tensor(V[order])).numpy()

    def convolution(order):
        return convolve([Tensor(v[None]) for v in V[order]], Tensor(kernel()))[
            -1
        ].numpy()

    same = np.arange(M)
    return [float(np.abs(f(order) - f(same)).max()) for f in (attend, convolution)]


def demo(page):
    followed, fixed = attention_weights(), convolution_weights()
    page.table(
        ["matching key at", *map(str, range(1, M + 1))],
        [[p + 1, *(f"{w:.2f}" for w in row)] for p, row in enumerate(followed)],
    )
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.9), sharey=True)
    for ax, weights in zip(axes, (followed, fixed), strict=True):
        image = weight_map(ax, weights)
        ax.set(xlabel="key at position", xticks=range(0, M, 3), yticks=range(0, M, 3))
        ax.set(xticklabels=range(1, M + 1, 3), yticklabels=range(1, M + 1, 3))
    axes[0].set(
        title="Attention follows the key", ylabel="position of the matching key"
    )
    axes[1].set(title="Convolution stays where it is", ylabel="")
    figure.colorbar(image, ax=axes, label="weight", shrink=0.9)
    page.picture(figure, "content")

    attended, convolved = shuffled_apart()
    page.claim(
        "C5",
        "Permuting the pairs of keys and values leaves the output of attention as it"
        " is, and changes that of a convolution.",
        r"$\sum_i\alpha_i v_i$ has no order",
        f"attention moves by {small(attended)}, convolution by {convolved:.2f}",
        attended < 1e-12 and convolved > 0.1,
        attention,
    )
    diagonal = followed.diagonal()
    page.claim(
        "C5",
        "The weight moves with the key that matches, to any position.",
        r"$\alpha_i=softmax(s(q,k_i))$",
        f"weight of the matching key: {diagonal.min():.4f} to {diagonal.max():.4f} at"
        f" {M} positions",
        np.ptp(diagonal) < 1e-12 and diagonal.min() > 0.5,
        attention,
    )
