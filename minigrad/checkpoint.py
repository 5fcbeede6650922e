"""Parameters in a file: .npz, a zip archive of arrays that numpy.load reads too.

No pickle: a file that is loaded can hold numbers only, and run nothing.
"""

import io
import os
import zipfile

import numpy

from .module import check_state

OPTIMIZER = "optimizer:"  # in front of its names; no attribute has a colon


def save(path, module, optimizer=None):
    """Write the parameters of a Module, and the state of its optimiser, to a file.

    The file is written beside `path` and then takes its place in one step, so a crash
    leaves the old one or the new one, never half of one. Equal states make equal files.

    Raises: OSError when the folder is missing or cannot be written to; try before a
    long training, not after.
    """
    path = os.fspath(path)
    unfinished = path + ".tmp"
    try:
        with open(unfinished, "wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in states(module, optimizer).items():
                    entry = io.BytesIO()
                    numpy.lib.format.write_array(entry, array, allow_pickle=False)
                    archive.writestr(zipfile.ZipInfo(name + ".npy"), entry.getvalue())
            file.flush()
            os.fsync(file.fileno())  # on the disk before the old file goes
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def load(path, module, optimizer=None):
    """Set the parameters of a Module, and the state of its optimiser, from a file.

    `save` wrote the file. A state of an optimiser that is not asked for is passed over.

    Raises: ValueError naming the entry when the file is damaged, or names or shapes
    differ, TypeError when dtypes do; then nothing has changed.
    """
    state, optimizer_state = read(path), {}
    for name in [name for name in state if name.startswith(OPTIMIZER)]:
        optimizer_state[name.removeprefix(OPTIMIZER)] = state.pop(name)
    check_state(f"load: {path}", module.state_dict(), state)
    if optimizer is not None:
        optimizer.load_state_dict(optimizer_state)
    module.load_state_dict(state)  # last, for it was checked and cannot fail


def states(module, optimizer):
    """Return the states of both in one dict."""
    state = module.state_dict()
    if optimizer is not None:
        for name, array in optimizer.state_dict().items():
            state[OPTIMIZER + name] = array
    return state


def read(path):
    """Return {name: array} of a file, every entry checked against its checksum."""
    state = {}
    entry = "the archive"
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.namelist():
                    data = io.BytesIO(archive.read(entry))
                    name = entry.removesuffix(".npy")
                    state[name] = numpy.lib.format.read_array(data, allow_pickle=False)
        except Exception as error:  # damaged bytes make zipfile raise almost anything
            raise ValueError(f"load: {path}: {entry} is damaged: {error}") from error
    return state
