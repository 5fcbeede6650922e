"""The optimisers as plain loops that follow the papers, and a Tensor to work on."""

import numpy as np
import pytest
from conftest import array

from minigrad import Tensor
from minigrad.optim import SGD, Adam, AdamW


def tensor(values, gradient=None, dtype="f8"):
    """Return a Tensor with these values and this gradient."""
    p = Tensor(np.array(values, dtype))
    p.grad = None if gradient is None else array(np.reshape(gradient, p.shape), dtype)
    return p


def sgd(x, gradients, lr, momentum=0.0, weight_decay=0.0):
    v = 0
    for g in gradients:
        v = momentum * v + g + weight_decay * x
        x = x - lr * v
    return x


def adam(x, gradients, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    m, v = 0, 0
    for t, g in enumerate(gradients, 1):
        x = x - lr * weight_decay * x
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        x = x - lr * m_hat / (np.sqrt(v_hat) + eps)
    return x


RULES = [
    (SGD, sgd, {"lr": 0.1}),
    (SGD, sgd, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.3}),
    (Adam, adam, {"lr": 0.01, "betas": (0.8, 0.9), "eps": 0.1}),
    (AdamW, adam, {"lr": 0.1, "weight_decay": 0.3}),
]
every_rule = pytest.mark.parametrize(("make", "rule", "options"), RULES)
