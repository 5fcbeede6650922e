"""Where a module looks for its parameters: found wherever they are, each once, or refused."""

import logging
import types
from collections import UserList, deque, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import array, normal
from holders import Holder, nested

from minigrad import Tensor, nn, optim


def test_parameters_are_found_wherever_they_are_and_each_once():
    model, expected = nested()
    found = dict(model.named_parameters())
    assert found.keys() == expected.keys()
    assert all(found[name] is p for name, p in expected.items())
    assert [id(p) for p in model.parameters()] == [id(p) for p in found.values()]


@dataclass
class Pair:
    first: object
    second: object = None


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    def method(self):
        pass


def object_array(x):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 1] = x
    return cells


def has_default(x):
    def f(y, x=x):
        return x

    return f


PLACES = {  # where no Module looks
    "set": lambda x: {x},
    "frozenset": lambda x: frozenset([x]),
    "deque": lambda x: deque([x]),
    "list of sets": lambda x: [1, {x}],
    "UserList": lambda x: UserList([x]),
    "dataclass": lambda x: Pair(1.0, [x]),
    "dataclasses in a list": lambda x: [Pair(1.0), Pair(x)],
    "namespace": lambda x: types.SimpleNamespace(x=x),
    "object array": object_array,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("make", [lambda: Tensor([1.0]), lambda: nn.Dropout(0.5)])
def test_a_parameter_or_layer_where_no_module_looks_is_refused(place, make):
    x = make()
    model = Holder(inner=[Holder(a=1, x=PLACES[place](x))])
    message = (
        r"Holder: inner\.0\.x\S* holds a Tensor or Module that is not found; a Mod"
    )
    for call in (model.parameters, model.state_dict, model.zero_grad, model.eval):
        with pytest.raises(ValueError, match=message):
            call()
    assert model.training and model.inner[0].training
    model.found = [x]  # where it is found too
    assert model.parameters() == [x] * isinstance(x, Tensor)


def test_parameters_and_slots_of_a_class_are_refused():
    class Shared(nn.Module):
        w = Tensor([1.0])

    class Layers(nn.Module):
        layers = (nn.Linear(1, 1),)

    class Mixin:
        w = Tensor([1.0])

    class Mixed(Mixin, nn.Module):
        pass

    class Slots(nn.Module):
        __slots__ = ("w",)

        def __init__(self):
            self.w = Tensor([1.0])

    for model, message in [
        (Shared(), r"Shared: (inner\.)?w holds"),
        (Layers(), r"Layers: layers holds"),
        (Mixed(), r"Mixed: w holds"),
        (Slots(), r"Slots: w holds"),
        (Holder(inner=Shared()), r"Holder: (inner\.)?w holds"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.parameters()


def test_what_leads_to_no_parameter_of_another_is_no_fault():
    layer = nn.Linear(2, 2)
    result = layer(array(normal(1, 2)))
    model = Holder(
        layer=layer,
        point=namedtuple("Point", "x y")(layer, nn.Linear(1, 1)),
        call=lambda x: layer(x),
        cache=Pair(result),  # an op made it
        log=logging.getLogger("minigrad"),
        rng=np.random.default_rng(0),
        kind=nn.Linear,
        values=np.ones(3),
    )
    model.optimizer = optim.SGD(model.parameters(), 0.1)
    model.owner = Pair(model)
    names = [name for name, _ in model.named_parameters()]
    assert names == ["layer.weight", "layer.bias", "point.1.weight", "point.1.bias"]


def test_a_thousand_modules_within_each_other_are_walked():
    model = Holder(w=Tensor([1.0]))
    for _ in range(2000):
        model = Holder(inner=model)
    assert len(model.parameters()) == 1


def test_two_parameters_of_one_name_are_refused():
    model = nn.Module()
    model.layers = {1: Tensor([1.0]), "1": Tensor([2.0])}
    with pytest.raises(ValueError, match=r"named_parameters: two are called layers\.1"):
        model.state_dict()


def test_a_tensor_that_an_op_made_is_refused_as_a_parameter():
    message = r"w \(2,\) was made by an op, multiply, .* keep its values, a.detach\(\)"
    model = Holder(w=0.1 * Tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match=message):
        model.parameters()
    model.w = model.w.detach()
    assert model.parameters() == []
