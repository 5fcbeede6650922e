"""Files of parameters: what is written comes back to the last bit, or not at all."""

import io
import os

import numpy as np
import pytest
from conftest import array, normal, same
from tied_model import Model, assert_unchanged, train

from minigrad import Tensor, load, nn, optim, save


def test_a_model_comes_back_to_the_last_bit_and_tied(tmp_path):
    model, other = Model(), Model()
    save(tmp_path / "m.npz", model)
    load(tmp_path / "m.npz", other)
    assert_unchanged(other, model.state_dict())
    assert other.tied is other.table.weight
    with np.load(tmp_path / "m.npz") as archive:  # numpy can read it too
        assert list(archive) == list(model.state_dict())
        same(archive["layers.0.weight"], model.layers[0].weight)


@pytest.mark.parametrize(
    "make", [optim.AdamW, lambda p: optim.SGD(p, 0.1, momentum=0.9)]
)
def test_a_resumed_run_continues_to_the_last_bit(make, tmp_path):
    path, (model, resumed) = str(tmp_path / "run.npz"), (Model(), Model())
    optimizer, resumed_optimizer = make(model.parameters()), make(resumed.parameters())
    train(model, optimizer, range(4))
    save(path, model, optimizer)
    train(model, optimizer, range(4, 8))
    load(path, resumed, resumed_optimizer)
    train(resumed, resumed_optimizer, range(4, 8))
    assert_unchanged(resumed, model.state_dict())
    load(path, resumed)  # without the state of the optimiser
    assert resumed.state_dict().keys() == model.state_dict().keys()


def test_equal_states_make_equal_files_and_any_name_is_allowed(tmp_path, monkeypatch):
    model = nn.Module()
    vars(model).update({"file": Tensor([1.0]), "allow_pickle": Tensor([2.0])})
    for name, now in (("a", 1e9), ("b", 2e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        save(tmp_path / name, model)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    model.file.data = array([9.0])
    load(tmp_path / "a", model)
    same(model.file, [1.0])


def test_a_place_that_cannot_be_written_or_read_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        save(tmp_path / "missing" / "m.npz", nn.Linear(1, 1))
    with pytest.raises(FileNotFoundError, match="m.npz"):
        load(tmp_path / "m.npz", nn.Linear(1, 1))
    with pytest.raises(IsADirectoryError):
        save(tmp_path, nn.Linear(1, 1))
    assert os.listdir(tmp_path) == os.listdir(tmp_path.parent / tmp_path.name) == []


def test_what_numpy_writes_can_be_loaded_compressed_too(tmp_path):
    for write in (np.savez, np.savez_compressed):
        model, weight = nn.Linear(2, 3, bias=False), normal(2, 3).astype("f4")
        write(tmp_path / "m.npz", weight=weight)
        load(tmp_path / "m.npz", model)
        same(model.weight, weight)


def test_a_model_without_parameters_has_an_empty_file(tmp_path):
    save(tmp_path / "m.npz", nn.Module())
    load(tmp_path / "m.npz", nn.Module())
    with pytest.raises(ValueError, match=r"m.npz: names differ: missing \['bias'"):
        load(tmp_path / "m.npz", nn.Linear(1, 1))


@pytest.mark.parametrize("path", [None, 3, 1.5, [], io.BytesIO(), "a\0b"])
def test_what_is_no_path_is_refused(path):
    for call in (save, load):
        with pytest.raises((TypeError, ValueError), match=f"^{call.__name__}: "):
            call(path, nn.Linear(1, 1))


@pytest.mark.parametrize(
    "x", [None, "text", [], Tensor([1.0]), nn.Linear, {"w": [1.0]}]
)
def test_what_has_no_state_is_refused_and_nothing_is_written(x, tmp_path):
    path, model = tmp_path / "m.npz", nn.Linear(1, 1)
    for call in (save, load):
        with pytest.raises(
            TypeError, match=f"^{call.__name__}: module .* has no state_dict"
        ):
            call(path, x)
        if x is not None:
            message = f"^{call.__name__}: optimizer .* has no state_dict"
            with pytest.raises(TypeError, match=message):
                call(path, model, x)
    assert os.listdir(tmp_path) == []
