"""The recorded graph as a picture, in rows, and no arrow crosses a box.

The row of a Tensor is the longest way from it down to the output, so every arrow leads
down by one row or more. It bends between rows only. Past a row it goes straight, at a
place of its own, (x, row), which all uses of x further down share.
"""

import functools
import itertools
import math
import operator

from ..backward import reverse_order
from ..checks import takes
from ..tensor import Tensor
from .flow import magnitude
from .paths import label, recorded

GAP = 2.8  # between two rows, in em, the size of the letters; so are all lengths here


@takes()
def draw(output, ax=None, flow=None):
    """Draw the graph with matplotlib, the output at the bottom, and return the axes.

    Arrows lead from inputs to what they make. With the `flow` of the output they lead
    back, as gradients do: widest for the largest contribution, by a sixth of that less
    for each factor of ten, dotted for 0. Then each box tells the size of its gradient,
    and that of `flow.trouble` is red.

    Raises: ValueError when the flow is that of another output.
    """
    recorded("draw", output)
    if flow is not None and flow.output is not output:
        raise ValueError("draw: the flow is that of another output")
    from matplotlib.patches import FancyBboxPatch, PathPatch  # only needed here
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    trouble = flow.trouble if flow else None
    texts = {t: label(t) for t in reverse_order(output)}
    for t, g in flow.gradients.items() if flow else ():
        texts[t] += f"\n{magnitude(g):.2g}"
        texts[t] += f" {trouble.kind}" if trouble and t is trouble.at else ""
    rows, links = routes(output)
    width = dict.fromkeys(itertools.chain(*rows), 0.0)  # of what passes a row
    for t, text in texts.items():
        lines = [TextPath((0, 0), line, size=1) for line in text.split("\n")]
        ends = [line.vertices[:, 0] for line in lines]  # with control points: enough
        width[t] = 1.2 + max(x.max() - x.min() for x in ends)
    half = 1.5 if flow else 0.9  # the height of a box
    x = arranged(rows, links, width)
    y = {n: i * (2 * half + GAP) for i, row in enumerate(rows) for n in row}

    left, right = (s * max(s * x[n] + width[n] / 2 + 1 for n in x) for s in (-1, 1))
    ax, em = framed(ax, (left, right), (-half - 1, max(y.values()) + half + 1))
    for t, text in texts.items():
        ill = trouble is not None and t is trouble.at
        look = {"fc": "#cfe3f5" if t.op else "#fbe3c0", "ec": "red" if ill else "0.5"}
        look |= {"lw": 2.5 if ill else 1, "boxstyle": "round,pad=0,rounding_size=0.5"}
        corner = x[t] - width[t] / 2, y[t] - half
        ax.add_patch(FancyBboxPatch(corner, width[t], 2 * half, **look))
        ax.text(x[t], y[t], text, ha="center", va="center", size=0.95 * em)
    starts, ends = ports(links, 0, x, width), ports(links, 1, x, width)
    for link, pen in pens(links, flow).items():
        xs = [starts[link], ends[link]]
        turn = [y[link[0]] - half, y[link[1]] + half]  # it bends between these only
        passing = [type(n) is tuple for n in link]
        ys = [
            y[n] if by else end for n, by, end in zip(link, passing, turn, strict=True)
        ]
        tip = 0 if flow else 1
        if not passing[tip]:
            h = pen["lw"] / 10 + 0.4
            base = turn[tip] + (h if tip else -h)
            corners = [xs[tip], xs[tip] - h / 2, xs[tip] + h / 2]
            ax.fill(corners, [turn[tip], base, base], pen["ec"])
            turn[tip] = ys[tip] = base
        middle = sum(turn) / 2
        way = [(xs[0], ys[0]), (xs[0], turn[0]), (xs[0], middle)]
        way += [(xs[1], middle), (xs[1], turn[1]), (xs[1], ys[1])]
        path = Path(way, [1, 2, 4, 4, 4, 2])  # move, line, curve, line
        pen["lw"] *= em / 10
        ax.add_patch(PathPatch(path, fc="none", zorder=0.5, **pen))
    return ax


