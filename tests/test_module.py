"""Modules: how their parameters are kept, copied and converted."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import array, close, normal, same
from holders import Holder, nested

from minigrad import Tensor, nn


@dataclass
class Line(nn.Module):
    """A dataclass may be a Module; its attributes are on self."""

    slope: Tensor
    start: Tensor


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_is_apart_and_keeps_tied_weights_tied(copied):
    model = Holder(table=nn.Embedding(3, 2), line=Line(Tensor([1.0]), Tensor([2.0])))
    model.tied, model.dropout = model.table.weight, nn.Dropout(0.5, seed=0)
    twin = copied(model)
    assert twin.tied is twin.table.weight is not model.tied
    assert list(dict(twin.named_parameters())) == list(model.state_dict())
    for name, x in twin.state_dict().items():
        same(x, model.state_dict()[name])
    twin.line.slope.data = array([3.0])
    same(model.line.slope, [1.0])
    x = array(np.ones(9))
    same(twin.dropout(x), model.dropout(x))


def test_zero_grad_forgets_every_gradient():
    model = Holder(layers=[nn.Linear(2, 2), nn.LayerNorm(2)])
    model.layers[1](model.layers[0](array(normal(3, 2), "f4"))).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    model.zero_grad()
    assert all(p.grad is None for p in model.parameters())


def test_a_module_says_which_method_it_lacks():
    class Net(nn.Module):
        def forward(self, x):
            return x

    with pytest.raises(NotImplementedError, match="Net: define __call__, which"):
        Net()(1.0)


@pytest.mark.parametrize("mode", ["no", None, 0, [True], np.zeros(2)])
def test_a_mode_is_true_or_false(mode):
    model = Holder()
    with pytest.raises(TypeError, match=r"Holder\.train: mode .* is not True or False"):
        model.train(mode)
    assert model.training is True


def test_train_and_eval_reach_every_module():
    inner = [Holder(), Holder()]
    model = Holder(first=inner[0], rest={"second": (inner[1],)})
    assert model.eval() is model
    assert [m.training for m in (model, *inner)] == [False] * 3
    inner[0].train()
    assert [m.training for m in (model, *inner)] == [False, True, False]
    assert model.train() is model
    assert [m.training for m in (model, *inner)] == [True] * 3


def test_a_state_is_a_copy_and_restores_what_it_was():
    model, parameters = nested()
    state = model.state_dict()
    assert {name: x.item() for name, x in state.items()} == {
        name: p.item() for name, p in parameters.items()
    }
    state["a"][:] = 9.0
    assert model.a.item() == 0.0
    model.load_state_dict(state)
    assert model.a is model.parts[0].again is parameters["a"]  # still tied
    state["a"][:] = 8.0
    assert model.a.item() == 9.0


SHAPES = {"w": (2, 3), "b": (3,)}


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        ({"w": (2, 3)}, ValueError, r"missing \['b'\], unknown \[\]"),
        (SHAPES | {"v": (1,)}, ValueError, r"missing \[\], unknown \['v'\]"),
        (SHAPES | {"b": (1,)}, ValueError, r"'b' has shape \(1,\), where \(3,\)"),
        (SHAPES | {"b": "f4"}, TypeError, "'b' is float32, where float64"),
        (SHAPES | {0: (1,)}, ValueError, r"missing \[\], unknown \[0\]"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(
    state, error, message
):
    model = Holder(w=Tensor(normal(2, 3)), b=Tensor(normal(3)))
    before = model.state_dict()
    state = {
        name: np.ones(3, what) if what == "f4" else np.ones(what)
        for name, what in state.items()
    }
    with pytest.raises(error, match=message):
        model.load_state_dict(state)
    for name, p in model.named_parameters():
        same(p, before[name])


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([[1.0], [2.0, 3.0]], ValueError, "'w': .* inhomogeneous"),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), TypeError, "'w': a masked array"),
        (np.array([1j, 2j]), TypeError, "'w': expected real numbers, got complex128"),
        (np.array([1.0, None]), TypeError, "'w': expected real numbers, got object"),
        ("text", TypeError, "'w': expected real numbers, got <U4"),
        (None, TypeError, "'w': expected real numbers, got object"),
        (np.ones(2, int), TypeError, "'w' is int64, where float64 is needed"),
    ],
)
def test_values_that_are_no_floats_are_refused_and_change_nothing(
    values, error, message
):
    model = Holder(a=Tensor([5.0]), w=Tensor([6.0, 7.0]))
    with pytest.raises(error, match=f"load_state_dict: {message}"):
        model.load_state_dict({"a": np.ones(1), "w": values})
    same(model.a, [5.0])
    same(model.w, [6.0, 7.0])


@pytest.mark.parametrize("state", [None, "text", [1.0], 3, np.ones(2)])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(
        TypeError, match="load_state_dict: .* is no dict, as state_dict"
    ):
        Holder(w=Tensor([1.0])).load_state_dict(state)


def test_a_state_may_hold_lists_and_tensors():
    model = Holder(w=Tensor([1.0]), b=Tensor([2.0]))
    source = Tensor([4.0])
    model.load_state_dict({"b": source, "w": [3.0]})
    same(model.w, [3.0])
    same(model.b, [4.0])
    source.data[:] = 0.0
    same(model.b, [4.0])


def test_a_square_weight_of_pytorch_is_right_when_transposed():
    theirs, x = normal(3, 3), normal(5, 3)  # (out, in): y = x Wᵀ
    layer = nn.Linear(3, 3, bias=False).astype(float)
    layer.load_state_dict({"weight": theirs.T})
    close(layer(array(x)), x @ theirs.T)


def test_astype_converts_everything_and_drops_gradients_of_the_old_type():
    layer = nn.Linear(2, 3)
    assert {p.dtype for p in layer.parameters()} == {np.dtype("f4")}
    layer(array(normal(4, 2), "f4")).sum().backward()
    before = layer.weight.numpy()
    assert layer.astype(float) is layer
    same(layer.weight, before.astype(float))
    assert {p.dtype for p in layer.parameters()} == {np.dtype("f8")}
    assert layer.weight.grad is layer.bias.grad is None
    for dtype, message in [("int64", "int64 is no float type"), ("text", "'text'")]:
        with pytest.raises(TypeError, match=f"astype: .*{message}"):
            layer.astype(dtype)
        assert layer.weight.dtype == float
