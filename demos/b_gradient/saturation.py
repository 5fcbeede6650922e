"""Saturation: a lookup that has made up its mind does not learn.

Question. Large scores make sharp weights, and sharp weights make a clear answer. What
becomes of the gradients?

Guess. A clearer answer is a clearer lesson: they grow with the scores.

Formula. For weights α = softmax(c s), output out = α V and cotangent g = ∂L/∂out:

    ∂α/∂s = c J,  J = diag α - α αᵀ     ∂L/∂kᵢ = c αᵢ (g · (vᵢ - out)) q

J is 0 at a one-hot α, and a losing key has its own weight αᵢ in front. Both vanish as c
grows. And c grows by itself: entries of q and k that are independent, of mean 0 and
variance 1, give products of variance 1, and their sum q · k has variance d_k. So scale
by c = 1/√d_k, which keeps it at 1. Dividing scores is what a temperature does: the
scaled dot product is a lookup at T = √d_k.

What to look at. Left: each gradient first rises with c, by the factor c, and then falls
exponentially. Right: without the root the gradient falls as d_k grows, for one key takes
all the weight; with it, width does not matter. Soft is not best either: at d_k = 4 the
unscaled scores have the larger J.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, dot, scaled_dot, soft_lookup
from minigrad import Tensor, softmax
from minigrad import backend as B

from ..stage.drawing import KEY, SCORE, WEIGHT
from ..stage.lesson import sharpen
from ..stage.words import small

WIDTHS = 4, 16, 64, 256, 1024


def score_jacobian(weights):
    """Return J for weights (…, m): (…, m, m), by the rule of softmax itself."""
    y = weights[..., None, :]  # (…, 1, m)
    g, y = np.broadcast_arrays(np.eye(weights.shape[-1]), y)  # (…, m, m) each
    return B.to_numpy(softmax.vjp(B.xp.asarray(g), B.xp.asarray(y), None))


def size(jacobian):
    """Return the Frobenius norm over the last two axes."""
    return np.sqrt((jacobian**2).sum(axis=(-2, -1)))


def sweep(c, seed=0, m=8, d=4):
    """Return ‖∂α/∂s‖ and the largest ‖∂L/∂kᵢ‖ of a losing key at each scale in c."""
    rng = np.random.default_rng(seed)
    q, K, V, g = (rng.normal(size=s) for s in ((1, d), (m, d), (m, d), (1, d)))
    best = np.argmax(q @ K.T)
    sizes = []
    for scale in c:
        keys = Tensor(K)
        y, a = attention(
            Tensor(scale * q), keys, Tensor(V), score=dot, return_weights=True
        )
        y.backward(B.xp.asarray(g))
        gradient = np.linalg.norm(B.to_numpy(keys.grad), axis=1)  # (m,)
        sizes.append(
            [
                scale * size(score_jacobian(a.numpy()[0])),
                np.delete(gradient, best).max(),
            ]
        )
    return np.array(sizes).T


def by_width(d, score, seed=0, m=32, draws=200):
    """Return means over random q and K: variance of scores, max weight, ‖J‖."""
    rng = np.random.default_rng(seed)
    Q, K = rng.normal(size=(draws, 1, d)), rng.normal(size=(draws, m, d))
    s = score(Tensor(Q), Tensor(K))  # (draws, 1, m)
    a = softmax(s).numpy()[:, 0]  # (draws, m)
    return s.numpy().var(), a.max(axis=1).mean(), size(score_jacobian(a)).mean()


def pull(scores, scale, key):
    """Return the weights softmax(scale · scores), and ∂α/∂scores of one key's: (m,)."""
    s = Tensor(scores)
    weights = softmax(s * scale)
    weights[key].backward()
    return weights.numpy(), B.to_numpy(s.grad)


def widget():
    """Return the widget of this lesson, a key pulled that is about to lose."""
    scores, key, scale = np.array([1.5, 0.9, 0.2, -0.5, -1.4]), 1, 10**0.5
    pulls = [pull(scores, 10.0**p, key)[1] for p in sharpen.POWERS]
    sizes = np.linalg.norm(pulls, axis=1)
    return sharpen.widget(scores, key, scale, *pull(scores, scale, key), sizes)


