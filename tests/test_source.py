"""What the source promises about itself: its reading order, its size, where NumPy may
be named, and that CuPy has every function that it calls. Each check finds a planted
fault first."""

import ast
from pathlib import Path

import pytest
from conftest import numpy_only

pytestmark = numpy_only
ROOT = Path(__file__).parent.parent
PACKAGES = ["minigrad", "attention", "demos"]
FILES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
AT_THE_BACK = {"backend", "checks"}  # read last, used everywhere
HOST = {  # files that compute on the host
    "minigrad/backend.py": "the gate between host and device",
    "minigrad/gradcheck/differences.py": "differences are taken in float64, on the host",
    "minigrad/gradcheck/kinks.py": "differences are taken in float64, on the host",
    "minigrad/gradcheck/mistakes.py": "numbers are compared on the host",
    "minigrad/gradcheck/refusals.py": "numbers are compared on the host",
    "minigrad/checks/models.py": "object arrays are NumPy's",
    "minigrad/checks/arrays.py": "lists become arrays of NumPy first",
    "minigrad/checks/ops.py": "errors are those of NumPy",
    "minigrad/checks/errors.py": "errors are those of NumPy",
    "minigrad/checks/takes.py": "shapes are broadcast there",
    "attention/checks.py": "shapes are broadcast there",
    "minigrad/nn.py": "random numbers are drawn on the host, the same on every backend",
    "minigrad/checkpoint.py": "files are read and written there",
    "attention/gpt.py": "the next token is drawn there",
}


def imports(tree):
    """Return (module, name) for all that is imported; levels count as leading dots."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [(module, alias.name) for alias in node.names]
    return found


def lint(text, may_name_numpy=False):
    """Return what the text imports but should not."""
    found = []
    for module, name in imports(ast.parse(text)):
        package = module.split(".")[0]
        if package == "cupy" or (package == "numpy" and not may_name_numpy):
            found.append(f"imports {package}")
        if name == "xp":
            found.append("binds xp by name; write `from . import backend`")
    return found


FAULTS = [
    "import cupy",
    "import numpy as np",
    "from numpy import exp",
    "import cupy.cuda",
]
FAULTS += [
    "from .backend import xp",
    "def f():\n    from minigrad.backend import xp as np",
]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_lint_finds(fault):
    assert len(lint("import math\n" + fault)) == 1
    assert lint("import numpy\nfrom . import backend", may_name_numpy=True) == []


def test_numpy_is_named_in_host_files_only_and_cupy_nowhere():
    found = {}
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        found[name] = lint(path.read_text(), name in HOST or name.startswith("demos/"))
    assert {name: faults for name, faults in found.items() if faults} == {}
    unused = {name for name in HOST if not lint((ROOT / name).read_text())}
    assert unused == set()  # each exception is still needed


def taken_away(text):
    """Return what `python -OO` takes away: assertions, and docstrings that are read."""
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert) or getattr(node, "attr", "") in UNDOCUMENTED
    ]


UNDOCUMENTED = "__doc__", "getdoc"  # ast.get_docstring reads the file instead


def test_nothing_rests_on_what_optimised_python_takes_away():
    for fault in ("assert x > 0", "print(f.__doc__)", "inspect.getdoc(f)"):
        assert len(taken_away(f'def f(x):\n    """One."""\n    {fault}')) == 1
    faulty = [path.name for path in FILES if taken_away(path.read_text())]
    assert faulty == []


def place_of(module, imported, importer):
    """Return the name in the reading order of what a file imports, such as ops.softmax."""
    levels = len(module) - len(module.lstrip("."))
    base = importer.split(".")[:-levels]
    return ".".join([*base, module.lstrip(".") or imported])


def misplaced(order, files):
    """Return which of the files import one that stands below them in the order."""
    found = []
    for name, text in files.items():
        for module, imported in imports(ast.parse(text)):
            if module.startswith("."):
                other = place_of(module, imported, name)
                if other in order and order.index(other) >= order.index(name):
                    found.append(f"{name} imports {other}")
    return found


def reading_order(folder):
    """Return the files in the order of the imports in __init__.py, those of a folder in
    the order of its own."""
    order = []
    for module, name in imports(ast.parse((folder / "__init__.py").read_text())):
        place = module[1:] or name
        if place not in AT_THE_BACK:
            inside = folder / place
            within = reading_order(inside) if inside.is_dir() else []
            order += [f"{place}.{file}" for file in within] or [place]
    return list(dict.fromkeys(order))


def names_and_texts(package):
    """Return {name: text} of the files of a package, such as ops.softmax."""
    root = ROOT / package
    paths = [p for p in root.rglob("*.py") if p.name != "__init__.py"]
    return {
        ".".join(p.relative_to(root).with_suffix("").parts): p.read_text()
        for p in paths
        if p.relative_to(root).parts[0].removesuffix(".py") not in AT_THE_BACK
    }


@pytest.mark.parametrize("package", ["minigrad", "attention"])
def test_every_file_imports_only_files_that_come_before_it_in_the_reading_order(
    package,
):
    files = names_and_texts(package)
    order = reading_order(ROOT / package)
    assert set(order) == set(files)  # none is missing
    found = misplaced(order, files)
    assert found == []
    files[order[1]] += f"\nfrom . import {order[2]}"
    assert misplaced(order, files) == [f"{order[1]} imports {order[2]}"]


def test_attention_is_built_on_minigrad_and_never_the_other_way_round():
    for path in FILES:
        used = {
            module.split(".")[0] for module, _ in imports(ast.parse(path.read_text()))
        }
        package = path.relative_to(ROOT).parts[0]
        assert used & set(PACKAGES) <= {*PACKAGES[: PACKAGES.index(package)], package}


def test_a_file_begins_with_a_docstring_and_has_at_most_200_lines():
    texts = {path: path.read_text() for path in FILES}
    assert [
        p for p, text in texts.items() if not ast.get_docstring(ast.parse(text))
    ] == []
    assert [p for p, text in texts.items() if len(text.splitlines()) > 200] == []
