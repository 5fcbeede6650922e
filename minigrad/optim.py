"""Optimisers: what a parameter becomes, given its gradient.

A step gives each parameter a new array; the old one stays, for a recorded graph computed
with it. A parameter without a gradient is left alone, with all that is kept about it.

Weight decay acts on matrices only. Biases and the weights of norms are few, and set the
scale of what passes; pulling them to 0 would shrink the signal, not the model.

Letters: x a parameter, the i-th, g its gradient, α the learning rate, λ weight decay.
"""

import math

from . import backend
from .checks import (
    at_least,
    fitting_gradients,
    leaves,
    same_state,
    takes,
    two_fractions,
)

RATE = at_least(0)
ADAM = {"params": leaves, "lr": RATE, "betas": two_fractions, "eps": RATE}


class Optimizer:
    """What all share; a subclass defines `moved`, a parameter's array after a step.

    `moments` names the arrays beside each parameter that a step renews. They start at
    0, and are float32 at least: (1 - β₂) g² of g = 0.001 is 0 in float16.
    """

    def __init__(self, params, lr, *moments):
        self.params, self.lr = params, lr
        self.steps = [0] * len(params)  # that each parameter has made
        self.moments = {
            name: [backend.xp.zeros(p.shape, backend.wide(p)) for p in params]
            for name in moments
        }

    def step(self):
        """Move every parameter that has a gradient, or none if one does not fit."""
        gradients = fitting_gradients(f"{type(self).__name__}.step", self.params)
        lr = float(self.lr)  # a NumPy number would turn float32 into float64
        for i, (p, g) in enumerate(zip(self.params, gradients, strict=True)):
            if g is not None:
                self.steps[i] += 1
                p.data = backend.xp.asarray(self.moved(i, p.data, g, lr), p.dtype)

    def zero_grad(self):
        """Forget the gradients."""
        for p in self.params:
            p.grad = None

    def state_dict(self):
        """Return {name: copy in a NumPy array} of the step counts and the moments."""
        state = {"steps": backend.to_numpy(self.steps)}
        for name, arrays in self.moments.items():
            for i, x in enumerate(arrays):
                state[f"{name}.{i}"] = backend.to_numpy(x).copy()
        return state

    def load_state_dict(self, state):
        """Continue as the optimiser that gave this state did.

        Raises: ValueError when names or shapes differ, TypeError when dtypes do; then
        nothing has changed.
        """
        state = same_state("load_state_dict", self.state_dict(), state)
        self.steps = backend.to_numpy(state["steps"]).tolist()
        for name, arrays in self.moments.items():
            arrays[:] = [
                backend.xp.array(state[f"{name}.{i}"]) for i in range(len(arrays))
            ]


class SGD(Optimizer):
    """Gradient descent, with momentum μ and weight decay.

        g ← g + λ x             matrices only
        v ← μ v + g             v starts at 0
        x ← x - α v

    Sutskever et al., "On the importance of initialization and momentum in deep
    learning" (2013), eq. 1 and 2, with α outside of v, so that it may change.
    """

    @takes(params=leaves, lr=RATE, momentum=RATE, weight_decay=RATE)
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0):
        super().__init__(params, lr, *["v"] if momentum else [])
        self.momentum, self.weight_decay = float(momentum), float(weight_decay)

    def moved(self, i, x, g, lr):
        if self.weight_decay and x.ndim >= 2:
            g = g + self.weight_decay * x
        if not self.momentum:
            return x - lr * g
        v = self.moments["v"]
        v[i] = self.momentum * v[i] + g
        return x - lr * v[i]


