"""The layers: values, gradients, first weights, float types."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, same

import minigrad as mg
from minigrad import Tensor, center, gradcheck, nn, no_grad, rms_norm
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
