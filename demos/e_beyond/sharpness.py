"""Sharpness: what a second derivative is good for.

Question. The gradient says where down is. How far may a step go?

Guess. The smaller the step, the calmer the way; where the valley is wide, it stays
wide.

Formula. The curvature decides, the gradient of the gradient. For the smooth maximum of
scores it is the covariance that `covariance` found as the slope of a lookup:

    ∂/∂q logsumexp(K q) = Σᵢ αᵢ kᵢ          ∂²/∂q² logsumexp(K q) = Cov_α(k)

Newton's step goes to the lowest point of the parabola that fits here. Descent by a fixed
η overshoots by the factor |1 - η λ| where the curvature is λ, and runs away if λ > 2/η.
The largest λ of many parameters comes from products with the Hessian, never formed:

    x ← x - f′(x) / f″(x)          H v = ∂/∂θ (v · ∂L/∂θ)          v ← H v / ‖H v‖

What to look at. Left: plain descent sharpens its own valley, until λ is at the edge, 2/η,
and stays about there; a smaller step ends in a sharper valley. Right: Newton finds the
bandwidth that `smoothing` goes down to.

Cohen et al., "Gradient Descent on Neural Networks Typically Occurs at the Edge of
Stability" (2021), say typically. From some starts λ comes down to the edge; with a small
step it may not get there in time (η = 0.25, other draws). This is one attention layer of
201 parameters; minibatches and Adam were not tried. Nor is Newton safe: over σ in place
of log σ it goes below 0 from σ = 2, and on the geyser of `smoothing`, from 0.5, it lands
on the ridge between two valleys.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from attention import attention
from minigrad import Tensor, grad, logsumexp, matmul, softmax, tanh
from minigrad import backend as B

from ..a_lookup.smoothing import learn_sigma, log_error
from ..stage.datasets import columns
from ..stage.jacobian import jacobian
from ..stage.progress import progress

RATES = 1.0, 0.5, 0.25  # η
EVERY = 20  # steps between two looks at λ
D = 8  # the width of the layer


def hessian_apart(seed=0, m=9, d=5):
    """Return the largest |Hessian of logsumexp(K q) - Cov_α(k)|."""
    rng = np.random.default_rng(seed)
    q, K = rng.normal(size=d), rng.normal(size=(m, d))
    hessian = jacobian(grad(lambda q: logsumexp(matmul(Tensor(K), q))), q)  # (d, d)
    a = softmax(Tensor(K @ q)).numpy()  # (m,)
    off = K - a @ K
    return np.abs(hessian - off.T @ (a[:, None] * off)).max()


def newton(start, x, y, steps=6):
    """Return σ on the way of Newton's method over log σ, (steps + 1,)."""
    slope = grad(log_error)
    curvature = grad(slope)
    path = [math.log(start)]
    for _ in range(steps):
        now = path[-1]
        path.append(now - float(slope(now, x, y)) / float(curvature(now, x, y)))
    return np.exp(path)


def landscape(seed, n=6, count=24):
    """Return the loss of one attention layer as a function of all its parameters in one
    array (201,), and where to start."""
    rng = np.random.default_rng(seed)
    X = B.xp.asarray(rng.normal(size=(count, n, D)))
    targets = B.xp.asarray(0.5 * rng.normal(size=count))
    cut = 3 * D * D

    def loss(theta):
        W_q, W_k, W_v = theta[:cut].reshape((3, D, D))
        Q, K, V = matmul(X[:, :1], W_q), matmul(X, W_k), matmul(X, W_v)
        Y = attention(Q, K, V)[:, 0]  # (count, d), what the first of n rows looks up
        error = tanh(Y @ theta[cut:-1] + theta[-1]) - targets  # (count,)
        return (error * error).mean()

    return loss, B.xp.asarray(0.4 * rng.normal(size=cut + D + 1))


def largest_curvature(slope, theta, v, rounds):
    """Return λ of largest size, and its direction, by power iteration from v."""
    times = grad(lambda theta, v: (slope(theta) * v).sum())  # H v
    for _ in range(rounds):
        Hv = times(theta, v)
        size, v = float(v @ Hv), Hv / B.xp.linalg.norm(Hv)
    return size, v


@threadpool_limits.wrap(limits=1)
def descend(rate, seed=0, steps=400):
    """Return λ at every 20th step of gradient descent by a rate η, (…,)."""
    loss, theta = landscape(seed)
    slope = grad(loss)
    v = B.xp.ones_like(theta) / math.sqrt(theta.size)
    found = []
    for step in progress(range(steps + 1), desc=f"η = {rate}: "):
        if step % EVERY == 0:
            size, v = largest_curvature(slope, theta, v, 4 if step else 20)
            found.append(size)
        theta = theta - rate * slope(theta)
    return np.array(found)


def draw(found, by_newton, by_descent):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0))
    for (rate, path), line in zip(found.items(), ("C0-", "C1--", "C2-."), strict=True):
        steps, colour = EVERY * np.arange(len(path)), line[:2]
        left.plot(steps, path, line[2:], color=colour, label=f"η = {rate:g}")
        left.axhline(2 / rate, color=colour, linestyle=":", linewidth=1)
        edge = 1.02 * steps[-1], 2 / rate, f"2/η = {2 / rate:g}"
        left.text(*edge, color=colour, va="center")
    left.set(xlabel="step of gradient descent", ylabel="largest curvature λ")
    left.set(title="Descent sharpens its valley up to 2/η", ylim=(0, None))
    left.set_xlim(0, 1.02 * steps[-1])
    left.legend()
    for path, line, name in (by_newton, "o-", "Newton"), (by_descent, "s--", "descent"):
        off = np.abs(path / by_newton[-1] - 1)
        right.semilogy(off[off > 1e-14], line, label=name)
    right.set(xlabel="step, from σ = 3 ms", ylabel="|σ / best − 1|")
    right.set(title="Newton doubles its digits at each step")
    right.legend()
    return figure


def demo(page):
    x, y = columns("mcycle.csv")
    starts = 0.5, 1.0, 2.0, 3.0
    paths = [newton(start, x, y) for start in starts]
    found = {rate: descend(rate) for rate in RATES}
    titles = ["step", *(f"σ from {start}" for start in starts)]
    page.table(titles, ([i, *row] for i, row in enumerate(zip(*paths, strict=True))))
    page.picture(draw(found, paths[-1], learn_sigma(3.0, x, y, 7)[:, 0]), "sharpness")
    apart = hessian_apart()
    page.claim(
        "E7",
        "The Hessian of logsumexp is the covariance of the keys under the weights.",
        r"$\partial_q^2\,logsumexp(K q)=Cov_\alpha(k)$",
        f"apart by {apart:.1g}",
        apart < 1e-10,
        logsumexp,
    )
    ends = [path[-1] for path in paths]
    page.claim(
        "E7",
        "Newton's method finds the bandwidth of `smoothing` in six steps.",
        r"$\log\sigma\leftarrow\log\sigma-f^{\prime}/f^{\prime\prime}$",
        f"{min(ends):.4f} to {max(ends):.4f} ms, from {starts[0]} to {starts[-1]}",
        max(abs(end - 0.9138) for end in ends) < 1e-4,
        grad,
    )
    edges = [found[rate][-6:].mean() * rate / 2 for rate in RATES[:2]]
    page.claim(
        "E7",
        "Plain descent ends where its steps are all but too long.",
        r"$\lambda_{max}\rightarrow 2/\eta$",
        "λ is {:.2f} of 2/η at η = 1, {:.2f} at η = 0.5".format(*edges),
        0.85 < min(edges) and max(edges) < 1.25,
        grad,
    )
