"""Layer norm: its formula forwards and backwards, and rows that lose digits."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same

import minigrad as mg
from minigrad import Tensor, center, nn, rms_norm


def plain_norm(x, eps=1e-5):
    """Layer norm as its formula says."""
    deviation = x - mg.mean(x, axis=-1, keepdims=True)
    return deviation / mg.sqrt(mg.var(x, axis=-1, keepdims=True) + eps)


def test_layer_norm_is_its_formula_forwards_and_backwards():
    x, g = 3 * normal(2, 5, 7) + 10, array(normal(2, 5, 7, seed=1))
    fused, plain = Tensor(x), Tensor(x)
    y, expected = rms_norm(center(fused)), plain_norm(plain)
    close(y, expected)
    y.backward(g)
    expected.backward(g)
    close(fused.grad, plain.grad, rtol=1e-10, atol=1e-13)


def test_the_rule_of_rms_norm_is_the_same_on_arrays_and_on_tensors():
    x, g = array(normal(3, 6)), array(normal(3, 6, seed=1))
    y = rms_norm(x, eps=0.1)
    tracked = rms_norm.vjp(Tensor(g), Tensor(y), Tensor(x), eps=0.1)
    close(rms_norm.vjp(g, y, x, eps=0.1), tracked)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e4, 123456.7, 1e30])
@pytest.mark.parametrize("width", [1, 3, 128])
def test_rows_of_equal_numbers_become_the_bias(value, width):
    layer = nn.LayerNorm(width)
    layer.bias.data = array(normal(width), "f4")
    x = Tensor(np.full((2, width), value), dtype="float32")
    y = layer(x)
    same(y, np.broadcast_to(layer.bias.numpy(), (2, width)))
    g = normal(2, width, seed=1).astype("f4")
    y.backward(array(g))  # there y is linear: dL/dx = (g - mean g) / √ε
    expected = (g - g.mean(axis=-1, keepdims=True)) / math.sqrt(1e-5)
    close(x.grad, expected, rtol=1e-5, atol=1e-4)


def test_layer_norm_keeps_the_digits_of_rows_far_from_0():
    x = (normal(3, 64) + 1e4).astype("f4")
    close(rms_norm(center(array(x))), plain_norm(array(x, float)), atol=1e-6)


def test_layer_norm_in_float16_sums_squares_that_float16_cannot_hold():
    x, g = (100 * normal(2, 768)).astype("f2"), normal(2, 768, seed=1).astype("f2")
    low, high = Tensor(x), Tensor(x.astype(float))
    for t in (low, high):
        rms_norm(center(t)).backward(array(g, t.dtype))
    close(rms_norm(center(low)), rms_norm(center(high)), rtol=0, atol=1e-2)
    close(100 * low.grad, 100 * high.grad, rtol=0, atol=1e-2)


def test_layer_norm_forgets_the_offset_and_the_scale_of_a_row():
    layer = nn.LayerNorm(8, eps=0.0, bias=False)
    x = array(normal(3, 8))
    close(layer(1000 * x + 7), layer(x), rtol=1e-10)
    assert layer.bias is None and layer.parameters() == [layer.weight]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1)])
@pytest.mark.parametrize("d", [1, 4])
def test_layer_norm_takes_rows_of_its_own_width_only(shape, d):
    x = array(normal(*shape))
    if shape[-1:] == (d,):
        assert nn.LayerNorm(d)(x).shape == shape
    else:  # NumPy would repeat a row of one number, or the one weight
        with pytest.raises(
            ValueError, match=rf"LayerNorm: .*x \(.*\) must be \(…, ({d}|d)\)"
        ):
            nn.LayerNorm(d)(x)
