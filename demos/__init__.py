"""demos: the chapter, claim by claim, as programs that print, draw and check.

Each demo is one file with a function `demo(page)`. This table lists them in the order
of the chapter, folder by folder: A the lookup, B its gradient, C sequences, D roles and
limits, E beyond the chapter. They stand on `stage`, the command line, the page and what
else they share; the stage imports none of them by name, and they import no other folder.
"""

import sys
from pathlib import Path
from typing import NamedTuple

# A blank to practise on is called attention.py, and where a learner keeps it Python may
# find that first: so the package is imported here, from beside this one, before all else.
ROOT = str(Path(__file__).parents[1])
sys.path.insert(0, ROOT)
import attention  # noqa: F401  with minigrad: before NumPy, for the setting in backend.py

sys.path.remove(ROOT)


class Demo(NamedTuple):
    """One line of the table; `slow` ones run by name or with `--all` only."""

    folder: str
    name: str  # the file is demos/folder/name.py
    summary: str
    slow: bool = False

    @property
    def module(self):
        """The name under which the file is imported."""
        return f"demos.{self.folder}.{self.name}"

    @property
    def beyond(self):
        """Whether it shows what has been found out since the chapter's sources."""
        return self.folder == "e_beyond"


A, B, C, D, E = "a_lookup", "b_gradient", "c_sequences", "d_roles", "e_beyond"
DEMOS = [
    Demo(A, "lookup", "one query, its weights, its answer, its gradient"),
    Demo(
        A, "capitals", "40 capitals, asked 67 ways: a hard, a soft, a two-headed lookup"
    ),
    Demo(A, "jump", "why a hard lookup cannot learn: it stays, then it jumps"),
    Demo(A, "places", "answers on a map: a value can be anything that has a mean"),
    Demo(A, "scores", "six ways to be alike, through the same lines of code"),
    Demo(A, "soft_argmax", "one dial from the mean of all values to the best key's"),
    Demo(A, "hull", "what can come out of a lookup, and what cannot"),
    Demo(A, "smoothing", "kernel regression on real data, its bandwidth learned"),
    Demo(B, "covariance", "the gradient of a query is a covariance"),
    Demo(B, "underflow", "where float16, float32 and float64 cut the losing key off"),
    Demo(B, "saturation", "sharp weights stop the gradient; the cure is a square root"),
    Demo(C, "paths", 'Table 1 of "Attention Is All You Need", measured on graphs'),
    Demo(C, "reach", "how far back a position sees, and what gradient gets there"),
    Demo(C, "parallel", "n lookups are two matrix products and one softmax"),
    Demo(C, "content", "attention looks for what, convolution for where"),
    Demo(C, "induction", "a lookup that a model teaches itself, to copy"),
    Demo(C, "language_model", "the whole chapter put to work on nine plays", slow=True),
    Demo(D, "roles", "keys that are their own values, and what that costs"),
    Demo(D, "exercise", "the chapter's exercise: 90 % alike is not a weight of 0.9"),
    Demo(D, "memory", "the matrix of scores is quadratic, and need not be stored"),
    Demo(D, "benchmark", "times, as multiples of what the arithmetic takes", slow=True),
    Demo(D, "self_test", "the chapter's self-test, (a) to (e), answered by code"),
    Demo(E, "hopfield", "a lookup is a gradient step, and repairs half a picture"),
    Demo(E, "dictionaries", "three ways to keep pairs: to add, correct, or compare"),
    Demo(E, "dispersion", "the more there is to read, the less one key stands out"),
    Demo(E, "sinks", "the weight must go somewhere, also where nothing matches"),
    Demo(E, "key_width", "how wide a key must be: two dimensions, or m - 1"),
    Demo(E, "collapse", "lookups alone make all rows one; the block's sums do not"),
    Demo(E, "sharpness", "second derivatives: how far a step may go"),
    Demo(E, "spelling", "from letters to sounds: where attention came from"),
    Demo(E, "pronouns", "she asks for the queen: a head of a real model"),
]
