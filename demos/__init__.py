"""demos: the chapter, claim by claim, as programs that print, draw and check.

Each demo is one file with a function `demo(page)`. This table lists them in the order
of the chapter; the tour, `--list` and the report read it.
"""

from typing import NamedTuple

import minigrad  # noqa: F401  before NumPy, for the setting in machine.py


class Demo(NamedTuple):
    """One line of the table; `slow` ones run by name or with `--all` only."""

    name: str  # the file is demos/name.py
    summary: str
    slow: bool = False


DEMOS = [
    Demo("lookup", "one query, its weights, its answer, its gradient"),
    Demo("capitals", "40 capitals, asked 67 ways: a hard, a soft, a two-headed lookup"),
    Demo("jump", "why a hard lookup cannot learn: it stays, then it jumps"),
    Demo("places", "answers on a map: a value can be anything that has a mean"),
    Demo("scores", "six ways to be alike, through the same lines of code"),
    Demo("soft_argmax", "one dial from the mean of all values to the best key's"),
    Demo("hull", "what can come out of a lookup, and what cannot"),
    Demo("smoothing", "kernel regression on real data, its bandwidth learned"),
    Demo("exercise", "the chapter's exercise: 90 % alike is not a weight of 0.9"),
    Demo("covariance", "the gradient of a query is a covariance"),
    Demo("underflow", "where float16, float32 and float64 cut the losing key off"),
    Demo("saturation", "sharp weights stop the gradient; the cure is a square root"),
    Demo("paths", 'Table 1 of "Attention Is All You Need", measured on graphs'),
    Demo("reach", "how far back a position sees, and what gradient gets there"),
    Demo("parallel", "n lookups are two matrix products and one softmax"),
    Demo("content", "attention looks for what, convolution for where"),
    Demo("roles", "keys that are their own values, and what that costs"),
    Demo("memory", "the matrix of scores is quadratic, and need not be stored"),
    Demo("self_test", "the chapter's self-test, (a) to (e), answered by code"),
    Demo("induction", "a lookup that a model teaches itself, to copy", slow=True),
    Demo("language_model", "the whole chapter put to work on nine plays", slow=True),
    Demo("benchmark", "times, as multiples of what the arithmetic takes", slow=True),
]
