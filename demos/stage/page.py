"""What a demo shows goes through a Page: to the terminal, into picture files, and, kept
in `items`, into the report.

    def demo(page):
        page.say("A paragraph.")
        page.table(["T", "entropy"], [[0.1, 0.52], [1.0, 1.37]])
        page.picture(figure, "sweep")                       # writes out/sweep.png
        page.claim("A4", "Sharper scores ...", r"$1 - \\alpha_{max} \\leq ...$",
                   "0.02 of at most 0.03", gap <= bound, softmax)
"""

import dataclasses
import itertools
import textwrap
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from .words import WIDTH, number

NARROW = 12  # characters that no column is cut below


@dataclasses.dataclass
class Claim:
    """One row of the chapter's claims, with what this run measured."""

    number: str  # such as "A4"
    sentence: str  # the claim in words
    formula: str  # in matplotlib's mathtext
    measured: str  # the numbers of this run, with units
    holds: bool
    source: Any  # the function or class that delivers it


@dataclasses.dataclass
class Table:
    """Rows of text under column titles; `numeric` says which columns hold numbers."""

    columns: list
    rows: list
    numeric: list


@dataclasses.dataclass
class Picture:
    """A figure and the file that it was written to."""

    path: Path
    figure: Any


class Page:
    """The output of one demo; pictures go to the folder `out`, which must exist."""

    def __init__(self, out):
        self.out = Path(out)
        self.items = []  # in order: str, Table, Picture, Claim

    def say(self, text):
        """Print a paragraph."""
        text = " ".join(text.split())
        print(textwrap.fill(text, WIDTH), end="\n\n", flush=True)
        self.items.append(text)

    def table(self, columns, rows):
        """Print rows under column titles, numbers to four digits."""
        rows = [list(row) for row in rows]
        numeric = [
            all(isinstance(x, (int, float, np.number)) for x in column)
            for _, *column in zip(columns, *rows, strict=True)
        ]
        cells = [list(map(cell, row)) for row in rows]
        lines = [list(columns), *cells]
        widths = narrowed(
            [max(map(len, column)) for column in zip(*lines, strict=True)]
        )
        for line in lines:
            wrapped = [
                textwrap.wrap(x, width) if len(x) > width else [x]
                for x, width in zip(line, widths, strict=True)
            ]
            for pieces in itertools.zip_longest(*wrapped, fillvalue=""):
                padded = [
                    x.rjust(width) if right else x.ljust(width)
                    for x, width, right in zip(pieces, widths, numeric, strict=True)
                ]
                print("  ".join(padded).rstrip())
        print()
        self.items.append(Table(list(columns), cells, numeric))

    def picture(self, figure, name):
        """Write a figure to out/name.png and close it."""
        path = self.out / f"{name}.png"
        figure.savefig(path)
        figure.set_layout_engine("none")  # whoever draws it again finds it laid out
        plt.close(figure)
        print(f"wrote {path}\n", flush=True)
        self.items.append(Picture(path, figure))

    def claim(self, number, sentence, formula, measured, holds, source):
        """Print whether a claim holds, by what this run measured."""
        claim = Claim(number, sentence, formula, measured, bool(holds), source)
        line = f"{number} {'holds' if holds else 'FAILS'}: {sentence} [{measured}]"
        print(textwrap.fill(line, WIDTH, subsequent_indent="   "), end="\n\n")
        self.items.append(claim)


def cell(x):
    """Return text: of a float four digits, of an integer all."""
    if isinstance(x, (float, np.floating)):
        return number(x, 4)
    return number(x) if isinstance(x, (int, np.integer)) else str(x)


def narrowed(widths):
    """Return the widths of columns, the widest cut until all fit into WIDTH, two
    characters apart."""
    widths = list(widths)
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH and max(widths) > NARROW:
        widths[widths.index(max(widths))] -= 1
    return widths
