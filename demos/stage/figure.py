"""A figure in the page: as SVG with its text as text, or as a picture where it has
thousands of parts; on a narrow screen its panels one below the other.
"""

import base64
import io
import re
from html import escape

import matplotlib.pyplot as plt
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.transforms import Bbox
from PIL import Image

LARGE = 75_000  # characters of SVG, above which a figure is a picture
PLACE = re.compile(r' (?:d|x|y|transform|points)="[^"]*"')  # to tenths of a point


def picture_html(picture):
    """Return a figure; its titles, the findings, are read out for it."""
    figure, name = picture.figure, picture.path.stem
    heading = figure.get_suptitle()
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    words = escape(re.sub(r"[$\\{}]", "", ". ".join(filter(None, [heading, *titles]))))
    svg = inline(figure, name)
    if len(svg) > LARGE:
        svg = raster(picture.path, name, *figure.get_size_inches())
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{words}"', 1)
    parts = panels(figure)
    if len(parts) < 2:
        return f'<figure><div class="sheet">{svg}</div></figure>\n'
    crops = "".join(
        f'<svg viewBox="{x:.1f} {y:.1f} {w:.1f} {h:.1f}" style="width: {1.25 * w:.0f}px"'
        f' aria-hidden="true"><use href="#{name}-figure_1"/></svg>'
        for x, y, w, h in parts
    )
    top = f"<p>{escape(heading)}</p>" if heading else ""
    return (
        f'<figure class="split"><div class="sheet">{svg}</div>'
        f'<div class="sheet panels-below">{top}{crops}</div></figure>\n'
    )


def inline(figure, name):
    """Return a figure as an <svg> element whose ids, prefixed by a name, are unique."""
    file = io.StringIO()
    for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
        if not patch.get_hatch():
            patch.set_facecolor("none")  # the page's own colour
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        # savefig would draw it twice, the first time to lay it out, which it is
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    svg = file.getvalue()
    svg = re.sub("<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*\n\s*", " ", svg[svg.index("<svg") :]).replace("> <", "><")
    svg = PLACE.sub(lambda m: re.sub(r"(\.\d)\d+", r"\1", m[0]), svg)
    used = {"figure_1", *re.findall(r"#(\w+)", svg)}
    svg = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", svg)
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)


def raster(path, name, width, height):
    """Return the picture of a figure, sizes in inches, within an <svg> element."""
    file = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").save(file, "webp", quality=70, method=6)
    size = f'width="{72 * width:.1f}" height="{72 * height:.1f}"'  # in points
    data = base64.b64encode(file.getvalue()).decode()
    return (
        f'<svg viewBox="0 0 {72 * width:.1f} {72 * height:.1f}"><image {size}'
        f' id="{name}-figure_1" href="data:image/webp;base64,{data}"/></svg>'
    )


def panels(figure):
    """Return [x, y, width, height] in points for each group of axes that touch, in
    reading order; a colour bar belongs to the axes nearest to it."""
    if len(figure.axes) < 2:
        return []
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
