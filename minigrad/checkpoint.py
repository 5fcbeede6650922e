"""Parameters in a file: .npz, a zip archive of arrays that numpy.load reads too.

No pickle: a file that is loaded can hold numbers only, and run nothing.
"""

import io
import os
import secrets
import zipfile

import numpy

from .checks import optional, same_state, stateful, takes, unreadable

OPTIMIZER = "optimizer:"  # in front of its names; no attribute has a colon


@takes(module=stateful, optimizer=optional(stateful))
def save(path, module, optimizer=None):
    """Write the parameters of a Module, and the state of its optimiser, to a file.

    A file beside it is written first, one of this call's own, and then takes its place
    in one step. So a crash, or another process that saves there, leaves a whole file,
    the old or a new one. What a symbolic link points to is renewed. Equal states make
    equal files.

    Raises: OSError when the folder is missing or cannot be written to, or the disk is
    full; try before a long training, not after.
    """
    path = os.path.realpath(os.fsdecode(path))
    unfinished = f"{path}.{secrets.token_hex(8)}.tmp"
    arrays = module.state_dict()
    if optimizer is not None:
        arrays |= {OPTIMIZER + name: x for name, x in optimizer.state_dict().items()}
    try:
        with open(unfinished, "xb") as file:
            # as numpy.savez, which takes no array called `file`, and writes the date
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays.items():
                    entry = zipfile.ZipInfo(f"{name}.npy")
                    with archive.open(entry, "w", force_zip64=True) as numbers:
                        numpy.lib.format.write_array(numbers, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())  # on the disk before the old file goes
        os.replace(unfinished, path)
    except OSError as error:  # which may not name the file, or only the unfinished one
        raise OSError(error.errno, error.strerror or str(error), path) from error
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


@takes(module=stateful, optimizer=optional(stateful))
def load(path, module, optimizer=None):
    """Set the parameters of a Module, and the state of its optimiser, from a file.

    `save` wrote the file. A state of an optimiser that is not asked for is passed over.

    Raises: ValueError naming file and entry when the file is damaged or of another
    kind, or names or shapes differ, TypeError when dtypes do; then nothing has changed.
    """
    state, optimizer_state = read(os.fsdecode(path)), {}
    for name in [name for name in state if name.startswith(OPTIMIZER)]:
        optimizer_state[name.removeprefix(OPTIMIZER)] = state.pop(name)
    same_state(f"load: {path}", module.state_dict(), state)
    if optimizer is not None:
        own = optimizer.state_dict()
        same_state(f"load: {path}: optimizer", own, optimizer_state)
        optimizer.load_state_dict(optimizer_state)
    module.load_state_dict(state)  # last, for it was checked and cannot fail


def read(path):
    """Return {name: array} of a file, every entry checked against its checksum."""
    state, entry = {}, None
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.namelist():
                    data = io.BytesIO(archive.read(entry))
                    name = entry.removesuffix(".npy")
                    state[name] = numpy.lib.format.read_array(data, allow_pickle=False)
        except Exception as error:  # damaged bytes make zipfile raise almost anything
            raise unreadable(path, entry, error) from error
    return state
