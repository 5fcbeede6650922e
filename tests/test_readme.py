"""README tells the truth: its commands, its reading order, its demos and pictures.

Its Python lines are a doctest, which pytest runs because setup.cfg names README.md."""

import ast
import configparser
import re
from pathlib import Path

import pytest

from demos import DEMOS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_two_commands_are_those_of_a_fresh_machine():
    setup = "python3 -m venv .venv && .venv/bin/pip install -e"
    first, second = re.findall(r"^python3 -m venv.*$", README, re.MULTILINE)
    assert first == f"{setup} . && .venv/bin/python -m demos"
    assert second == f"{setup} '.[test]' && .venv/bin/pytest"


def test_its_python_lines_are_run():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    options = config["tool:pytest"]
    assert "README.md" in options["testpaths"].split()
    assert "--doctest-glob=README.md" in options["addopts"].split()


def in_reading_order(package):
    """Return the file names in the order in which __init__ imports them."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = [n.module or alias.name for n in froms for alias in n.names]
    names = [name.replace(".", "/") for name in dict.fromkeys(names)]
    is_folder = [(ROOT / package / name).is_dir() for name in names]
    return [
        name + ("/" if folder else ".py")
        for name, folder in zip(names, is_folder, strict=True)
    ]


@pytest.mark.parametrize("package", ["minigrad", "attention"])
def test_the_reading_order_is_that_of_the_imports(package):
    table = README.split(f"| `{package}/` |")[1].split("\n\n")[0]
    listed = re.findall(r"^\| \[(\S+)\]\(", table, re.MULTILINE)
    assert listed == in_reading_order(package)
    files = [
        path.relative_to(ROOT / package) for path in (ROOT / package).rglob("*.py")
    ]
    known = {f.as_posix() for f in files if f.name != "__init__.py"}
    folders = tuple(name for name in listed if name.endswith("/"))  # one line for each
    known = {name for name in known if not name.startswith(folders)}
    assert set(listed) == {*known, *folders}


def test_every_file_and_demo_that_it_names_exists():
    titles = re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}
    sources = re.findall(r'(?:src|srcset)="(\S+)"', README)
    for path in re.findall(r"\]\((\S+?)\)", README) + sources:
        if path.startswith("#"):
            assert path[1:] in anchors, path
        else:
            assert path.startswith("http") or (ROOT / path).exists(), path
    names = {demo.name for demo in DEMOS} | {"NAME"}
    for name in re.findall(r"python -m demos (\w+)", README):
        assert name in names
