"""Answers to the blanks as learners give them: a file, with its body filled in."""

import functools
import textwrap

from demos.practice import BLANKS
from demos.practice.desk import checked
from demos.practice.sheet import sheet

EMPTY = "    raise NotImplementedError\n"


@functools.cache
def empty(name):
    """Return the text of the file of a blank."""
    return sheet(BLANKS[name])


def filled(name, body):
    """Return the text of the file of a blank, with this body."""
    text = empty(name)
    assert text.count(EMPTY) == 1
    body = textwrap.dedent(body).strip()
    return text.replace(EMPTY, textwrap.indent(body, "    ") + "\n")


def names_in(name, body):
    """Return what the file of a blank with this body defines."""
    namespace = {"__name__": name}
    exec(compile(filled(name, body), f"{name}.py", "exec"), namespace)  # noqa: S102
    return namespace


@functools.cache
def judged(name, body):
    """Return the verdict on the file of a blank with this body, which is judged once."""
    return checked(name, names_in(name, body))
