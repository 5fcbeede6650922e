"""demos: the chapter, claim by claim, as programs that print, draw and check.

Each demo is one file with a function `demo(page)`. This table lists them in the order
of the chapter; the tour, `--list` and the report read it.
"""

from typing import NamedTuple


class Demo(NamedTuple):
    """One line of the table; `slow` ones run by name or with `--all` only."""

    name: str  # the file is demos/name.py
    summary: str
    slow: bool = False


DEMOS = [
    Demo("capitals", "40 capitals, asked 67 ways: a hard, a soft, a two-headed lookup"),
    Demo("jump", "why a hard lookup cannot learn: it stays, then it jumps"),
    Demo("places", "answers on a map: a value can be anything that has a mean"),
    Demo("exercise", "the chapter's exercise: 90 % alike is not a weight of 0.9"),
    Demo("self_test", "the chapter's self-test, (a) to (e), answered by code"),
]
