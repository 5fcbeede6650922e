"""Forms written for speed, in place, fused or in parts, equal the plain form that their
comments show."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same
from qkv import qkv

import minigrad as mg
from attention import tiled, tiled_attention
from minigrad import PRIMITIVES, Tensor
from minigrad import backend as B


def softmax(x):
    return mg.exp(x) / mg.sum(mg.exp(x), axis=-1, keepdims=True)


def center(x):
    return x - mg.mean(x, axis=-1, keepdims=True)


def rms_norm(x):
    return x / mg.sqrt(mg.mean(x * x, axis=-1, keepdims=True) + 1e-5)


def gelu(x):
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + mg.tanh(u))


PLAIN = {f.__name__: f for f in (softmax, center, rms_norm, gelu)}
SHAPES = [(7,), (3, 5), (2, 3, 4), (3, 40_000)]  # the last one: several parts of gelu


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", PLAIN)
def test_an_op_equals_the_composition_of_plain_ops(name, shape):
    x = Tensor(3 * normal(*shape))
    g = array(normal(*shape, seed=1))
    results = []
    for f in (PRIMITIVES[name], PLAIN[name]):
        x.grad = None
        y = f(x)
        y.backward(g)
        results.append((y, x.grad))
    (y, dx), (plain_y, plain_dx) = results
    close(y, plain_y, rtol=1e-10, atol=1e-14)
    close(dx, plain_dx, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", PLAIN)
def test_a_rule_gives_arrays_what_it_gives_tensors(name, shape):
    op = PRIMITIVES[name]
    x, g = array(3 * normal(*shape)), array(normal(*shape, seed=1))
    recorded = op(Tensor(x))
    y = recorded.data
    before = [B.to_numpy(a).copy() for a in (g, y, x)]
    got = op.vjp(g, y, x, **recorded.saved)
    plain = op.vjp(*map(Tensor, (g, y, x)), **dict.fromkeys(recorded.saved))
    close(got, plain, rtol=1e-12, atol=1e-13)
    for a, b in zip((g, y, x), before, strict=True):
        same(a, b)  # in place never means in the arrays of others


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_the_tiles_of_a_gradient_add_up_to_the_four_products(causal, masked):
    leaves = qkv(6, 9, front=(2,))
    keep = np.random.default_rng(0).random((6, 9)) < 0.5
    mask = array(keep) if masked else None
    y = tiled_attention(*leaves, mask=mask, causal=causal, block=4)
    g = array(normal(*y.shape, seed=1))
    arrays = [x.data for x in leaves]
    fast = y.op.vjp(g, y.data, *arrays, **y.params, **y.saved)
    plain = tiled.plain_rule(g, y.data, *arrays, mask, causal)
    for a, b in zip(fast, plain, strict=True):
        close(a, b, rtol=1e-12, atol=1e-14)


def test_one_product_over_all_rows_equals_a_product_for_each_matrix():
    a, b, g = normal(4, 3, 5), normal(5, 2, seed=1), normal(4, 3, 2, seed=2)
    x, w = Tensor(a), Tensor(b)
    y = x @ w
    y.backward(array(g))
    close(y, np.stack([matrix @ b for matrix in a]), atol=1e-14)
    close(x.grad, np.stack([matrix @ b.T for matrix in g]), atol=1e-14)
    close(w.grad, sum(m.T @ h for m, h in zip(a, g, strict=True)), atol=1e-14)
