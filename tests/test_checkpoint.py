"""Files of parameters: what is written comes back to the last bit, or not at all."""

import errno
import io
import os
import pickle
import re
import threading
import zipfile

import numpy as np
import pytest
from conftest import array, normal, same

from minigrad import Tensor, load, nn, optim, save


class Model(nn.Module):
    """A small model with tied weights."""

    def __init__(self, width=2):
        self.table = nn.Embedding(3, width)
        self.layers = [nn.Linear(width, width), nn.LayerNorm(width)]
        self.tied = self.table.weight
        self.scale = Tensor(1.5)

    def __call__(self, ids):
        x = self.table(ids)
        for layer in self.layers:
            x = layer(x)
        return x @ self.tied.T * self.scale


def train(model, optimizer, steps):
    for seed in steps:
        optimizer.zero_grad()
        model([0, 2, 2]).backward(array(normal(3, 3, seed=seed), "f4"))
        optimizer.step()


def assert_unchanged(thing, before):
    for name, x in thing.state_dict().items():
        same(x, before[name])


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


def test_a_file_cut_short_anywhere_is_refused(tmp_path):
    model, path = nn.Linear(2, 1), tmp_path / "m.npz"
    save(path, model)
    before, good = model.state_dict(), path.read_bytes()
    for n in range(len(good)):
        path.write_bytes(good[:n])
        with pytest.raises(
            ValueError, match="m.npz: .*(is damaged|is no .npz archive)"
        ):
            load(path, model)
    assert_unchanged(model, before)


def test_a_byte_inverted_anywhere_is_refused_unless_it_does_no_harm(tmp_path):
    model, path = nn.Linear(2, 1), tmp_path / "m.npz"
    save(path, model)
    saved, good = model.state_dict(), path.read_bytes()
    refused = 0
    for n in range(len(good)):
        path.write_bytes(good[:n] + bytes([good[n] ^ 255]) + good[n + 1 :])
        model.weight.data = array(np.zeros((2, 1)), "f4")
        try:
            load(path, model)
        except ValueError:
            refused += 1
            same(model.weight, np.zeros((2, 1)))
        else:  # a date, say
            assert_unchanged(model, saved)
    assert refused >= 2 * 128 + 12  # all of both entries, headers and numbers


def test_a_damaged_entry_is_named(tmp_path):
    model, path = nn.Linear(2, 1), tmp_path / "m.npz"
    save(path, model)
    content = path.read_bytes()
    numbers = model.bias.numpy().tobytes()
    at = content.index(b"\n" + numbers, content.index(b"bias.npy")) + 1
    path.write_bytes(content[:at] + b"\x01" + content[at + 1 :])
    with pytest.raises(ValueError, match="bias.npy is damaged: Bad CRC-32"):
        load(path, model)


def test_a_file_can_run_nothing(tmp_path):
    model, path = nn.Linear(1, 1, bias=False), tmp_path / "m.npz"
    with open(path, "wb") as file:
        np.savez(file, weight=np.array([[print]], dtype=object))
    with pytest.raises(ValueError, match="weight.npy is damaged: Object arrays"):
        load(path, model)


@pytest.mark.parametrize(
    ("written", "error", "message"),
    [
        (lambda: nn.Linear(2, 3, bias=False), ValueError, r"missing \['bias'\]"),
        (lambda: nn.Linear(3, 3), ValueError, r"'weight' has shape \(3, 3\)"),
        (lambda: nn.Linear(2, 3).astype(float), TypeError, "'weight' is float64"),
        (Model, ValueError, "unknown .*'layers.0.bias', .*'scale', 'table.weight'"),
    ],
)
def test_another_model_is_refused_and_changes_nothing(
    written, error, message, tmp_path
):
    model, path = nn.Linear(2, 3), tmp_path / "m.npz"
    before = model.state_dict()
    save(path, written())
    with pytest.raises(error, match=message):
        load(path, model)
    assert_unchanged(model, before)


def test_the_state_of_another_optimiser_is_refused_and_changes_nothing(tmp_path):
    model, path = nn.Linear(2, 3), tmp_path / "m.npz"
    optimizer = optim.Adam(model.parameters())
    for other in (None, optim.SGD(model.parameters(), 0.1)):
        save(path, model, other)
        before, kept = model.state_dict(), optimizer.state_dict()
        model.weight.data = before["weight"] = array(normal(2, 3), "f4")
        with pytest.raises(ValueError, match=r"missing .*'m.0'"):
            load(path, model, optimizer)
        assert_unchanged(model, before)
        assert_unchanged(optimizer, kept)


def test_a_run_of_another_model_changes_not_even_the_optimiser(tmp_path):
    model, other = nn.Linear(2, 3), nn.Module()
    other.inner = nn.Linear(2, 3)  # the same shapes under other names
    optimizer, trained = (optim.Adam(m.parameters()) for m in (model, other))
    other.inner(array(normal(4, 2), "f4")).sum().backward()
    trained.step()
    save(tmp_path / "m.npz", other, trained)
    before = optimizer.state_dict()
    with pytest.raises(ValueError, match=r"m.npz: .* unknown \['inner.bias', 'inner.w"):
        load(tmp_path / "m.npz", model, optimizer)
    assert_unchanged(optimizer, before)


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    model, path = nn.Linear(2, 3), tmp_path / "m.npz"
    save(path, model)
    before, old = model.state_dict(), path.read_bytes()
    model.bias.data = array(normal(3), "f4")

    def crash(*_, **__):
        raise OSError("no space left")

    for place, name in ((os, "fsync"), (os, "replace"), (np.lib.format, "write_array")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, crash)
            with pytest.raises(OSError, match="no space left"):
                save(path, model)
        assert path.read_bytes() == old and os.listdir(tmp_path) == ["m.npz"]
    load(path, model)
    assert_unchanged(model, before)


