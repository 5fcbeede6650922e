"""Layers: Modules whose parameters are drawn at random, to be trained.

    >>> import numpy as np
    >>> from minigrad import nn, optim
    >>> x = np.arange(4.0).reshape(4, 1)
    >>> model = nn.Linear(1, 1)
    >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
    >>> for _ in range(200):
    ...     optimizer.zero_grad()
    ...     error = model(x) - (3 * x + 1)
    ...     (error * error).mean().backward()
    ...     optimizer.step()
    >>> model.weight.numpy().round(3), model.bias.numpy().round(3)
    (array([[3.]], dtype=float32), array([1.], dtype=float32))

Weights are drawn on the host, by one generator for all layers, so that no two layers
get the same numbers. It starts from seed 0, so a program that makes the same layers in
the same order gets the same weights every time; `seed` starts it anew.

Parameters are float32, as in PyTorch. An input of float64 gives an output of float64;
`Module.astype` converts the parameters themselves.
"""

import math

import numpy

from . import backend, checks
from .checks import at_least, flag, fraction, integer, optional, takes
from .module import Module
from .ops.elementwise import where
from .ops.layernorm import center, rms_norm
from .ops.matmul import matmul
from .tensor import Tensor

rng = numpy.random.default_rng(0)


@takes(n=integer(0))
def seed(n):
    """Start the generator of all layers made from now on at the integer n."""
    global rng
    rng = numpy.random.default_rng(n)


@takes(std=at_least(0))
def normal(shape, std):
    """Return a parameter drawn from N(0, std²)."""
    return Tensor(rng.standard_normal(shape) * std, dtype="float32")


class Linear(Module):
    """Y = X W + b, with X (…, d_in), W (d_in, d_out), b (d_out,) and Y (…, d_out).

    W (`weight`) is drawn from N(0, 1/d_in), so that each y has the variance of the x
    that it sums; LeCun et al., "Efficient BackProp" (1998), section 4.6. b (`bias`)
    starts at 0, or is left out. PyTorch's W is (d_out, d_in): load `weight.T` of it.
    """

    @takes(d_in=integer(1), d_out=integer(1), bias=flag)
    def __init__(self, d_in, d_out, bias=True):
        self.weight = normal((d_in, d_out), 1 / math.sqrt(d_in))
        self.bias = Tensor(numpy.zeros(d_out), dtype="float32") if bias else None

    @takes("… d_in")
    def __call__(self, x):
        y = matmul(x, self.weight)  # (…, d_in) @ (d_in, d_out) -> (…, d_out)
        return y if self.bias is None else y + self.bias


class Embedding(Module):
    """A table of n vectors of width d: integer ids (…) -> vectors (…, d).

    `weight` (n, d) is drawn from N(0, 1), the variance that Linear keeps. Ids are
    checked where they are on the host.

    Raises: IndexError for an id outside [0, n), TypeError for one not an integer.
    """

    @takes(n=integer(1), d=integer(1))
    def __init__(self, n, d):
        self.weight = normal((n, d), 1.0)

    @takes()
    def __call__(self, ids):
        return self.weight[checks.integers("Embedding", ids, self.weight.shape[0])]


class LayerNorm(Module):
    """y = (x - μ) / √(σ² + ε) · w + b for each row x (…, d) of mean μ and variance σ².

    w (`weight`) starts at 1, b (`bias`) at 0, or is left out. See ops/layernorm.py.
    """

    @takes(d=integer(1), eps=at_least(0), bias=flag)
    def __init__(self, d, eps=1e-5, bias=True):
        self.weight = Tensor(numpy.ones(d), dtype="float32")
        self.bias = Tensor(numpy.zeros(d), dtype="float32") if bias else None
        self.eps = float(eps)

    @takes("… d")
    def __call__(self, x):
        checks.width(x, self.weight.size)
        y = rms_norm(center(x), eps=self.eps) * self.weight  # (…, d)
        return y if self.bias is None else y + self.bias


class Dropout(Module):
    """In training each number is 0 with probability p, else x / (1 - p).

    So its mean stays x, which is also what comes out after eval(). Srivastava et al.,
    "Dropout" (2014), scaled by 1 - p in evaluation instead. The choices are drawn on
    the host, each call anew. `seed` starts this layer's generator; without it a number
    from the generator of all layers does. Its state is not in state_dict().

    Raises: ValueError for p outside [0, 1).
    """

    @takes(p=fraction, seed=optional(integer(0)))
    def __init__(self, p, seed=None):
        self.p = p
        self.rng = numpy.random.default_rng(
            rng.integers(2**63) if seed is None else seed
        )

    @takes("…")
    def __call__(self, x):
        if not self.training or self.p == 0:
            return x
        kept = backend.xp.asarray(self.rng.random(x.shape) >= self.p)
        return where(kept, x * (1 / (1 - self.p)), 0.0)
