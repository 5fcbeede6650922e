"""What promises not to wait for the device: every score, layer and way of attention,
forward and backward. Ops stand in test_ops.py."""

import fakecupy
import pytest
from conftest import array, normal

import attention
import minigrad as mg
from attention import dot, scaled_dot, tiled_attention
from minigrad import Tensor, backend, nn


def waits(f):
    """Return how often a pass forward and backward waits for the stand-in."""
    before = fakecupy.reads
    y = f()
    y = y if isinstance(y, Tensor) else y[0]
    y.backward(backend.xp.ones_like(y.data))
    return fakecupy.reads - before


def T(*shape):
    return Tensor(array(normal(*shape), "float32"))


QKV = ((2, 5, 4), (2, 6, 4), (2, 6, 3))
ASYNCHRONOUS = {
    "attention": lambda: attention.attention(*map(T, *zip(*QKV, strict=True))),
    "causal": lambda: attention.attention(
        *map(T, *zip(*QKV, strict=True)), causal=True
    ),
    "mask": lambda: attention.attention(
        *map(T, *zip(*QKV, strict=True)), mask=array(normal(5, 6) > 0)
    ),
    "tiles": lambda: tiled_attention(*map(T, *zip(*QKV, strict=True)), block=2),
    "causal tiles": lambda: tiled_attention(
        *map(T, *zip(*QKV, strict=True)), causal=True, block=2
    ),
    "soft_lookup": lambda: attention.soft_lookup(T(4), T(5, 4), T(5, 2), 0.5),
    "dot": lambda: dot(T(2, 3), T(4, 3)),
    "scaled_dot": lambda: scaled_dot(T(2, 3), T(4, 3)),
    "cosine": lambda: attention.cosine(T(2, 3), T(4, 3)),
    "gaussian": lambda: attention.gaussian(0.5)(T(2, 3), T(4, 3)),
    "bilinear": lambda: attention.bilinear(T(3, 2))(T(2, 3), T(4, 2)),
    "additive": lambda: attention.additive(T(3, 5), T(2, 5), T(5))(T(2, 3), T(4, 2)),
    "rope": lambda: attention.rope(T(2, 4), offset=1),
    "cross_entropy": lambda: mg.cross_entropy(T(2, 3), [0, 1], ignore_index=1),
    "targets on the device": lambda: mg.cross_entropy(
        T(2, 3), array([0, 1]), ignore_index=1
    ),
    "Linear": lambda: nn.Linear(3, 2)(T(2, 3)),
    "Embedding": lambda: nn.Embedding(3, 2)(array([0, 1])),
    "LayerNorm": lambda: nn.LayerNorm(3)(T(2, 3)),
    "Dropout": lambda: nn.Dropout(0.5)(T(2, 3)),
    "SelfAttention": lambda: attention.SelfAttention(4)(T(2, 4)),
    "heads": lambda: attention.MultiHeadAttention(4, 2, causal=True, rope=True)(
        T(3, 4)
    ),
    "a context": lambda: attention.MultiHeadAttention(4, 2)(T(3, 4), context=T(5, 4)),
    "Block": lambda: attention.Block(4, 2, causal=True, dropout=0.1)(T(3, 4)),
    "GPT": lambda: attention.GPT(5, 4, 4, 2, 1)(array([[0, 1, 2]])),
    "split": lambda: mg.concatenate(mg.split(T(4, 2), 2), axis=1),
    "take": lambda: mg.take(T(4, 2), array([0, 1])),
}


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_nothing_waits_for_the_device_that_need_not(name):
    assert waits(ASYNCHRONOUS[name]) == 0


def test_a_wait_is_counted(xp):
    planted = waits(lambda: T(2, 3) * float(T(2, 3).data.max()))
    assert planted == (1 if xp is fakecupy.xp else 0)
