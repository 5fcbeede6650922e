"""Covariance: what the gradient of a lookup says.

Question. In which direction should a query move to raise the output?

Guess. Towards the key of the highest value.

Formula. Derive it by hand. Softmax first, then the weighted mean, then a score c q ·
kᵢ:

    ∂αᵢ/∂sⱼ = αᵢ (1[i=j] - αⱼ)      ∂out/∂vᵢ = αᵢ I
    ∂out/∂s = V ᵀ (diag α - α αᵀ)   ∂out/∂kᵢ = c αᵢ (vᵢ - out) qᵀ

    ∂out/∂q = c Σᵢ αᵢ (vᵢ - out) (kᵢ - k̄)ᵀ = c Cov_α(v, k)

Read the last line: the query moves towards the keys whose values are above the present
mix. The covariance is taken under the weights, so keys that have none don't count, and
where one key has all the weight nothing is left to vary.

What to look at. Left: the arrows, ∂out/∂q by a reverse pass, climb from keys of low
value (dark) to keys of high value (light). Right: their length. Far out one key has won
in each sector; the gradient lives on the borders, where two keys of different values
compete.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot, soft_lookup
from minigrad import Tensor, gradcheck, matmul, softmax
from minigrad import backend as B

from ..stage.jacobian import jacobian
from ..stage.words import small

KEYS = np.array([[1.8, 0.4], [0.3, 1.7], [-1.6, 1.0], [-1.1, -1.4], [1.2, -1.5]])
VALUES = np.array([[1.0], [0.2], [-1.0], [0.6], [-0.4]])
OUTPUT = "output (circles: the keys, in the colour of their values)"


def against_closed_forms(seed=0, m=6, d_k=4, d_v=3, c=1.7):
    """Return (name, largest |backward - formula|) for each formula above."""
    rng = np.random.default_rng(seed)
    q, K, V = (rng.normal(size=shape) for shape in ((d_k,), (m, d_k), (m, d_v)))
    s = c * K @ q
    a = np.exp(s) / np.exp(s).sum()  # (m,)
    out = a @ V  # (d_v,)
    covariance = (V - out).T @ (a[:, None] * (K - a @ K))  # (d_v, d_k)

    def look(q, K, V):
        return soft_lookup(q, K, V, temperature=1 / c)

    T = Tensor
    pairs = {
        "∂α/∂s": (jacobian(softmax, s), np.diag(a) - np.outer(a, a)),
        "∂out/∂s": (
            jacobian(lambda s: matmul(softmax(s), T(V)), s),
            V.T @ (np.diag(a) - np.outer(a, a)),
        ),
        "∂out/∂v": (
            jacobian(lambda V: look(T(q), T(K), V), V),
            np.einsum("m,de->dme", a, np.eye(d_v)),
        ),
        "∂out/∂k": (
            jacobian(lambda K: look(T(q), K, T(V)), K),
            np.einsum("m,md,e->dme", c * a, V - out, q),
        ),
        "∂out/∂q": (jacobian(lambda q: look(q, T(K), T(V)), q), c * covariance),
    }
    return [(name, float(np.abs(a - b).max())) for name, (a, b) in pairs.items()]


def softmax_gradient(x, g):
    """Return dL/dx of softmax for scores x and a cotangent g of the weights."""
    leaf = Tensor(x)
    softmax(leaf).backward(B.xp.asarray(g))
    return B.to_numpy(leaf.grad)


def field(queries):
    """Return out(q) and ∂out/∂q for queries (n, 2), one value each: (n,), (n, 2)."""
    Q = Tensor(queries)
    y = attention(Q, Tensor(KEYS), Tensor(VALUES), score=dot)  # (n, 1)
    y.sum().backward()  # each output has its own query, so the sum mixes nothing
    return y.numpy()[:, 0], B.to_numpy(Q.grad)


def formula(queries):
    """Return Cov_α(v, k) for queries (n, 2) by the formula: (n, 2)."""
    a = np.exp(queries @ KEYS.T)  # (n, m)
    a /= a.sum(axis=1, keepdims=True)
    spread = KEYS - (a @ KEYS)[:, None, :]  # (n, m, 2)
    return ((a * (VALUES[:, 0] - a @ VALUES))[..., None] * spread).sum(axis=1)


def demo(page):
    rows = against_closed_forms()
    page.table(["Jacobian", "largest |backward - formula|"], rows)
    rng = np.random.default_rng(0)
    x, left, right = (rng.normal(size=s) for s in ((3, 5), (2, 3, 4), (4, 5)))
    errors = gradcheck(softmax, x), gradcheck(matmul, left, right)
    ones, random = (
        np.abs(softmax_gradient(x, g)).max()
        for g in (np.ones(x.shape), rng.normal(size=x.shape))
    )
    page.say(
        f"A check of softmax must not use g = 1: the true gradient is then {small(ones)},"
        f" and a rule wrong by any factor passes. A random g gives {random:.2f}."
    )

    side = np.linspace(-3, 3, 121)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    out, slope = field(grid)
    apart = np.abs(slope - formula(grid)).max()
    steepness = np.linalg.norm(slope, axis=1)

    figure, axes = plt.subplots(1, 2, figsize=(7.4, 4.1), sharey=True)
    few = np.stack(np.meshgrid(side[8::15], side[8::15]), axis=-1).reshape(-1, 2)
    axes[0].set_title("The query climbs towards value")
    axes[1].set_title("Flat where one key has won")
    drawn = (out, "cividis", OUTPUT), (steepness, "magma", "length of the gradient")
    for ax, (shown, colours, name) in zip(axes, drawn, strict=True):
        image = ax.contourf(side, side, shown.reshape(121, 121), 20, cmap=colours)
        figure.colorbar(image, ax=ax, location="bottom", label=name, shrink=0.8)
        ax.scatter(*KEYS.T, c=VALUES[:, 0], cmap="cividis", s=70, edgecolors="white")
        ax.set(xlabel="query, coordinate 1", aspect="equal")
        ax.grid(False)
    axes[0].quiver(*few.T, *field(few)[1].T, color="white", scale=9, width=0.007)
    axes[0].set_ylabel("query, coordinate 2")
    page.picture(figure, "covariance")

    page.claim(
        "B1",
        "The rules of softmax and matmul are the derivatives.",
        r"$dx=y\odot(g-\sum g\,y),\ dA=GB^T,\ dB=A^TG$",
        f"against central differences, random g: {small(errors[0])} and {small(errors[1])}",
        max(errors) < 1e-6,
        softmax,
    )
    page.claim(
        "B2",
        "The gradient of the query is the covariance of values and keys under the"
        " weights.",
        r"$\partial out/\partial q = c\,Cov_\alpha(v,k)$",
        f"{len(grid)} queries, off by {small(apart)}; all Jacobians by"
        f" {small(max(error for _, error in rows))}",
        apart < 1e-10 and all(error < 1e-10 for _, error in rows),
        matmul,
    )
