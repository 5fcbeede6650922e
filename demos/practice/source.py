"""Cut a function out of the source: its signature and formula stay, its body goes.

All of it is read from the file, by `ast`, so that a blank cannot drift from what the
package runs.
"""

import ast
import functools
import inspect
import re
import textwrap
from typing import NamedTuple

GRADIENT = re.compile(r"\s*dL/d[a-z].*")  # such as dL/da = g b: that is what is asked


class Cut(NamedTuple):
    """A function of the source, taken apart."""

    name: str  # that of the function to write
    signature: str
    sentence: str  # the first one of its docstring, or ""
    formula: str  # of an op: the equation above it, without its gradient
    body: str  # what is taken out


def cut(blank):
    """Return the parts of the function that a blank asks for."""
    text = inspect.getsource(blank.module)
    name = blank.function.__name__
    definition = find(text, f"{name}.rule" if blank.is_rule else name)
    statements = definition.body
    if (docstring := ast.get_docstring(definition)) is not None:
        statements = statements[1:]
    lines = text.split("\n")[statements[0].lineno - 1 : statements[-1].end_lineno]
    return Cut(
        name="rule" if blank.is_rule else name,
        signature=f"({ast.unparse(definition.args)})",
        sentence=" ".join((docstring or "").partition("\n\n")[0].split()),
        formula=formula(text, find(text, name)) if blank.is_rule else "",
        body=textwrap.dedent("\n".join(lines)),
    )


parsed = functools.cache(ast.parse)


def find(text, name):
    """Return the definition of a function, or of the rule of an op, such as exp.rule."""
    for node in parsed(text).body:
        names = [getattr(node, "name", ""), *getattr(node, "decorator_list", [])]
        if name in (x if isinstance(x, str) else ast.unparse(x) for x in names):
            return node
    raise LookupError(f"no definition of {name}")


def formula(text, definition):
    """Return the first line of the comment above an op, without its gradient."""
    lines = text.split("\n")
    first = last = min(d.lineno for d in definition.decorator_list) - 1
    while lines[first - 1].startswith("#"):
        first -= 1
    if first == last:
        raise LookupError(f"no formula above {definition.name}")
    return GRADIENT.sub("", lines[first].removeprefix("#").strip())
