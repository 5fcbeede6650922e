"""The page: the demos of a run as a lesson, in the chapter's order.

Each step asks a question, says what one would guess, shows a widget or a picture, and
then what was found: the claim, its formula, this run's numbers, and the lines of source
that deliver it. The page is one file that fetches nothing.
"""

import importlib
import inspect
import os
import re
import textwrap
from html import escape
from itertools import groupby
from pathlib import Path

from .. import DEMOS
from . import lesson
from .excerpt import ROOT, excerpt_html
from .figure import picture_html
from .mathml import formula, prose
from .page import Claim, Picture, Table

STAGE = Path(__file__).parent
STYLES = "report.css", "lesson/lesson.css"
LABEL = re.compile(r"(Question|Problem|Guess|Formula|What to look at)\.\s")


def write_report(pages, path):
    """Write the page of what demos showed, {Demo: Page}, and return its path."""
    pages = {demo: pages[demo] for demo in DEMOS if demo in pages}
    lookup = next(demo for demo in DEMOS if demo.name == "lookup")
    widgets = {
        demo: module(demo).widget()
        for demo in dict.fromkeys([lookup, *pages])
        if hasattr(module(demo), "widget")
    }
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
            section(demo, page, widgets if demo != lookup else {}, anchors, root)
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


def module(demo):
    return importlib.import_module(demo.module)


def part(letter, folder):
    """Return the title of a part, such as "The lookup", from its folder's docstring."""
    text = inspect.getdoc(importlib.import_module(f"demos.{folder}"))
    return re.match(r"\w\. (.*?)[:.]", text)[1]


def contents(pages):
    """Return links to the steps, part by part."""
    html = []
    for folder, demos in groupby(pages, lambda demo: demo.folder):
        letter = folder[0].upper()
        links = "".join(
            f'<li><a href="#{demo.name}">{escape(title(demo)[0])}</a></li>\n'
            for demo in demos
        )
        html.append(f"<h2>{letter} {part(letter, folder)}</h2>\n<ul>{links}</ul>\n")
    return "".join(html)


def title(demo):
    """Return the subject of a demo, and what it says about it."""
    subject, _, rest = inspect.getdoc(module(demo)).split("\n\n")[0].partition(": ")
    return subject, rest


def section(demo, page, widgets, anchors, root):
    """Return a step: question and guess, what is seen, what was found."""
    subject, rest = title(demo)
    said = paragraphs(inspect.getdoc(module(demo)).split("\n\n")[1:])
    seen = [widgets[demo].html] if demo in widgets else []
    seen += map(picture_html, of_kind(Picture, page))
    found = [
        item_html(item, anchors, root)
        for item in page.items
        if not isinstance(item, Picture)
    ]
    return "".join(
        [
            f'<section id="{demo.name}">\n<h2>{escape(subject)}: {escape(rest)}'
            ' <a class="up" href="#contents" aria-label="to the contents">↑</a></h2>\n',
            *said.get("Question", said.get("Problem", [])),
            *said.get("Guess", []),
            *seen,
            *said.get("What to look at", []),
            *said.get("Formula", []),
            *said.get("", []),
            *without_repeated_lines(found),
            "</section>\n",
        ]
    )


def paragraphs(texts):
    """Return the paragraphs of a docstring as HTML, {label: those that it heads}."""
    label, html = "", {}
    for text in texts:
        match = LABEL.match(text)
        if match:
            label, text = match[1], text[match.end() :]
        kind = label.split()[0].lower() if match else ""
        shown = f"<b>{label}.</b> " if match else ""
        if all(line.startswith("    ") for line in text.split("\n")):
            block = f"<pre>{prose(textwrap.dedent(text))}</pre>\n"
        else:
            block = f'<p class="{kind}">{shown}{prose(text)}</p>\n'
        html.setdefault(label, []).append(block)
    return html


def item_html(item, anchors, root):
    if isinstance(item, Claim):
        return claim_html(item, anchors[id(item)], root)
    if isinstance(item, Table):
        return table_html(item)
    return f"<p>{prose(item)}</p>\n"


def claim_html(claim, anchor, root):
    fails = "" if claim.holds else '<p class="fails">It does not hold in this run.</p>'
    return (
        f'<article id="{anchor}"{"" if claim.holds else " class=fails"}>'
        f'<p><a class="number" href="#row-{anchor}">{claim.number}</a> '
        f"{prose(claim.sentence)}</p>{fails}"
        f'<p class="formula">{formula(claim.formula)}</p>'
        f'<p class="measured">Measured: {prose(claim.measured)}</p>'
        f"{excerpt_html(claim, root)}</article>\n"
    )


def without_repeated_lines(blocks):
    """Return the blocks of a step, each excerpt but in the first claim that cites it."""
    shown = set()
    for block in blocks:
        lines = re.search(r'<div class="lines">.*?</div>\n', block, re.DOTALL)
        if lines and lines[0] in shown:
            block = block.replace(lines[0], "")
        shown.add(lines and lines[0])
        yield block


def table_html(table):
    """Return a table, its numbers aligned on the right; a wide one, which a narrow screen
    shows row by row, carries its column titles in every cell."""
    sides = ["right" if numeric else "left" for numeric in table.numeric]
    titles = [prose(title) for title in table.columns]
    head = "".join(
        f'<th scope="col" class="{side}">{title}</th>'
        for title, side in zip(titles, sides, strict=True)
    )
    rows = ""
    for row in table.rows:
        cells = zip(row, sides, table.columns, strict=True)
        rows += "<tr>" + "".join(
            f'<td class="{side}" data-title="{escape(title)}">{prose(cell)}</td>'
            for cell, side, title in cells
        )
        rows += "</tr>\n"
    lengths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    wide = "wide" if sum(lengths) + 2 * len(lengths) > 40 else "slim"
    return (
        f'<table class="{wide}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table>\n"
    )


def claims_html(claims, anchors):
    """Return the rows of the table of all claims, in a group for each part."""
    html = []
    claims = sorted(claims, key=lambda pair: pair[1].number)
    for letter, group in groupby(claims, key=lambda pair: pair[1].number[0]):
        folder = next((d.folder for d in DEMOS if d.folder[0].upper() == letter), None)
        heading = f"{letter} {part(letter, folder)}"
        rows = "".join(
            f'<tr id="row-{anchors[id(claim)]}"><td><a href="#{demo.name}">{claim.number}'
            f"</a></td><td>{prose(claim.sentence)}</td><td>{prose(claim.measured)}</td>"
            f'<td class="{"holds" if claim.holds else "fails"}">'
            f"{'yes' if claim.holds else 'no'}</td></tr>\n"
            for demo, claim in group
        )
        html.append(
            f'<tbody><tr><th scope="rowgroup" colspan="4">{heading}</th></tr>\n{rows}</tbody>\n'
        )
    return "".join(html)
