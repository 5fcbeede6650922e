"""Three layers that mix positions, each from n Tensors (1, d) to n Tensors (1, d): what
attention is compared with.

Every position is a Tensor of its own, so that the recorded graph shows which output was
made from which input. All are causal: output t sees the inputs up to t.
"""

import numpy as np

from attention import attention
from minigrad import Tensor, concatenate, relu, tanh


def attend(xs):
    """Return attention of each position to those up to it; no parameters."""
    X = concatenate(xs)  # (n, d)
    Y = attention(X, X, X, causal=True)  # (n, d)
    return [Y[t : t + 1] for t in range(len(xs))]


def recur(xs, W):
    """Return h_t = tanh(h_{t-1} W + x_t) with W (d, d) and h_1 = x_1."""
    h = [xs[0]]
    for x in xs[1:]:
        h.append(tanh(h[-1] @ W + x))
    return h


def convolve(xs, W, gap=1):
    """Return y_t = relu([x_{t-(k-1)gap} … x_{t-gap} x_t] W) with W (k d, d)."""
    d = xs[0].shape[1]
    before = gap * (W.shape[0] // d - 1)
    xs = [Tensor(np.zeros((1, d)))] * before + xs
    return [
        relu(concatenate(xs[t - before : t + 1 : gap], axis=1) @ W)
        for t in range(before, len(xs))
    ]
