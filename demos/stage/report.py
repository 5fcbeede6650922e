"""The page: the demos of a run as a lesson, in the chapter's order.

Each section asks a question, says what one would guess, shows a widget or a picture, and
then what was found: the claim, its formula, this run's numbers, and the lines of source
that deliver it. The page is one file that fetches nothing.
"""

import os
import re
from html import escape
from itertools import groupby
from pathlib import Path

from .. import DEMOS
from . import lesson
from .excerpt import ROOT
from .mathml import prose
from .page import Claim
from .section import docstring, module, section, title

STAGE = Path(__file__).parent
STYLES = "report.css", "lesson/lesson.css"


def write_report(pages, path):
    """Write the page of what demos showed, {Demo: Page}, and return its path."""
    pages = {demo: pages[demo] for demo in DEMOS if demo in pages}
    lookup = next(demo for demo in DEMOS if demo.name == "lookup")
    widgets = {
        demo: module(demo).widget()
        for demo in dict.fromkeys([lookup, *pages])
        if hasattr(module(demo), "widget")
    }
    below = {d: widget.html for d, widget in widgets.items() if d != lookup}
    claims = [(demo, c) for demo, page in pages.items() for c in of_kind(Claim, page)]
    anchors = {id(c): f"{c.number}-{i + 1}" for i, (_, c) in enumerate(claims)}
    # from the page to the source, for links
    root = Path(os.path.relpath(ROOT, path.parent)).as_posix()
    held = sum(claim.holds for _, claim in claims)
    parts = {
        "css": "".join((STAGE / name).read_text("utf-8") for name in STYLES),
        "contents": contents(pages),
        "widget": widgets[lookup].html,
        "sections": "".join(
            section(demo, page, below.get(demo, ""), anchors, root)
            for demo, page in pages.items()
        ),
        "verdict": f"{held} of {len(claims)} hold",
        "claims": claims_html(claims, anchors),
        "script": lesson.script(widgets.values()),
    }
    template = (STAGE / "page.html").read_text("utf-8")
    text = re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], template)
    path.write_text(text, encoding="utf-8")
    return path


def of_kind(kind, page):
    return [item for item in page.items if isinstance(item, kind)]


def part(letter):
    """Return the heading of a part, such as "A The lookup", from its folder's docstring,
    or "" if no folder has the letter."""
    for demo in DEMOS:
        if demo.folder.startswith(f"{letter.lower()}_"):
            text = docstring(f"demos.{demo.folder}")
            return re.match(r"(\w)\. (.*?)[:.]", text).expand(r"\1 \2")
    return ""


def contents(pages):
    """Return links to the sections, part by part."""
    html = []
    for folder, demos in groupby(pages, lambda demo: demo.folder):
        links = "".join(
            f'<li><a href="#{demo.name}">{escape(title(demo)[0])}</a></li>\n'
            for demo in demos
        )
        html.append(f"<h2>{part(folder[0])}</h2>\n<ul>{links}</ul>\n")
    return "".join(html)


def claims_html(claims, anchors):
    """Return the rows of the table of all claims, in a group for each part."""
    html = []
    claims = sorted(claims, key=lambda pair: pair[1].number)
    for letter, group in groupby(claims, key=lambda pair: pair[1].number[0]):
        rows = "".join(
            f'<tr id="row-{anchors[id(claim)]}"><td><a href="#{demo.name}">{claim.number}'
            f"</a></td><td>{prose(claim.sentence)}</td><td>{prose(claim.measured)}</td>"
            f'<td class="{"holds" if claim.holds else "fails"}">'
            f"{'yes' if claim.holds else 'no'}</td></tr>\n"
            for demo, claim in group
        )
        html.append(
            f'<tbody><tr><th scope="rowgroup" colspan="4">{part(letter)}</th></tr>'
            f"\n{rows}</tbody>\n"
        )
    return "".join(html)
