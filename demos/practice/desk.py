"""Check a learner's file, or give a hint: what `python practice/softmax.py` does."""

import argparse
import builtins
import sys
import textwrap
from pathlib import Path

from ..stage.files import read, until_closed
from ..stage.words import WIDTH
from .blank import Verdict
from .blanks import BLANKS
from .checking import check, unknown
from .source import cut
from .trial import spot
from .undone import undone


def main(name, namespace):
    """Check the function in the names of a file that is being run, or give a hint.

    Leaves with exit code 0 if the answer is right, 1 if not, and 2 for a wrong command.
    """
    parser = argparse.ArgumentParser(
        f"python {name}.py",
        description="Check what is written here, or ask for a hint.",
    )
    parser.add_argument(
        "--hint", type=int, choices=[1, 2, 3], help="3 says most, and not all"
    )
    options = parser.parse_args()
    if options.hint:
        print(BLANKS[name].hints.split("\n\n")[options.hint - 1])
        sys.exit(0)
    finish(lambda: checked(name, namespace))


def finish(judge):
    """Print a verdict and leave."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Greek letters
    try:
        verdict = judge()
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(130)
    with until_closed():
        for line in verdict.message.split("\n"):
            print(textwrap.fill(line, WIDTH, subsequent_indent="    "))
    sys.exit(0 if verdict.right else 1)


def checked(name, namespace):
    """Return the verdict on the function in the names of a file.

    It stands in for one of the source, so it may use what stands beside that; but not in
    the place of Python's own, such as `sum`.
    """
    function = cut(BLANKS[name]).name
    if not callable(namespace.get(function)):
        text = f"{name}: there is no function `{function}` in the file"
        return Verdict(False, "missing", text)
    for key, value in vars(BLANKS[name].module).items():
        if not hasattr(builtins, key):
            namespace.setdefault(key, value)
    return check(name, namespace[function])


def check_file(path):
    """Return the verdict on a file that is not being run, and so may not even parse.

    Raises: KeyError when the file is not named as a blank is, OSError or ValueError when
    it cannot be read.
    """
    path = Path(path)
    name = path.stem
    if name not in BLANKS:
        raise KeyError(unknown(name))
    text = read(path)
    namespace = {"__name__": name, "__file__": str(path)}
    with undone():
        try:
            exec(compile(text, str(path), "exec"), namespace)  # noqa: S102  for this
        except SyntaxError as error:
            line = f"{path.name}, line {error.lineno}: {error.msg}"
            return Verdict(False, "syntax", f"{name}: it does not parse: {line}")
        except (Exception, SystemExit) as error:  # noqa: BLE001  a learner's code
            return Verdict(False, "raises", f"{name}: {spot(error, str(path))}")
        return checked(name, namespace)
