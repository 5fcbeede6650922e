"""Optimisers: what a parameter becomes, given its gradient.

A step gives each parameter a new array. The old one stays as it was, for a recorded
graph computed with it and `detach` may have handed it out. A parameter without a
gradient is left alone, and so is all that the optimiser remembers about it.

Weight decay acts on matrices only. Biases and the weights of norms are few, and set the
scale of what passes; pulling them to 0 would shrink the signal, not the model.

Letters: θ a parameter, g its gradient, α the learning rate `lr`, λ the weight decay.
"""

import math

from . import backend
from .module import at_least, check_gradients, check_state, unique


class Optimizer:
    """What all share; a subclass defines `moved`, a parameter's array after a step.

    `moments` names the arrays beside each parameter that a step updates.
    """

    def __init__(self, params, lr, moments=()):
        at_least(type(self).__name__, 0, lr=lr)
        self.params, self.lr = unique(type(self).__name__, params), lr
        self.steps = [0] * len(self.params)  # that each parameter has made
        data = [p.data for p in self.params]
        self.moments = {
            name: list(map(backend.xp.zeros_like, data)) for name in moments
        }

    def step(self):
        """Move every parameter that has a gradient, or none if one does not fit."""
        check_gradients(f"{type(self).__name__}.step", self.params)
        lr = float(self.lr)  # a NumPy number would turn float32 into float64
        for i, p in enumerate(self.params):
            if p.grad is not None:
                self.steps[i] += 1
                p.data = backend.xp.asarray(self.moved(i, p.data, p.grad, lr))

    def zero_grad(self):
        """Forget the gradients, which backward() would otherwise add to."""
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
        state = {name: backend.to_numpy(values) for name, values in state.items()}
        check_state("load_state_dict", self.state_dict(), state)
        self.steps = state["steps"].tolist()
        for name, arrays in self.moments.items():
            arrays[:] = [
                backend.xp.array(state[f"{name}.{i}"]) for i in range(len(arrays))
            ]


class SGD(Optimizer):
    """Gradient descent, with momentum μ and weight decay.

        g ← g + λ θ             matrices only
        v ← μ v + g             v starts at 0
        θ ← θ - α v

    Sutskever et al., "On the importance of initialization and momentum in deep
    learning" (2013), eq. 1 and 2, with α outside of v, so that it may change.
    """

    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0):
        at_least("SGD", 0, momentum=momentum, weight_decay=weight_decay)
        super().__init__(params, lr, moments=["v"] if momentum else [])
        self.momentum, self.weight_decay = float(momentum), float(weight_decay)

    def moved(self, i, x, g, lr):
        if self.weight_decay and x.ndim >= 2:
            g = g + self.weight_decay * x
        if self.momentum:
            v = self.moments["v"][i]
            v *= self.momentum
            v += g
            g = v
        return x - lr * g


class Adam(Optimizer):
    """Each number moves by about α, whatever the scale of its gradient.

        m ← β₁ m + (1 - β₁) g               mean of the gradients
        v ← β₂ v + (1 - β₂) g²              mean of their squares
        θ ← θ - α m̂ / (√v̂ + ε)              m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

    m and v start at 0; m̂ and v̂ make up for that. t counts steps of this parameter.
    Kingma & Ba, "Adam: A Method for Stochastic Optimization" (2015), algorithm 1.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        if backend.to_numpy(betas).shape != (2,) or not all(0 <= b < 1 for b in betas):
            raise ValueError(f"{type(self).__name__}: betas {betas}, not two in [0, 1)")
        super().__init__(params, lr, moments=["m", "v"])
        self.betas, self.eps = betas, eps

    def moved(self, i, x, g, lr):
        m, v, t = self.moments["m"][i], self.moments["v"][i], self.steps[i]
        (beta1, beta2), new = self.betas, backend.xp.empty_like(x)
        # The lines above with one new array instead of 14; m and v are ours to change.
        # With c = √(1 - β₂ᵗ), √v̂ + ε = (√v + c ε) / c, to divide numbers, not arrays.
        c = math.sqrt(1 - beta2**t)
        backend.xp.multiply(g, 1 - beta1, out=new)
        m *= beta1
        m += new
        backend.xp.multiply(g, g, out=new)
        new *= 1 - beta2
        v *= beta2
        v += new
        backend.xp.sqrt(v, out=new)
        new += c * self.eps
        backend.xp.divide(m, new, out=new)
        new *= lr * c / (1 - beta1**t)
        backend.xp.subtract(x, new, out=new)
        return new


class AdamW(Adam):
    """Adam with weight decay beside the gradient, where its scale does not matter.

        θ ← θ - α λ θ           matrices only; then Adam's step

    Loshchilov & Hutter, "Decoupled Weight Decay Regularization" (2019), algorithm 2.
    """

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
    ):
        at_least("AdamW", 0, weight_decay=weight_decay)
        super().__init__(params, lr, betas, eps)
        self.weight_decay = float(weight_decay)

    def moved(self, i, x, g, lr):
        if self.weight_decay and x.ndim >= 2:
            x = x * (1 - lr * self.weight_decay)
        return super().moved(i, x, g, lr)


def clip_grad_norm(params, max_norm):
    """Scale all gradients to a joint norm of at most max_norm; return it as it was.

    Pascanu et al., "On the difficulty of training recurrent neural networks" (2013),
    algorithm 1. On a GPU this waits once, for the norm.

    Raises: FloatingPointError when the norm is not finite; then nothing has changed.
    """
    at_least("clip_grad_norm", 0, max_norm=max_norm)
    max_norm = float(max_norm)
    params = [p for p in unique("clip_grad_norm", params) if p.grad is not None]
    norm = joint_norm(p.grad for p in params)
    if norm == math.inf:  # only the squares may be too large: use a larger unit
        norm = 1e200 * joint_norm(p.grad.astype(float) * 1e-200 for p in params)
    if not math.isfinite(norm):
        bad = [
            p.shape
            for p in params
            if not backend.to_numpy(backend.xp.isfinite(p.grad)).all()
        ]
        raise FloatingPointError(
            f"clip_grad_norm: the norm is {norm}; not finite: gradients of shape {bad}"
        )
    if norm > max_norm:
        for p in params:
            p.grad = backend.xp.asarray(p.grad * (max_norm / norm))
    return norm


def joint_norm(arrays):
    """Return √(Σ x²) over all arrays, in float64: float32 has no square of 2e19."""
    arrays = (backend.xp.asarray(x, dtype=float) for x in arrays)
    return math.sqrt(
        float(backend.to_numpy(sum(backend.xp.vdot(x, x) for x in arrays)))
    )


def cosine(step, warmup, total, high, low=0.0):
    """Return the learning rate of a step: a straight rise, then half a cosine.

        α = low + (high - low) (1 + cos(π (step - warmup) / (total - warmup))) / 2

    From high / (warmup + 1) at step 0 it rises to `high` at step `warmup`, then falls
    to `low` at step `total`, and stays. Loshchilov & Hutter, "SGDR" (2017), eq. 5.

    >>> from minigrad.optim import cosine
    >>> [cosine(step, 3, 7, high=1.0, low=0.5) for step in (0, 1, 2, 3, 5, 7, 9)]
    [0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.5]
    """
    if step < warmup:
        return high * (step + 1) / (warmup + 1)
    done = 1 if step >= total else (step - warmup) / (total - warmup)
    return low + (high - low) * (1 + math.cos(math.pi * done)) / 2
