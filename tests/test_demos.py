"""The demos: each runs, its claims hold, and the table has them all."""

import functools
import hashlib
import re

import fakecupy
import pytest
from matplotlib.figure import Figure
from test_command import FOLDER, TOUR, too_wide

from demos import DEMOS
from demos.d_roles import roles
from demos.stage import command
from demos.stage.page import Claim, Picture, Table
from minigrad import backend

ON_NUMPY = {"memory"}  # others on the stand-in for CuPy, which refuses more
SHORTENED = {"roles"}  # here it trains two steps; .ci/run has all, and all claims hold


RAW = re.compile(r"\[[\d. ]+|\de[-+]\d|(^| )-\d|\^( |$)|- it")  # 0e+00, -1, [0.5 1.]


def written(item):
    """Return the texts of an item of a page."""
    if isinstance(item, Table):
        return sum(item.rows, item.columns)
    return (
        [item.measured] if isinstance(item, Claim) else [item] * isinstance(item, str)
    )


@pytest.fixture(autouse=True)
def xp():
    """Run each test once."""
    yield
    backend.use("numpy")


@pytest.mark.parametrize("demo", TOUR, ids=lambda demo: demo.name)
def test_every_demo_of_the_tour_runs_and_its_claims_hold(
    demo, tmp_path, capsys, monkeypatch
):
    # .ci/run draws them, and there a warning is an error too
    monkeypatch.setattr(Figure, "savefig", lambda figure, path: path.touch())
    monkeypatch.setattr(roles, "recall", functools.partial(roles.recall, steps=2))
    backend.use("numpy" if demo.name in ON_NUMPY else fakecupy.xp)
    items = command.run(demo, tmp_path).items
    assert [x for x in capsys.readouterr().out.splitlines() if too_wide(x)] == []
    claims = [item for item in items if isinstance(item, Claim)]
    assert claims
    if demo.name not in SHORTENED:
        assert [claim for claim in claims if not claim.holds] == []
    assert [text for item in items for text in written(item) if RAW.search(text)] == []
    pictures = [item.path for item in items if isinstance(item, Picture)]
    assert sorted(pictures) == sorted(tmp_path.iterdir())


def test_the_table_is_complete():
    files = [
        p for p in FOLDER.glob("*/*.py") if "\ndef demo(page" in p.read_text("utf-8")
    ]
    found = [f"demos.{path.parent.name}.{path.stem}" for path in files]
    assert sorted(found) == sorted(demo.module for demo in DEMOS)
    folders = [demo.folder for demo in DEMOS]
    assert folders == sorted(folders)  # one after the other, as the chapter goes


def test_no_demo_imports_the_command_line_or_a_folder_that_comes_after_it():
    for demo in DEMOS:
        text = (FOLDER / demo.folder / f"{demo.name}.py").read_text("utf-8")
        assert "__name__ ==" not in text
        assert "command" not in re.findall(
            r"^from \.\.stage\.(\w+)", text, re.MULTILINE
        )
        others = re.findall(r"^from \.\.(\w+)", text, re.MULTILINE)
        assert all(folder <= demo.folder or folder == "stage" for folder in others)


def test_data_are_those_that_the_readme_describes():
    readme = (FOLDER / "data" / "README.md").read_text(encoding="utf-8")
    described = re.findall(r"^([0-9a-f]{64})  (\S+)$", readme, re.MULTILINE)
    assert len(described) == 11
    for digest, name in described:
        data = (FOLDER / "data" / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest, name
