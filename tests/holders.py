"""Modules for tests, with the attributes that they are given."""

import numpy as np

from minigrad import Tensor, nn


class Holder(nn.Module):
    """A Module with the attributes it is given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


def nested():
    a, b, c, d, e = (Tensor([float(i)]) for i in range(5))
    inner = Holder(w=b, constant=np.ones(2), width=3, again=a)
    model = Holder(a=a, parts=[inner, (c, {"x": d, 7: [e]})], nothing=None, same=inner)
    model.itself = model
    return model, dict(zip(["a", "parts.0.w", "parts.1.0"], (a, b, c), strict=True)) | {
        "parts.1.1.x": d,
        "parts.1.1.7.0": e,
    }
