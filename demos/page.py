"""What a demo shows goes through a Page: to the terminal, into picture files, and, kept
in `items`, into the report.

    def demo(page):
        page.say("A paragraph.")
        page.table(["T", "entropy"], [[0.1, 0.52], [1.0, 1.37]])
        page.picture(figure, "sweep")                      # writes out/sweep.png
        page.claim("A4", "Sharper scores ...", r"$\\alpha_i$ ...", "0.98 of 1", gap < bound, softmax)
"""

import dataclasses
import textwrap
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt


@dataclasses.dataclass
class Claim:
    """One row of the chapter's claims, with what this run measured."""

    number: str  # such as "A4"
    sentence: str  # the claim in words
    formula: str  # in matplotlib's mathtext
    measured: str  # the numbers of this run, with units
    holds: bool
    source: Any  # the function or class that delivers it


class Page:
    """The output of one demo; pictures go to the folder `out`, which must exist."""

    def __init__(self, out):
        self.out = Path(out)
        self.items = []  # in order: str, (columns, rows), Path of a picture, or Claim

    def say(self, text):
        """Print a paragraph."""
        text = " ".join(text.split())
        print(textwrap.fill(text, 88), end="\n\n")
        self.items.append(text)

    def table(self, columns, rows):
        """Print rows under column titles, numbers to four digits."""
        cells = [[f"{x:.4g}" if isinstance(x, float) else str(x) for x in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in [columns, *cells]:
            print("  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)))
        print()
        self.items.append((columns, cells))

    def picture(self, figure, name):
        """Write a figure to out/name.png and close it."""
        path = self.out / f"{name}.png"
        figure.savefig(path)
        plt.close(figure)
        print(f"wrote {path}\n")
        self.items.append(path)

    def claim(self, number, sentence, formula, measured, holds, source):
        """Print whether a claim holds, by what this run measured."""
        claim = Claim(number, sentence, formula, measured, bool(holds), source)
        print(f"{number} {'holds' if holds else 'FAILS'}: {sentence} [{measured}]\n")
        self.items.append(claim)
