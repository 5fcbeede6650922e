"""A figure in the page: as SVG with its text as text, or as a picture where it has
thousands of parts; on a narrow screen its panels one below the other.
"""

import base64
import io
import re
from html import escape

import matplotlib.pyplot as plt
from matplotlib.transforms import Bbox
from PIL import Image

LARGE = 75_000  # characters of SVG, above which a figure is a picture


def picture_html(picture):
    """Return a figure; its titles, the findings, are read out for it."""
    figure, name = picture.figure, picture.path.stem
    heading = figure.get_suptitle()
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    words = re.sub(r"[$\\{}]", "", ". ".join(filter(None, [heading, *titles])))
    svg = inline(figure, name, words)
    if len(svg) > LARGE:
        source = base64.b64encode(small(picture.path)).decode()
        whole = f'<img alt="{escape(words)}" src="data:image/png;base64,{source}">'
        return f'<figure><div class="sheet">{whole}</div></figure>\n'
    parts = panels(figure)
    if len(parts) < 2:
        return f'<figure><div class="sheet">{svg}</div></figure>\n'
    crops = "".join(
        f'<svg viewBox="{" ".join(f"{x:.1f}" for x in box)}" aria-hidden="true">'
        f'<use href="#{name}-figure_1"/></svg>'
        for box in parts
    )
    top = f"<p>{escape(heading)}</p>" if heading else ""
    return (
        f'<figure class="split"><div class="sheet">{svg}</div>'
        f'<div class="sheet panels-below">{top}{crops}</div></figure>\n'
    )


def inline(figure, name, words):
    """Return a figure as an <svg> element whose ids, prefixed by a name, are unique."""
    file = io.StringIO()
    for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
        if not patch.get_hatch():
            patch.set_facecolor("none")  # the page's own colour
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue()
    svg = re.sub("<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*\n\s*", " ", svg[svg.index("<svg") :]).replace("> <", "><")
    svg = re.sub(r"(\d\.\d)\d+|\.0+\b", r"\1", svg)  # tenths of a point are enough
    used = {"figure_1", *re.findall(r"#(\w+)", svg)}
    svg = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", svg)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)


def small(path):
    """Return the PNG of a figure with 64 colours."""
    file = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").quantize(64, dither=0).save(file, "png", optimize=True)
    return file.getvalue()


def panels(figure):
    """Return [x, y, width, height] in points for each group of axes that touch, in
    reading order; a colour bar belongs to the axes nearest to it."""
    found = [
        (ax.get_label() == "<colorbar>", ax.get_tightbbox())
        for ax in figure.axes
        if ax.get_visible()
    ]
    boxes = [box for bar, box in found if not bar]
    for box in [box for bar, box in found if bar]:
        i = min(range(len(boxes)), key=lambda i: distance(boxes[i], box))
        boxes[i] = Bbox.union([boxes[i], box])
    merged = True
    while merged:
        merged = False
        for i, a in enumerate(boxes):
            for b in boxes[i + 1 :]:
                if not merged and a.overlaps(b):
                    boxes = [x for x in boxes if x is not a and x is not b]
                    boxes.append(Bbox.union([a, b]))
                    merged = True
    if any(box.width > 0.7 * figure.bbox.width for box in boxes):
        return []  # one below the other already
    points, height = 72 / figure.dpi, figure.bbox.height
    boxes.sort(key=lambda box: (-round(box.y1 / height, 1), box.x0))
    return [
        [(b.x0 - 4) * points, (height - b.y1 - 4) * points,
         (b.width + 8) * points, (b.height + 8) * points]
        for b in boxes
    ]  # fmt: skip


def distance(a, b):
    """Return how far apart the middles of two boxes are."""
    return abs(a.x0 + a.x1 - b.x0 - b.x1) + abs(a.y0 + a.y1 - b.y0 - b.y1)