def framed(ax, across, up):
    """Return axes, new ones if None, that hold the ranges given in em, and an em there.

    An em is in points, at most 10, and the same in both directions.
    """
    span = across[1] - across[0], up[1] - up[0]
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=[n * 10 / 72 for n in span]).add_axes((0, 0, 1, 1))
    points = ax.get_window_extent().size * 72 / ax.figure.dpi
    em = min(10, points[0] / span[0], points[1] / span[1])
    x, y = (sum(across) - points[0] / em) / 2, (sum(up) - points[1] / em) / 2
    ax.set(xlim=(x, x + points[0] / em), ylim=(y, y + points[1] / em))
    ax.set_axis_off()
    return ax, em


def routes(output):
    """Return the rows, and {link: uses}, a link (upper, lower) from a row to the next.

    Rows hold Tensors, and (x, row) where x passes. A use is (t, i), input i of t.
    """
    row, links = {output: 0}, {}
    for t in reverse_order(output):
        for x in t.inputs:
            if isinstance(x, Tensor):
                row[x] = max(row.get(x, 0), row[t] + 1)
    for t, below in row.items():
        for i, x in enumerate(t.inputs):
            if isinstance(x, Tensor):
                passed = [(x, y) for y in range(row[x] - 1, below, -1)]
                for link in itertools.pairwise([x, *passed, t]):
                    links.setdefault(link, []).append((t, i))
    rows = [[] for _ in range(max(row.values()) + 1)]
    for n in dict.fromkeys([output, *itertools.chain(*links)]):
        rows[n[1] if type(n) is tuple else row[n]].append(n)
    return rows, links


def arranged(rows, links, width):
    """Return {n: x}: each sits near what it is linked to, and none overlap in a row.

    Sugiyama et al. (1981): up and down through the rows, several times; each takes the
    order in which it is linked to the row before.
    """
    below, above = {}, {}
    for upper, lower in links:
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    x = {n: 9.0 * i for row in rows for i, n in enumerate(row)}
    for near, order in [(below, rows), (above, rows[::-1])] * 12:
        for row in order:
            linked = {n: [x[m] for m in near.get(n, [n])] for n in row}
            mean = {n: sum(places) / len(places) for n, places in linked.items()}
            row.sort(key=mean.get)
            x |= spread(row, mean, width)
    return x


def spread(row, wanted, width):
    """Return {n: x} for a row in its order, as near to what is wanted as widths allow."""
    left, right = {}, {}
    edge = -math.inf
    for n in row:
        left[n] = max(wanted[n], edge + width[n] / 2)
        edge = left[n] + width[n] / 2 + 1
    edge = math.inf
    for n in row[::-1]:
        right[n] = min(wanted[n], edge - width[n] / 2)
        edge = right[n] - width[n] / 2 - 1
    return {n: (left[n] + right[n]) / 2 for n in row}


def ports(links, side, x, width):
    """Return {link: x} where links meet their upper (0) or lower (1) end, side by side."""
    meet, port = {}, {}
    for link in links:
        meet.setdefault(link[side], []).append(link)
    for n, met in meet.items():
        met.sort(key=lambda link: x[link[1 - side]])
        for j, link in enumerate(met):
            port[link] = x[n] + 0.8 * width[n] * ((j + 1) / (len(met) + 1) - 0.5)
    return port


def pens(links, flow):
    """Return {link: how to draw it}, by what all of its uses contribute together.

    Widths are in tenths of an em.
    """
    pen = {link: {"ec": "0.45", "lw": 1.2} for link in links}
    if not flow:
        return pen
    given, sizes = flow.contributions, {}
    for link, uses in links.items():
        sizes[link] = magnitude(
            functools.reduce(operator.add, [given[use] for use in uses])
        )
    largest = max([0.0, *filter(math.isfinite, sizes.values())])
    for link, n in sizes.items():
        if not math.isfinite(n):
            pen[link]["ec"] = "red"
        elif n == 0:
            pen[link]["ls"] = ":"
        else:
            pen[link]["lw"] = max(0.6, 6 - math.log10(largest / n))
    return pen
