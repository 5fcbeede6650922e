"""What a disk and other programs do to a file while it is written: it stays whole."""

import errno
import os
import threading
import zipfile

import numpy as np
import pytest
from conftest import array, normal
from tied_model import assert_unchanged

from minigrad import Tensor, load, nn, save


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
