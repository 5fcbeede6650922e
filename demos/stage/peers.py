"""The other libraries of the benchmark, as far as they are installed.

Each is used in its own usual way. A step takes nothing, computes forwards and
backwards, and returns the gradients.

Letters: h heads, n positions, d the width; Q, K, V and g = dL/dY are (h, n, d).
"""

import functools
import importlib
import math
from importlib import metadata

from .steps import chain

NAMES = "torch", "jax", "mygrad", "autograd"


def library(name):
    """Return the module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def versions():
    """Return the version of each library, or "absent"."""
    return {x: metadata.version(x) if library(x) else "absent" for x in NAMES}


def attention_steps(Q, K, V, g):
    """Return {name: step} for attention."""
    ways = {"torch": torch_ways, "jax": jax_ways}
    ways |= {"mygrad": mygrad_ways, "autograd": autograd_ways}
    return {
        f"{name}, {way}": STEPS[name](f, [Q, K, V], g)
        for name in NAMES
        if library(name)
        for way, f in ways[name]().items()
    }


def chain_steps(x, a, b, g, length):
    """Return {name: step} for x ← x a + b, `length` times; jax would compile it away."""
    f = functools.partial(chain, length=length)
    names = [name for name in NAMES if library(name) and name != "jax"]
    return {name: STEPS[name](f, [x, a, b], g) for name in names}


def scores(Q, K, axes):
    """Return Q Kᵀ / √d, with the axes of Kᵀ as the library counts them."""
    return Q @ K.transpose(*axes) * (1 / math.sqrt(Q.shape[-1]))


def torch_ways():
    torch = library("torch")
    fused = torch.nn.functional.scaled_dot_product_attention
    return {
        "formula": lambda Q, K, V: torch.softmax(scores(Q, K, (-1, -2)), dim=-1) @ V,
        "fused": fused,
        "fused, causal": lambda Q, K, V: fused(Q, K, V, is_causal=True),
    }


def jax_ways():
    softmax = library("jax").nn.softmax
    return {"jit": lambda Q, K, V: softmax(scores(Q, K, (0, 2, 1))) @ V}


def mygrad_ways():
    softmax = library("mygrad.nnet.activations").softmax
    return {"formula": lambda Q, K, V: softmax(scores(Q, K, (0, 2, 1))) @ V}


def autograd_ways():
    np = library("autograd.numpy")

    def softmax(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    return {"formula": lambda Q, K, V: softmax(scores(Q, K, [(0, 2, 1)])) @ V}


def torch_step(f, inputs, g):
    torch = library("torch")
    leaves, g = [torch.tensor(x, requires_grad=True) for x in inputs], torch.tensor(g)

    def step():
        for x in leaves:
            x.grad = None
        f(*leaves).backward(g)
        return [x.grad.numpy() for x in leaves]

    return step


def jax_step(f, inputs, g):
    jax = library("jax")
    pull = jax.jit(lambda g, *x: jax.vjp(f, *x)[1](g))
    arrays = [jax.numpy.asarray(x) for x in (g, *inputs)]
    return lambda: jax.block_until_ready(pull(*arrays))


def mygrad_step(f, inputs, g):
    leaves = [library("mygrad").tensor(x) for x in inputs]

    def step():
        f(*leaves).backward(g)
        return [x.grad for x in leaves]

    return step


def autograd_step(f, inputs, g):
    make_vjp = library("autograd").make_vjp

    def step():
        pull, _ = make_vjp(lambda x: f(*x))(tuple(inputs))
        return pull(g)

    return step


STEPS = {
    "torch": torch_step,
    "jax": jax_step,
    "mygrad": mygrad_step,
    "autograd": autograd_step,
}
