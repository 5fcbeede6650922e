"""Modules: where parameters are found, and how they are kept."""

import numpy as np
import pytest
from conftest import array, normal, same

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


def test_parameters_are_found_wherever_they_are_and_each_once():
    model, expected = nested()
    found = dict(model.named_parameters())
    assert found.keys() == expected.keys()
    assert all(found[name] is p for name, p in expected.items())
    assert [id(p) for p in model.parameters()] == [id(p) for p in found.values()]


def test_a_module_says_which_method_it_lacks():
    class Net(nn.Module):
        def forward(self, x):
            return x

    with pytest.raises(NotImplementedError, match="Net: define __call__, which"):
        Net()(1.0)


def test_two_parameters_of_one_name_are_refused():
    model = nn.Module()
    model.layers = {1: Tensor([1.0]), "1": Tensor([2.0])}
    with pytest.raises(ValueError, match=r"named_parameters: two are called layers\.1"):
        model.state_dict()


def test_a_tensor_that_an_op_made_is_refused_as_a_parameter():
    with pytest.raises(ValueError, match=r"w \(2,\) was made by an op, multiply"):
        Holder(w=0.1 * Tensor([1.0, 2.0])).parameters()


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


def test_astype_converts_everything_and_drops_gradients_of_the_old_type():
    layer = nn.Linear(2, 3)
    assert {p.dtype for p in layer.parameters()} == {np.dtype("f4")}
    layer(array(normal(4, 2), "f4")).sum().backward()
    before = layer.weight.numpy()
    assert layer.astype(float) is layer
    same(layer.weight, before.astype(float))
    assert {p.dtype for p in layer.parameters()} == {np.dtype("f8")}
    assert layer.weight.grad is layer.bias.grad is None
    with pytest.raises(TypeError, match="int64 is no float type"):
        layer.astype("int64")
