"""What is installed, and what an archive of the source holds: nothing is left out."""

import configparser
from fnmatch import fnmatch
from pathlib import Path

from conftest import numpy_only

pytestmark = numpy_only
ROOT = Path(__file__).parent.parent
CONFIG = configparser.ConfigParser()
CONFIG.read(ROOT / "setup.cfg")
TOP = "minigrad", "attention", "demos"


def packages():
    """Return every package by its dotted name, with its folder."""
    folders = [
        path.parent for top in TOP for path in ROOT.glob(f"{top}/**/__init__.py")
    ]
    return {".".join(x.relative_to(ROOT).parts): x for x in folders}


def words(section, option):
    return CONFIG[section][option].replace(",", "\n").split()


def test_every_package_is_installed():
    patterns = words("options.packages.find", "include")
    assert {"minigrad.ops", "demos.stage"} <= packages().keys()
    left_out = [p for p in packages() if not any(fnmatch(p, x) for x in patterns)]
    assert left_out == []


def test_every_file_that_a_program_reads_is_installed():
    patterns = {p: words("options.package_data", p) for p in ("*", "demos")}
    found = []
    for name, folder in packages().items():
        for path in folder.glob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                found.append(path.name)
                assert any(fnmatch(path.name, x) for x in patterns["*"]) or (
                    name == "demos" and path.suffix in (".png", ".gif")  # for README
                ), path
    assert {"report.css", "figures.mplstyle"} <= set(found)
    assert "data/*" in patterns["demos"]


def test_an_archive_holds_what_tests_read():
    lines = (ROOT / "MANIFEST.in").read_text().splitlines()
    assert {"graft demos", "graft tests", "graft .ci"} <= set(lines)


def test_what_tests_need_includes_mpi():
    extras = {
        k: v.strip().splitlines() for k, v in CONFIG["options.extras_require"].items()
    }
    assert set(extras["mpi"]) <= set(extras["test"])
