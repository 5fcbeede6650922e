"""The file that a learner gets: what is asked, and a body to fill in."""

import textwrap

from .source import cut

WIDTH = 88
PAGE = '''\
"""{name}: {teaches} (some {minutes} minutes)

{ask}

Arrays are NumPy's: float32 in, float32 out. Do not write into those that you are given,
others may hold them; into what you make yourself you may.

    python {name}.py             checks what you have written
    python {name}.py --hint 1    asks a question; 2 and 3 help more
"""

import sys

import numpy as np

sys.path += [".", ".."]  # where minigrad is not installed, but its clone is here
from demos import practice  # first: it finds the package attention, which else
#                            attention.py beside this file would hide
{offers}

def {function}{signature}:
{sentence}
    raise NotImplementedError


if __name__ == "__main__":
    practice.main("{name}", globals())
'''


def sheet(blank):
    """Return the text of the file for a blank."""
    parts = cut(blank)
    paragraphs = blank.ask.split("\n\n")
    if parts.formula:
        paragraphs.insert(1, f"    {parts.formula}")
    sentence = parts.sentence or f"Return {' and '.join(gradients(parts))}."
    return PAGE.format(
        name=blank.name,
        teaches=blank.teaches,
        minutes=blank.minutes,
        ask="\n\n".join(map(filled, paragraphs)),
        offers=f"{blank.offers}\n" if blank.offers else "",
        function=parts.name,
        signature=parts.signature,
        sentence=textwrap.indent(textwrap.fill(f'"""{sentence}"""', WIDTH - 4), "    "),
    )


def filled(paragraph):
    """Return a paragraph with lines as long as can be, and a table as it is."""
    return paragraph if paragraph[0] == " " else textwrap.fill(paragraph, WIDTH)


def gradients(parts):
    """Return what a rule returns: dL/da, dL/db of (g, y, a, b, …)."""
    inputs = [name for name in parts.signature[1:-1].split(", ")[2:] if "=" not in name]
    return [f"dL/d{name}" for name in inputs if name != "index"]
