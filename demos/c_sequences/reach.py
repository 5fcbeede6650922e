"""Reach: no window, and a gradient that thins out instead of dying out.

Question. How far back does a position see, and how much of a gradient gets there?

Guess. A short way keeps the gradient large, however far it goes.

Formula. With the strict causal mask, position t mixes the values of all positions
before it and of none from t on:

    out_t = Σ_{i<t} αᵢ vᵢ          zeros at t = 1, where nothing is before it

There is no size of a window in this, and no parameter whose shape depends on the number
of keys. A gradient reaches vᵢ with the factor αᵢ, however far away it is. A recurrent
net multiplies by its matrix at every step instead, here 0.9 times an orthogonal one:

    ‖∂out/∂v₁‖ = α₁                ‖∂h_T/∂x₁‖ ≤ 0.9^(T - 1), less where tanh flattens

What to look at. Constant length is not constant size. Where no key stands out, each of
m keys has the weight 1/m, and so has its gradient; that is a power of the distance, not
an exponential. Where the query matches the first key, its gradient stays. (A key that
loses by a gap gets e^(-gap) of it, near or far: the demos underflow and saturation. And
where x₁ is a key as well as a value, its gradient has another road, through the weights:
the demo paths.)
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import attention, causal_mask
from minigrad import Tensor
from minigrad import backend as B

from ..stage.drawing import VALUE, weight_map
from ..stage.jacobian import jacobian
from ..stage.layers import recur
from ..stage.words import small

D = 4
MATCH = 3000  # times x₁ is a query that tells x₁ from 255 others in so few dimensions


def influence(n, seed=0):
    """Return whether out_t changes in any bit if x_j does, for all t and j: (n, n).

    The queries are given, and keys and values both are x."""
    rng = np.random.default_rng(seed)
    Q, X = Tensor(rng.normal(size=(n, D))), rng.normal(size=(n, D))
    mask = causal_mask(n, n, strict=True)

    def out(X):
        return attention(Q, Tensor(X), Tensor(X), mask=mask).numpy()

    before, changed = out(X), []
    for j in range(n):
        nudged = X.copy()
        nudged[j] += 1e-3
        changed.append((out(nudged) != before).any(axis=1))
    return np.array(changed).T


def recurrent_size(T, seed=0):
    """Return ‖∂h_T/∂x₁‖ of a recurrent net whose matrix is 0.9 × orthogonal."""
    rng = np.random.default_rng(seed)
    W = Tensor(0.9 * np.linalg.qr(rng.normal(size=(D, D)))[0])
    x, *later = 0.3 * rng.normal(size=(T, 1, D))
    J = jacobian(lambda x: recur([x, *map(Tensor, later)], W)[-1], x)
    return np.linalg.norm(J.reshape(D, D), 2)


def attention_size(m, match, seed=0):
    """Return ‖∂out/∂v₁‖ of attention to m keys x, also the values, by a query that is
    `match` times x₁. What x₁ moves as a key is not counted."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)  # so that x₁ matches x₁ best
    q, K = Tensor(match * X[:1]), Tensor(X)
    J = jacobian(lambda V: attention(q, K, V), X)[0, :, 0]  # (D, D)
    return np.linalg.norm(J, 2)


def demo(page):
    n = 10
    X = Tensor(np.random.default_rng(1).normal(size=(n, D)))
    mask = causal_mask(n, n, strict=True)
    weights = attention(X, X, X, mask=mask, return_weights=True)[1].numpy()
    distances = np.array([2, 8, 32, 64, 128, 256])
    sizes = {
        "attention, query matches": [attention_size(m, MATCH) for m in distances],
        "attention, uniform": [attention_size(m, 0) for m in distances],
        "recurrent, 0.9 × orthogonal": [recurrent_size(T) for T in distances],
    }

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.9))
    figure.get_layout_engine().set(wspace=0.12)
    image = weight_map(left, weights, B.to_numpy(mask))
    ticks = range(0, n, 3)
    left.set_xticks(ticks, [t + 1 for t in ticks])
    left.set_yticks(ticks, [t + 1 for t in ticks])
    left.set(title="Position t sees all before it", xlabel="key i", ylabel="query t")
    figure.colorbar(image, ax=left, label="weight (hatched: hidden)")
    looks = ("o-", VALUE), ("s--", VALUE), ("D-.", "black")
    for (name, row), (style, colour) in zip(sizes.items(), looks, strict=True):
        right.semilogy(distances, row, style, color=colour, label=name)
    right.semilogy(
        distances, 0.9**distances, ":", color="0.4", label="0.9 to the distance"
    )
    right.legend(loc="lower left", fontsize=8)
    right.set(xlabel="distance", ylabel="size of the gradient that gets there")
    right.set(title="One thins out, one dies out", ylim=(1e-28, 100))
    page.picture(figure, "reach")
    page.table(
        ["gradient at distance", *map(str, distances)],
        [[name, *row] for name, row in sizes.items()],
    )

    changed = influence(64)
    earlier = np.tri(64, k=-1, dtype=bool)
    page.claim(
        "C1",
        "Position t sees every position before it and none from t on, whatever their"
        " number: no window.",
        r"$out_t=\sum_{i<t}\alpha_i v_i$",
        f"of 64 × 64 nudges of a position, {changed[earlier].sum()} of"
        f" {earlier.sum()} before t changed out_t, {changed[~earlier].sum()} of"
        f" {(~earlier).sum()} from t on changed a bit of it",
        (changed == earlier).all(),
        causal_mask,
    )
    matching, uniform, recurrent = map(np.array, sizes.values())
    page.claim(
        "C3",
        "The gradient of attention shrinks as its weight does, like 1/m where no key"
        " stands out and not at all where the query matches; that of a recurrent net"
        " shrinks exponentially.",
        r"$\|\partial out/\partial v_1\|=\alpha_1$,"
        r" $\|\partial h_T/\partial x_1\|\leq 0.9^{T-1}$",
        f"at distance {distances[-1]}: {uniform[-1]:.5f} = 1/{1 / uniform[-1]:.0f}"
        f" uniform, {matching[-1]:.2f} matching,"
        f" {small(recurrent[-1])} recurrent",
        np.allclose(uniform, 1 / distances)
        and matching.min() > 0.9
        and (recurrent <= 0.9 ** (distances - 1) * (1 + 1e-12)).all(),
        attention,
    )
