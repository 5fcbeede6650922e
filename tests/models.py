"""Small language models for tests, and how to check the gradients of their parameters."""

import pytest
from conftest import array, normal

from attention import GPT
from minigrad import Tensor, nn
from minigrad.module import walk

both = pytest.mark.parametrize("positions", ["rope", "learned"])


def gpt(positions="rope", seed=0, std=None, **sizes):
    """Return a small model; `std` draws larger weights, so that all parts matter."""
    nn.seed(seed)
    sizes = {"vocab": 5, "context": 6, "d_model": 8, "heads": 2, "layers": 2} | sizes
    model = GPT(**sizes, positions=positions)
    for p in model.parameters() if std else ():
        p.data = array(normal(*p.shape, seed=p.size) * std, "f4")
    return model


def with_parameters(model, call):
    """Return the parameters, and f(*xs) that calls with xs in their place."""
    modules = [x for _, x in walk(model) if isinstance(x, nn.Module)]
    places = [
        (m, name) for m in modules for name, x in vars(m).items() if type(x) is Tensor
    ]

    def f(*xs):
        for (module, name), x in zip(places, xs, strict=True):
            setattr(module, name, x)
        return call()

    return [getattr(*place).numpy() for place in places], f
