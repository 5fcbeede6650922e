"""The Jacobian of a function, which several demos compare with a formula or draw."""

import numpy as np

from minigrad import Tensor
from minigrad import backend as B


def jacobian(f, x):
    """Return ∂f/∂x with the axes of f(x) first: one reverse pass for each output."""
    leaf = Tensor(x)
    y = f(leaf)
    rows = []
    for one in np.eye(y.size):
        leaf.grad = None
        y.backward(B.xp.asarray(one.reshape(y.shape)))
        rows.append(B.to_numpy(leaf.grad))
    return np.reshape(rows, y.shape + x.shape)