class Adam(Optimizer):
    """Each number moves by about α, whatever the scale of its gradient.

        m ← β₁ m + (1 - β₁) g               mean of the gradients
        v ← β₂ v + (1 - β₂) g²              mean of their squares
        x ← x - α m̂ / (√v̂ + ε)              m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

    m and v start at 0; m̂ and v̂ make up for that. t counts steps of this parameter.
    Kingma & Ba, "Adam: A Method for Stochastic Optimization" (2015), algorithm 1.
    """

    @takes(**ADAM)
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr, "m", "v")
        self.betas, self.eps = betas, float(eps)

    def moved(self, i, x, g, lr):
        m, v, t = self.moments["m"], self.moments["v"], self.steps[i]
        beta1, beta2 = self.betas
        m[i] = beta1 * m[i] + (1 - beta1) * g
        v[i] = beta2 * v[i] + (1 - beta2) * g**2
        m_hat, v_hat = m[i] / (1 - beta1**t), v[i] / (1 - beta2**t)
        return x - lr * m_hat / (backend.xp.sqrt(v_hat) + self.eps)


class AdamW(Adam):
    """Adam with weight decay beside the gradient, where its scale does not matter.

        x ← (1 - α λ) x         matrices only; then Adam's step

    Loshchilov & Hutter, "Decoupled Weight Decay Regularization" (2019), algorithm 2,
    which decays vectors too, and by λ; the α λ is PyTorch's.
    """

    @takes(**ADAM, weight_decay=RATE)
    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
    ):
        super().__init__(params, lr, betas, eps)
        self.weight_decay = float(weight_decay)

    def moved(self, i, x, g, lr):
        if self.weight_decay and x.ndim >= 2:
            x = (1 - lr * self.weight_decay) * x
        return super().moved(i, x, g, lr)


@takes(params=leaves, max_norm=RATE)
def clip_grad_norm(params, max_norm):
    """Scale all gradients to a joint norm of at most max_norm; return it as it was.

    Pascanu et al., "On the difficulty of training recurrent neural networks" (2013),
    algorithm 1. On a GPU this waits once, for the norm.

    Raises: FloatingPointError when the norm is not finite; then nothing has changed.
    """
    params = [p for p in params if p.grad is not None]
    gradients = fitting_gradients("clip_grad_norm", params)
    norm = joint_norm(gradients)
    if norm == math.inf:  # only the squares may be too large: use a larger unit
        norm = 1e200 * joint_norm([g.astype(float) * 1e-200 for g in gradients])
    if not math.isfinite(norm):
        bad = [g.shape for g in gradients if not backend.xp.isfinite(g).all()]
        raise FloatingPointError(
            f"clip_grad_norm: the norm is {norm}; not finite: gradients of shape {bad}"
        )
    if norm > float(max_norm):
        scale = float(max_norm) / norm
        for p, g in zip(params, gradients, strict=True):
            p.grad = backend.xp.asarray(g * scale, p.dtype)
    return norm


def joint_norm(arrays):
    """Return √(Σ x²) over all arrays, in float64: float32 has no square of 2e19."""
    arrays = (backend.xp.asarray(x, dtype=float) for x in arrays)
    return math.sqrt(sum(backend.xp.vdot(x, x) for x in arrays))


@takes(**dict.fromkeys(["step", "warmup", "total", "high", "low"], at_least(0)))
def warmup_cosine(step, warmup, total, high, low=0.0):
    """Return the learning rate of a step: a straight rise, then half a cosine.

        α = low + (high - low) (1 + cos(π (step - warmup) / (total - warmup))) / 2

    From high / (warmup + 1) at step 0 it rises to `high` at step `warmup`, then falls
    to `low` at step `total`, and stays. Loshchilov & Hutter, "SGDR" (2017), eq. 5.

    >>> from minigrad.optim import warmup_cosine
    >>> [warmup_cosine(step, 3, 7, 1.0, low=0.5) for step in (0, 1, 2, 3, 5, 7, 9)]
    [0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.5]
    """
    if step < warmup:
        return high * (step + 1) / (warmup + 1)
    done = 1 if step >= total else (step - warmup) / (total - warmup)
    return low + (high - low) * (1 + math.cos(math.pi * done)) / 2
