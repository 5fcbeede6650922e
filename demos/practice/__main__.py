"""`python -m demos.practice`: list the blanks, write one into a file, check a file."""

import argparse
import sys
from pathlib import Path

from ..stage.files import make_writable, until_closed
from . import BLANKS
from .checking import unknown
from .desk import check_file, finish
from .sheet import sheet


def main():
    """Do what the command line asks for; leave with exit code 2 if it is wrong."""
    parser = argparse.ArgumentParser(
        "python -m demos.practice",
        description="Functions of this source to write again, that check themselves.",
    )
    option = parser.add_argument
    option(
        "name",
        nargs="?",
        metavar="NAME",
        help="the blank to write a file for (default: list them), or a file to check",
    )
    option(
        "--out",
        default="practice",
        metavar="DIR",
        help="folder for the file; made if need be (default: %(default)s)",
    )
    options = parser.parse_args()
    if not options.out:
        parser.exit(2, "practice: --out is empty; give the name of a folder\n")
    name = options.name
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Greek letters
    if name is None:
        with until_closed():
            print(listing())
    elif name.endswith(".py"):
        try:
            finish(lambda: check_file(name))
        except (KeyError, OSError, ValueError) as error:
            parser.exit(2, f"practice: {error.args[0]}\n")
    elif name not in BLANKS:
        parser.exit(2, f"{unknown(name)}\n\n{listing()}\n")
    else:
        try:
            print(written(name, Path(options.out)))
        except OSError as error:
            parser.exit(2, f"practice: {error}\n")


def written(name, folder):
    """Write the file of a blank into a folder, and return what to do with it.

    Raises: OSError when it cannot be written, FileExistsError when it is there already.
    """
    path = folder / f"{name}.py"
    try:
        make_writable(folder)
        with open(path, "x", encoding="utf-8") as file:
            file.write(sheet(BLANKS[name]))
    except FileExistsError as error:
        text = f"{path} is there already and stays as it is; --out DIR is for another"
        raise FileExistsError(text) from error
    return f"{path} is yours to fill in; `python {path}` checks it"


def listing():
    """Return the table of blanks as text."""
    width = max(map(len, BLANKS))
    lines = [
        f"  {b.name:{width}}  {b.minutes:3} min  {b.teaches}" for b in BLANKS.values()
    ]
    head = "Blanks, from a warm-up to the whole idea, and what each teaches:"
    foot = (
        "`python -m demos.practice NAME` writes practice/NAME.py, which checks itself."
    )
    return "\n".join([head, "", *lines, "", foot])


if __name__ == "__main__":
    main()
