"""The layers: values, gradients, first weights."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same

from minigrad import Tensor, gradcheck, nn
from minigrad.backend import to_numpy


def test_linear_is_x_w_plus_b():
    x = normal(2, 4, 3)
    layer = nn.Linear(3, 5)
    layer.bias.data = array(normal(5), "f4")
    close(layer(array(x)), x @ layer.weight.numpy() + layer.bias.numpy())
    layer.bias = None
    close(layer(array(x[0, 0])), x[0, 0] @ layer.weight.numpy())


def test_linear_keeps_the_variance_and_starts_without_bias():
    nn.seed(1)
    layer = nn.Linear(400, 300)
    assert not layer.bias.numpy().any()
    assert abs(layer(array(normal(200, 400))).numpy().var() - 1) < 0.02  # 3 σ


def test_a_seed_repeats_the_weights_and_no_two_layers_share_them():
    def weights():
        nn.seed(3)
        return [
            nn.Linear(4, 4).weight,
            nn.Linear(4, 4).weight,
            nn.Embedding(4, 4).weight,
        ]

    first, again = weights(), weights()
    for a, b in zip(first, again, strict=True):
        same(a, b)
    assert len({w.numpy().tobytes() for w in first}) == 3


def test_embedding_reads_rows_and_adds_the_gradients_of_repeated_ids():
    layer = nn.Embedding(3, 2)
    ids = [[2, 0], [2, 2]]
    out = layer(ids)
    same(out, layer.weight.numpy()[ids])
    same(layer(np.array(ids)), out)
    g = normal(2, 2, 2).astype("f4")
    out.backward(array(g))
    expected = np.zeros((3, 2), "f4")
    np.add.at(expected, np.array(ids), g)
    close(layer.weight.grad, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([[0, 3]], IndexError, r"Embedding: 3 is outside \[0, 3\)"),
        ([-1], IndexError, r"Embedding: -1 is outside \[0, 3\)"),
        ([0.0], TypeError, "Embedding: expected integers, got float64"),
    ],
)
def test_embedding_refuses_what_is_no_id(ids, error, message):
    with pytest.raises(error, match=message):
        nn.Embedding(3, 2)(ids)


def with_parameters(layer):
    """Return the layer as a function of its input and its parameters."""

    def f(x, weight, bias):
        layer.weight, layer.bias = weight, bias
        return layer(x)

    return f


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("make", [lambda: nn.Linear(4, 4), lambda: nn.LayerNorm(4)])
def test_gradients_of_layers_are_those_of_differences(make, order):
    layer = make()
    inputs = normal(2, 3, 4), normal(*layer.weight.shape, seed=1), normal(4, seed=2)
    assert gradcheck(with_parameters(layer), *inputs, order=order) < 1e-6


def test_dropout_drops_with_probability_p_and_keeps_the_mean():
    x = Tensor(np.ones((400, 500)), dtype="float32")
    y = nn.Dropout(0.3, seed=0)(x)
    values, counts = np.unique(y.numpy(), return_counts=True)
    close(values, [0, 1 / 0.7], rtol=1e-6)
    assert abs(counts[0] / x.size - 0.3) < 4 * math.sqrt(0.3 * 0.7 / x.size)
    g = normal(400, 500).astype("f4")
    y.backward(array(g))  # dL/dx = g y / x
    close(x.grad, g * y.numpy(), rtol=1e-6)


def test_dropout_draws_anew_and_a_seed_repeats_it():
    x = array(np.ones(50))
    first, second = nn.Dropout(0.5, seed=1), nn.Dropout(0.5, seed=1)
    draws = [to_numpy(first(x)) for _ in range(3)]
    assert len({d.tobytes() for d in draws}) == 3
    for d in draws:
        same(second(x), d)
    nn.seed(0)
    one, two = nn.Dropout(0.5)(x), nn.Dropout(0.5)(x)
    assert not np.array_equal(*map(to_numpy, (one, two)))
    nn.seed(0)
    same(nn.Dropout(0.5)(x), one)


def test_dropout_does_nothing_in_evaluation_and_drops_even_infinity():
    layer = nn.Dropout(0.5, seed=0)
    x = Tensor(np.full(20, np.inf))
    assert set(layer(x).numpy()) == {0.0, np.inf}
    assert layer.eval()(x) is x and nn.Dropout(0.0)(x) is x