def test_a_place_that_cannot_be_written_or_read_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        save(tmp_path / "missing" / "m.npz", nn.Linear(1, 1))
    with pytest.raises(FileNotFoundError, match="m.npz"):
        load(tmp_path / "m.npz", nn.Linear(1, 1))
    with pytest.raises(IsADirectoryError):
        save(tmp_path, nn.Linear(1, 1))
    assert os.listdir(tmp_path) == os.listdir(tmp_path.parent / tmp_path.name) == []


def test_saves_to_one_path_do_not_meet_and_the_last_one_wins(tmp_path, monkeypatch):
    first, second, path = nn.Linear(2, 3), nn.Linear(2, 3), tmp_path / "m.npz"
    fsync = os.fsync

    def save_another(file):  # while the file of the first is written, but not in place
        monkeypatch.setattr(os, "fsync", fsync)
        save(path, second)
        seen = nn.Linear(2, 3)
        load(path, seen)
        assert_unchanged(seen, second.state_dict())

    monkeypatch.setattr(os, "fsync", save_another)
    save(path, first)
    load(path, second)
    assert_unchanged(second, first.state_dict())
    assert os.listdir(tmp_path) == ["m.npz"]


def test_every_load_is_whole_while_several_save(tmp_path):
    path, models = tmp_path / "m.npz", [nn.Module() for _ in range(3)]
    for number, model in enumerate(models):
        model.w = Tensor(np.full(1000, float(number)))
    save(path, models[0])

    def save_often(model):
        for _ in range(20):
            save(path, model)

    threads = [threading.Thread(target=save_often, args=[m]) for m in models]
    for thread in threads:
        thread.start()
    seen = nn.Module()
    seen.w = Tensor(np.zeros(1000))
    while any(thread.is_alive() for thread in threads):
        load(path, seen)
        assert len(set(seen.w.numpy())) == 1
    for thread in threads:
        thread.join()
    assert os.listdir(tmp_path) == ["m.npz"]


def test_a_symbolic_link_keeps_pointing_and_its_target_is_renewed(tmp_path):
    model, target = nn.Linear(2, 3), tmp_path / "runs" / "m.npz"
    target.parent.mkdir()
    (tmp_path / "latest").symlink_to("runs/m.npz")
    (tmp_path / "link").symlink_to("latest")
    for _ in range(2):  # to a target that is missing, then to one that is there
        model.bias.data = array(normal(3), "f4")
        save(tmp_path / "link", model)
        assert os.readlink(tmp_path / "link") == "latest"
        assert os.readlink(tmp_path / "latest") == "runs/m.npz"
        other = nn.Linear(2, 3)
        load(target, other)
        assert_unchanged(other, model.state_dict())
    assert os.listdir(target.parent) == ["m.npz"]


def test_a_file_may_be_read_by_whom_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        save(tmp_path / "m.npz", nn.Linear(1, 1))
    finally:
        os.umask(before)
    assert os.stat(tmp_path / "m.npz").st_mode & 0o777 == 0o640


@pytest.mark.parametrize("place", ["write", "fsync", "replace"])
def test_a_full_disk_names_the_file_and_leaves_the_old_one(
    place, tmp_path, monkeypatch
):
    model, path = nn.Linear(2, 3), tmp_path / "m.npz"
    save(path, model)
    old = path.read_bytes()

    def full(*_, **__):  # as the system says it, without a name
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if place == "write":
            patch.setattr(zipfile.ZipFile, "open", full)
        else:
            patch.setattr(os, place, full)
        with pytest.raises(
            OSError, match=f"No space left on device: '{path}'"
        ) as found:
            save(path, model)
    assert found.value.errno == errno.ENOSPC and found.value.filename == str(path)
    assert path.read_bytes() == old and os.listdir(tmp_path) == ["m.npz"]


def test_a_save_that_is_interrupted_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "m.npz", nn.Linear(1, 1))
    assert os.listdir(tmp_path) == []


def zipped(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


OTHERS = {  # files of other programs, and what is said about them
    "PyTorch": (
        lambda: zipped(**{"m__data.pkl": b"\x80\x02}q.", "m__data__0": b"1234"}),
        "is PyTorch's; load it there",
    ),
    "pickle": (lambda: pickle.dumps({"weight": 1}), "is no .npz archive"),
    "npy": (lambda: npy(np.ones(3)), "is no .npz archive"),
    "text": (lambda: b"weight,bias\n1,2\n", "is no .npz archive"),
    "one letter": (lambda: b"x", "is no .npz archive"),
    "numbers": (lambda: np.arange(9.0).tobytes(), "is no .npz archive"),
    "zipped text": (lambda: zipped(readme=b"words"), "readme is damaged"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_of_another_program_is_refused_by_what_it_is(kind, tmp_path):
    model, path = nn.Linear(2, 3), tmp_path / "file"
    content, message = OTHERS[kind]
    before = model.state_dict()
    path.write_bytes(content())
    start = f"load: {path}: {message}"
    with pytest.raises(ValueError, match=f"^{re.escape(start)}"):
        load(path, model)
    assert_unchanged(model, before)


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


def test_the_state_of_an_optimiser_that_does_not_fit_names_the_file(tmp_path):
    model, path = nn.Linear(2, 3), tmp_path / "m.npz"
    save(path, model)
    before = model.state_dict()
    message = f"load: {path}: optimizer: names differ: missing ['m.0'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        load(path, model, optim.Adam(model.parameters()))
    assert_unchanged(model, before)


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
