"""What a layer is given: float types stay, lists are arrays, and the rest is refused."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same

from minigrad import Tensor, nn, no_grad
from minigrad.backend import to_numpy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Dropout(1.0), r"Dropout: p 1.0 is not in \[0, 1\)"),
        (
            lambda: nn.Linear(0, 3),
            "Linear: d_in 0 is not at least 1",
        ),
        (lambda: nn.Embedding(3, -1), "Embedding: d -1 is not"),
        (
            lambda: nn.LayerNorm(4)(array(normal(2, 3))),
            r"LayerNorm: .*x \(2, 3\) must be \(…, 4\)",
        ),
        (lambda: nn.Linear(4, 2)(array(normal(2, 3))), "inner sizes 3 and 4 differ"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_layers_keep_the_float_type_and_run_on_plain_arrays(dtype):
    layers = [nn.Linear(4, 4), nn.LayerNorm(4), nn.Dropout(0.5, seed=0).eval()]
    x = normal(3, 4).astype(dtype)
    for layer in layers:
        tracked = layer(Tensor(x))
        with no_grad():
            plain = layer(array(x))
        assert type(plain) is not Tensor and plain.dtype == tracked.dtype == dtype
        same(plain, tracked)
    with no_grad():
        assert type(nn.Embedding(3, 2)([0])) is not Tensor


def test_lists_are_arrays_as_in_numpy():
    r = 0.5 / math.sqrt(0.25 + 1e-5)  # a row (1, 2) less its mean, over its size
    close(nn.LayerNorm(2)([[1.0, 2.0], [4, 3]]), [[-r, r], [r, -r]], rtol=1e-7)
    layer = nn.Linear(2, 3)
    w = layer.weight.numpy()
    close(layer([[1, 2], [3, 4]]), [w[0] + 2 * w[1], 3 * w[0] + 4 * w[1]], rtol=1e-6)
    close(layer([1.0, 2.0]), w[0] + 2.0 * w[1], rtol=1e-6)
    dropped = nn.Dropout(0.5, seed=0)([1.0] * 20)
    assert {*to_numpy(dropped).tolist()} == {0.0, 2.0} and dropped.dtype == float
    same(nn.Dropout(0.5, seed=0)(3.0), nn.Dropout(0.5, seed=0)(np.float64(3.0)))
    same(nn.Dropout(0.5).eval()([1.0, 2.0]), [1.0, 2.0])
    table = nn.Embedding(3, 2)
    same(table([]), np.zeros((0, 2)))
    same(table((2, 0)), table.weight.numpy()[[2, 0]])


@pytest.mark.parametrize("low", ["f2", "f4"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.LayerNorm(4, eps=np.float64(1e-5)),
        lambda: nn.Linear(np.int64(4), 4),
        lambda: nn.Dropout(np.float64(0.5), seed=np.int64(0)),
    ],
)
def test_no_number_of_a_layer_makes_its_floats_wider(make, low):
    x = array(normal(3, 4), low)
    layer = make().astype(low)
    assert layer(Tensor(x)).dtype == layer(x).dtype == low


def test_float16_beside_parameters_of_float32_gives_float32():
    x = array(normal(3, 4), "f2")
    assert nn.LayerNorm(4)(x).dtype == nn.Linear(4, 4)(Tensor(x)).dtype == "f4"


WRONG = [None, "text", [[1.0], [2.0, 3.0]], [1j, 2j], [None, 1.0], {}, object()]
MASKED = np.ma.masked_array([[1.0, 2.0]], [[0, 1]])


@pytest.mark.parametrize("x", [*WRONG, MASKED])
@pytest.mark.parametrize(
    "make", [lambda: nn.Linear(2, 3), lambda: nn.LayerNorm(2), lambda: nn.Dropout(0.5)]
)
def test_what_is_no_array_of_real_numbers_is_refused_by_the_layer(make, x):
    layer = make()
    with pytest.raises((TypeError, ValueError), match=f"^{type(layer).__name__}: "):
        layer(x)


@pytest.mark.parametrize("ids", [*WRONG, 1.0, True, Tensor([1.0])])
def test_what_is_no_array_of_integers_is_refused_by_an_embedding(ids):
    with pytest.raises((TypeError, ValueError), match="^Embedding: "):
        nn.Embedding(3, 2)(ids)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: nn.LayerNorm(4, eps=x), "LayerNorm: eps "),
        (lambda x: nn.LayerNorm(x), "LayerNorm: d "),
        (lambda x: nn.Linear(3, x), "Linear: d_out "),
        (lambda x: nn.Linear(x, 3), "Linear: d_in "),
        (lambda x: nn.Embedding(x, 3), "Embedding: n "),
        (lambda x: nn.Dropout(x), "Dropout: p "),
        (lambda x: nn.Dropout(0.5, seed=x or "0"), "Dropout: seed "),
        (lambda x: nn.Linear(1, 1, bias=x), "Linear: bias "),
        (lambda x: nn.LayerNorm(1, bias=x), "LayerNorm: bias "),
        (lambda x: nn.seed(x), "seed: n "),
        (lambda x: nn.normal((2,), x), "normal: std "),
    ],
)
@pytest.mark.parametrize("x", [-1, math.nan, None, "a", [1, 2], 1j, -2.5])
def test_sizes_and_numbers_that_make_no_sense_are_refused(make, message, x):
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        make(x)
