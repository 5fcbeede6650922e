"""One section of the page: a question and a guess, what is seen, and what was found."""

import ast
import importlib
import inspect
import re
import textwrap
from html import escape

from .excerpt import excerpt_html
from .figure import picture_html
from .mathml import formula, prose
from .page import Claim, Picture, Table

SAID = {"Question": "Question.", "Guess": "One would guess:", "Formula": "The formula."}
SAID["What to look at"] = "What to look at."
KIND = {"Question": "question", "Guess": "guess"}
NUMBER = re.compile(r"[-−+]?[\d.,]+(e[-−+]\d+| · 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|")
GAP = r"(?<=\S) {3,}(?=\S)"
NARROW = 350  # pixels of a table on a telephone, where a letter takes some 7
LABEL = re.compile(r"(Question|Guess|Formula|What to look at)\.\s")


def section(demo, page, widget, anchors, root):
    """Return the section of a demo as HTML, with its widget, or "", above the pictures.

    `anchors` are the ids of its claims, {id(claim): id}, and `root` is the way from the
    page to the folder of the packages.
    """
    subject, rest = title(demo)
    said = paragraphs(docstring(demo.module).split("\n\n")[1:])
    found = [
        item_html(item, anchors, root)
        for item in page.items
        if not isinstance(item, Picture)
    ]
    return "".join(
        [
            f'<section id="{demo.name}">\n',
            '<a class="up" href="#contents" aria-label="to the contents">↑</a>\n',
            f"<h2>{escape(': '.join(filter(None, [subject, rest])))}</h2>\n",
            *said.get("Question", []),
            *said.get("Guess", []),
            widget,
            *(picture_html(x) for x in page.items if isinstance(x, Picture)),
            *said.get("What to look at", []),
            *said.get("Formula", []),
            *without_repeated_lines(found),
            "</section>\n",
        ]
    )


def module(demo):
    return importlib.import_module(demo.module)


def docstring(name):
    """Return the docstring of a module, from its source: with -OO there is no other."""
    source = inspect.getsource(importlib.import_module(name))
    return ast.get_docstring(ast.parse(source))


def title(demo):
    """Return the subject of a demo, and what it says about it."""
    line = docstring(demo.module).split("\n\n")[0].rstrip(".")
    subject, _, rest = line.partition(": ")
    return subject, rest


def paragraphs(texts):
    """Return the paragraphs of a docstring as HTML, {label: those that it heads}."""
    label, html = "", {}
    for text in texts:
        match, kind, shown = LABEL.match(text), "said", ""
        if match:
            label, text = match[1], text[match.end() :]
            kind, shown = KIND.get(label, "said"), f"<b>{SAID[label]}</b> "
        if all(line.startswith("    ") for line in text.split("\n")):
            block = f"{formulas(textwrap.dedent(text))}\n"
        else:
            block = f'<p class="{kind}">{shown}{prose(text)}</p>\n'
        html.setdefault(label, []).append(block)
    return html


def formulas(text):
    """Return lines of formulas; where the screen is narrow, what stands apart on a line
    goes to lines of its own, but in a table, which has three columns or more."""
    gaps = [len(re.findall(GAP, line)) for line in text.split("\n")]
    kind = ' class="rows"' if len(gaps) > 1 and min(gaps) > 1 else ""
    html = re.sub(GAP, r'<span class="gap">\g<0></span>', prose(text))
    return f"<pre{kind}>{html}</pre>"


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
    """Return the blocks of a section, each excerpt but in the first claim that cites it."""
    shown = set()
    for block in blocks:
        lines = re.search(r'<div class="lines">.*?</div>\n', block, re.DOTALL)
        if lines and lines[0] in shown:
            block = block.replace(lines[0], "")
        shown.add(lines and lines[0])
        yield block


def table_html(table):
    """Return a table, folded in if it is of numbers alone.

    A wide one, which a narrow screen shows row by row, has its column titles in every
    cell.
    """
    sides = ["right" if numeric else "left" for numeric in table.numeric]
    titles = [prose(title) for title in table.columns]
    head = "".join(
        f'<th scope="col" class="{side}">{title}</th>'
        for title, side in zip(titles, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="{side}" data-title="{escape(title)}">{prose(cell)}</td>'
            for cell, side, title in zip(row, sides, table.columns, strict=True)
        )
        + "</tr>\n"
        for row in table.rows
    )
    columns = zip(table.columns, *table.rows, strict=True)
    narrow = sum(8 * max(map(len, column)) + 10 for column in columns) < NARROW
    html = (
        f'<table class="{"slim" if narrow else "wide"}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table>\n"
    )
    if not all(NUMBER.fullmatch(cell) for row in table.rows for cell in row[1:]):
        return html
    return f"<details><summary>Numbers: {', '.join(titles)}</summary>{html}</details>\n"
