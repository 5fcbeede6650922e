"""The report: one page with every claim, its formula, figure, numbers and source.

It is self-contained: figures and formulas are inline SVG, the source lines stand in the
page, and nothing is fetched or run. All of it comes from the pages that the demos filled.
"""

import ast
import importlib
import inspect
import io
import os
import re
import textwrap
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from .page import Claim, Picture, Table

ROOT = Path(__file__).parent.parent.parent
LABEL = r"^(Problem|Formula|What to look at)\."  # the parts of a demo's docstring
INK = "#010203"  # of formulas, until it becomes the colour of the text
LOOKUP = (
    r"$attn(q, K, V)=\sum_i\,\alpha_i\,v_i\,,"
    r"\quad\alpha_i=e^{s(q,k_i)}\,/\,\sum_j\,e^{s(q,k_j)}$"
)
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Attention, a soft dictionary lookup: every claim, measured</title>
<style>
{css}</style>
<h1>Attention is a soft, differentiable dictionary lookup</h1>
<div class="formula boxed">{formula}</div>
<p class="lead">Each claim of the chapter, and what this run measured: {held} of {total}
hold. A claim leads to its figure, and from there to the source that delivers it.</p>
<div class="scroll"><table class="claims">
{index}</table></div>
{sections}</html>
"""


def write_report(pages, path):
    """Write the report of the pages, {Demo: Page}, and return its path."""
    anchors = {}  # id(claim) -> its place in the page
    for page in pages.values():
        for claim in of_kind(Claim, page):
            anchors[id(claim)] = f"{claim.number}.{len(anchors)}"
    claims = [c for page in pages.values() for c in of_kind(Claim, page)]
    claims.sort(key=lambda claim: claim.number)  # as the chapter has them
    # from the page to the source, for links
    root = Path(os.path.relpath(ROOT, path.parent)).as_posix()
    text = PAGE.format(
        css=Path(__file__).with_name("report.css").read_text(encoding="utf-8"),
        formula=formula_svg(LOOKUP, "lookup", size=17),
        held=sum(claim.holds for claim in claims),
        total=len(claims),
        index="".join(index_row(claim, anchors[id(claim)]) for claim in claims),
        sections="".join(section(*pair, anchors, root) for pair in pages.items()),
    )
    path.write_text(text, encoding="utf-8")
    return path


def of_kind(kind, page):
    return [item for item in page.items if isinstance(item, kind)]


def index_row(claim, anchor):
    word = "holds" if claim.holds else "fails"
    return (
        f'<tr><td><a href="#{anchor}">{claim.number}</a></td>'
        f'<td>{escape(claim.sentence)}</td><td class="{word}">{word}</td></tr>\n'
    )


def section(demo, page, anchors, root):
    """Return the part of one demo: its docstring, then its items in order."""
    source = inspect.getsource(importlib.import_module(demo.module))
    title, *paragraphs = ast.get_docstring(ast.parse(source)).split(
        "\n\n"
    )  # with -OO too
    html = [
        f'<h2 id="{demo.name}">{escape(title)}</h2>\n',
        *map(paragraph_html, paragraphs),
    ]
    for item in page.items:
        if isinstance(item, Claim):
            html.append(claim_html(item, anchors[id(item)], root))
        elif isinstance(item, Table):
            html.append(table_html(item))
        elif isinstance(item, Picture):
            html.append(picture_html(item))
        else:
            html.append(paragraph_html(item))
    return "".join(html)


def paragraph_html(text):
    """Return a paragraph; indented lines, which are formulas or code, stay as they are."""
    if all(line.startswith("    ") for line in text.split("\n")):
        return f"<pre>{escape(textwrap.dedent(text))}</pre>\n"
    text = re.sub(LABEL, r"<strong>\1.</strong>", escape(text))
    return "<p>" + re.sub("`(.+?)`", r"<code>\1</code>", text) + "</p>\n"


def claim_html(claim, anchor, root):
    word = "holds" if claim.holds else "fails"
    return (
        f'<article class="{word}" id="{anchor}"><span class="status">{word}</span>'
        f'<p><span class="number">{claim.number}</span>{escape(claim.sentence)}</p>'
        f'<div class="formula">{formula_svg(claim.formula, anchor, size=13)}</div>'
        f'<p class="measured">Measured: {escape(claim.measured)}</p>'
        f"{source_html(claim.source, root)}</article>\n"
    )


def source_html(source, root):
    """Return a link to the lines of a function, with the lines themselves folded in."""
    source = inspect.unwrap(source)
    lines, start = inspect.getsourcelines(source)
    path = Path(inspect.getsourcefile(source)).relative_to(ROOT)
    above = inspect.getcomments(source) or ""  # the equation stands over the function
    start -= above.count("\n")
    end = start + above.count("\n") + len(lines) - 1
    return (
        f"<details><summary>{path.as_posix()}, lines {start} to {end}</summary>"
        f"<pre>{escape(above + ''.join(lines))}</pre>"
        f'<a href="{root}/{path.as_posix()}#L{start}">the whole file</a></details>'
    )


def table_html(table):
    """Return a table, its numbers aligned on the right."""
    sides = ["right" if numeric else "left" for numeric in table.numeric]

    def row(tag, cells):
        cells = zip(cells, sides, strict=True)
        return "".join(
            f'<{tag} class="{side}">{escape(x)}</{tag}>' for x, side in cells
        )

    rows = [row("th", table.columns), *(row("td", cells) for cells in table.rows)]
    body = "".join(f"<tr>{cells}</tr>\n" for cells in rows)
    return f'<div class="scroll"><table>\n{body}</table></div>\n'


def picture_html(picture):
    """Return a figure as inline SVG; its titles, the findings, are read out for it."""
    titles = [axes.get_title(loc="left") for axes in picture.figure.axes]
    svg = inline(picture.figure, picture.path.stem, ". ".join(filter(None, titles)))
    caption = f"<figcaption>{escape(picture.path.name)}</figcaption>"
    return f'<figure><div class="sheet">{svg}</div>{caption}</figure>\n'


def formula_svg(text, name, size):
    """Return a formula in mathtext as inline SVG in the colour of the text around it."""
    figure = Figure(figsize=(0.01, 0.01))
    figure.text(
        0,
        0,
        text,
        fontsize=size,
        color=INK,
        family="STIXGeneral",
        math_fontfamily="stix",
    )
    svg = inline(figure, name, text, bbox_inches="tight", pad_inches=0.02)
    return svg.replace(INK, "currentColor")


def inline(figure, name, words, **how):
    """Return a figure as an <svg> element whose ids, prefixed by a name, are unique."""
    file = io.StringIO()
    for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
        if not patch.get_hatch():
            patch.set_facecolor("none")  # the page's own colour
    figure.savefig(file, format="svg", metadata={"Date": None}, **how)
    svg = re.sub("<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg[svg.index("<svg") :])
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)
