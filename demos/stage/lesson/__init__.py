"""Five widgets, the pictures of the page that a reader moves.

Each is drawn here, by Python, from numbers of the engine, and is whole as it stands:
what moves has a template beside it, `data-cx="[answer.0]"`, which widgets.js fills in
again when an input changes, from what lesson.js computes.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent


class Widget(NamedTuple):
    """A widget as it stands in the page before it is touched."""

    name: str  # of its function, lesson.NAME
    data: dict[str, Any]  # lesson.NAME.data: numbers, texts, and lists of them
    html: str


def script(widgets):
    """Return the JavaScript of a page that shows these widgets."""
    read = {name: (FOLDER / name).read_text("utf-8") for name in SCRIPTS}
    data = [
        f"lesson.{widget.name}.data = {json.dumps(widget.data, ensure_ascii=False)};\n"
        for widget in widgets
    ]
    return read["lesson.js"] + "".join(data) + read["widgets.js"]


SCRIPTS = "lesson.js", "widgets.js"  # the functions; what shows them