def demo(page):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.8))
    c = np.geomspace(0.1, 100, 100)
    scores, losers = sweep(c)
    left.loglog(
        c, scores, color=SCORE, label=r"of the weights, $\|\partial\alpha/\partial s\|$"
    )
    left.loglog(
        c,
        losers,
        "--",
        color=KEY,
        label=r"of a losing key, $\|\partial L/\partial k_i\|$",
    )
    left.set(xlabel="scale c of the scores", ylabel="size of the gradient")
    left.set(title="Too sharp: gradients vanish", ylim=(1e-12, 10))
    left.legend(loc="lower left")

    plain = np.array([by_width(d, dot) for d in WIDTHS])  # (widths, 3)
    scaled = np.array([by_width(d, scaled_dot) for d in WIDTHS])
    for (_, weights, sizes), style, name, up in [
        (plain.T, "o--", r"$q\cdot k$", 0.015),
        (scaled.T, "s-", r"$q\cdot k/\sqrt{d_k}$", -0.022),
    ]:
        right.semilogx(WIDTHS, sizes, style, color=SCORE, label=name)
        for d, weight, J in zip(WIDTHS, weights, sizes, strict=True):
            if style == "s-" and 4 < d < 1024:
                continue  # as at both ends
            right.text(d * 1.06, J + up, f"{weight:.2f}", color=WEIGHT, fontsize=9)
    right.set_xticks(WIDTHS, WIDTHS)
    right.minorticks_off()
    right.set(
        xlabel=r"width $d_k$",
        ylabel=r"$\|\partial\alpha/\partial s\|$ at $c=1$, mean of 200",
    )
    right.set(title=r"The root keeps it at every width", ylim=(0, 0.36), xlim=(3, 2100))
    right.text(
        0.98,
        0.02,
        "numbers: weight of the best of 32 keys",
        color=WEIGHT,
        ha="right",
        transform=right.transAxes,
        fontsize=9,
    )
    right.legend(loc=(0.03, 0.13))
    page.picture(figure, "saturation")
    page.table(
        ["d_k", "Var q·k", "weight", "‖J‖", "Var, scaled", "weight", "‖J‖"],
        [[d, *a, *b] for d, a, b in zip(WIDTHS, plain, scaled, strict=True)],
    )
    page.table(
        ["c", "‖∂α/∂s‖", "‖∂L/∂k‖ of losers"],
        [[float(x), *sweep([x]).ravel()] for x in (0.1, 1.0, 10.0, 100.0)],
    )

    page.claim(
        "B4",
        "Sharpened far enough, softmax passes no gradient to scores and losing keys.",
        r"$\partial\alpha/\partial s = c\,(diag\,\alpha-\alpha\alpha^T)\rightarrow 0$",
        f"from the peak to c = 100 by {small(scores[-1] / scores.max())} and"
        f" {small(losers[-1] / losers.max())}, falling all the way",
        all(curve[-1] < 1e-6 * curve.max() for curve in (scores, losers))
        and all(
            (np.diff(curve[curve.argmax() :]) < 0).all() for curve in (scores, losers)
        ),
        softmax,
    )
    page.claim(
        "B5",
        "Dividing by the root of the width keeps the scores at variance 1 and softmax"
        " out of saturation.",
        r"$Var(q\cdot k)=d_k$",
        f"max weight {plain[0, 1]:.2f} to {plain[-1, 1]:.2f} without,"
        f" {scaled[:, 1].min():.2f} to {scaled[:, 1].max():.2f} with; variance"
        f" {scaled[:, 0].min():.2f} to {scaled[:, 0].max():.2f}",
        plain[-1, 1] > 0.9 and np.ptp(scaled[:, 1]) < 0.05,
        scaled_dot,
    )
    rng = np.random.default_rng(0)
    q, K, V = (Tensor(rng.normal(size=s)) for s in ((64,), (9, 64), (9, 3)))
    by_score = attention(q.reshape(1, 64), K, V).numpy()[0]
    apart = np.abs(by_score - soft_lookup(q, K, V, math.sqrt(64)).numpy()).max()
    page.claim(
        "B6",
        "The scaled dot product is the dot product at temperature √d_k.",
        r"$T=\sqrt{d_k}$",
        f"apart by {small(apart)}",
        apart < 1e-12,
        soft_lookup,
    )
