"""The file that a learner gets: what is asked, and a body to fill in."""

from .source import cut

PAGE = '''\
"""{name}: {teaches}

About {minutes} minutes. {ask}{arrays}

    python {name}.py             checks what you have written
    python {name}.py --hint 1    asks a question; 2 and 3 help more
"""

import sys

import numpy as np

sys.path += [".", ".."]  # where minigrad is not installed, but its clone is here
from demos import practice  # first: else attention.py beside this would hide attention
{offers}

def {function}{signature}:
    """{sentence}"""
    raise NotImplementedError


if __name__ == "__main__":
    practice.main("{name}", globals())
'''
ARRAYS = """

Arrays come as NumPy's, and go so: float32 in, float32 out. Do not write into what you are
given, others may hold it; what you make yourself you may write into."""


def sheet(blank):
    """Return the text of the file for a blank."""
    parts = cut(blank)
    ask = blank.ask
    if parts.formula:
        ask = ask.replace("\n\n", f"\n\n    {parts.formula}\n\n", 1)
    return PAGE.format(
        name=blank.name,
        teaches=blank.teaches,
        minutes=blank.minutes,
        ask=ask,
        arrays=ARRAYS,
        offers=f"{blank.offers}\n" if blank.offers else "",
        function=parts.name,
        signature=parts.signature,
        sentence=parts.sentence or f"Return {' and '.join(gradients(parts))}.",
    )


def gradients(parts):
    """Return what a rule returns: dL/da, dL/db of (g, y, a, b, …)."""
    inputs = [name for name in parts.signature[1:-1].split(", ")[2:] if "=" not in name]
    return [f"dL/d{name}" for name in inputs if name != "index"]
