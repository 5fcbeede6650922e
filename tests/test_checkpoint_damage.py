"""Files that are damaged, of another program, or of another model: refused, named, and
nothing has changed."""

import io
import pickle
import re
import zipfile

import numpy as np
import pytest
from conftest import array, normal, same
from tied_model import Model, assert_unchanged

from minigrad import load, nn, optim, save


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


def test_the_state_of_an_optimiser_that_does_not_fit_names_the_file(tmp_path):
    model, path = nn.Linear(2, 3), tmp_path / "m.npz"
    save(path, model)
    before = model.state_dict()
    message = f"load: {path}: optimizer: names differ: missing ['m.0'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        load(path, model, optim.Adam(model.parameters()))
    assert_unchanged(model, before)
