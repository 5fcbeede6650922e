"""CuPy has every function and keyword that the source uses, and so has the stand-in."""

import ast
import inspect
from pathlib import Path

import fakecupy
import pytest
from conftest import numpy_only

pytestmark = numpy_only
ROOT = Path(__file__).parent.parent
PACKAGES = ["minigrad", "attention", "demos"]
FILES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]


def xp_names(text):
    """Return (names, keywords) of every backend.xp.name, backend.xp.name.method and its call."""
    found = []
    for node in ast.walk(ast.parse(text)):
        call = node if isinstance(node, ast.Call) else None
        chain, part = [], call.func if call else node
        while isinstance(part, ast.Attribute):
            chain.insert(0, part.attr)
            part = part.value
        if getattr(part, "id", None) == "backend" and chain[:1] == ["xp"] and chain[1:]:
            keywords = {k.arg for k in call.keywords if k.arg} if call else set()
            found.append((tuple(chain[1:]), keywords))
    return found


def lacking(cupy, text):
    """Return which functions of xp, and which of their keywords, cupy does not have."""
    found = []
    for chain, keywords in xp_names(text):
        function = cupy
        for name in chain:
            function = getattr(function, name, None)
        if function is None:
            found.append(".".join(chain))
        elif isinstance(function, cupy.ufunc):
            found += keywords - {"out", "dtype", "casting"}
        elif keywords and name != "einsum":  # whose signature is (*operands, **kwargs)
            found += keywords - inspect.signature(function).parameters.keys()
    return found


def test_cupy_has_every_function_and_keyword_that_is_used():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    for fault, name in [
        ("backend.xp.errstate()", "errstate"),
        ("backend.xp.exp(x, where=m)", "where"),
        ("y = backend.xp.sum(x, axis=0, initial=0)", "initial"),
        ("f(backend.xp.linalg.vector_norm)", "linalg.vector_norm"),
    ]:
        assert set(lacking(cupy, fault)) == {name}
    assert {path: lacking(cupy, path.read_text()) for path in FILES} == {
        path: [] for path in FILES
    }


def test_the_stand_in_has_every_function_that_is_used():
    files = [path for path in FILES if path.parent.name != "demos"]
    used = {chain for path in files for chain, _ in xp_names(path.read_text())}
    assert {"exp", "where", "maximum", "einsum"} <= {chain[0] for chain in used}
    for chain in used:
        function = fakecupy.xp
        for name in chain:
            function = getattr(function, name)
