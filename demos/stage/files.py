"""Files: a text that is read, a folder that can be written to, a pipe that closes."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path


@contextlib.contextmanager
def until_closed():
    """End the block without an error if whoever reads what it prints has seen enough,
    such as `head`, or nobody was there to begin with; on a full disk with one line."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            sys.exit(f"{error}")


def read(path):
    """Return the text in a file, UTF-8 with or without a byte-order mark; however its
    lines end, they end in "\\n" here.

    Raises: OSError when it cannot be read, ValueError for bytes that are no text."""
    try:
        characters = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OSError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text in UTF-8: {error}") from error
    if "\0" in characters:
        raise ValueError(f"{path} is not text in UTF-8: it has a byte 0")
    return characters


def make_writable(folder):
    """Create the folder if need be; raise OSError unless files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(f"cannot write to {folder}: {error.strerror}") from error
