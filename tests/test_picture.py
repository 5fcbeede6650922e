"""The picture of a graph: nothing overlaps, and it shows what flows and what goes wrong."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import array, close, normal, numpy_only
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from test_graph import lookup

import minigrad as mg
from minigrad import Tensor, graph


def network(steps):
    """Return h after so many steps h = tanh(h W + x), as one number."""
    W, h = Tensor(normal(2, 2)), Tensor(normal(1, 2))
    for i in range(steps):
        h = mg.tanh(h @ W + Tensor(normal(1, 2, seed=i)))
    return h.sum()


def lattice(n):
    """Return a Tensor made in rows, each number from two in the row before."""
    row = [Tensor(normal(1, seed=i)) for i in range(n)]
    while len(row) > 1:
        row = [a + b for a, b in itertools.pairwise(row)]
    return row[0]


def crossed(n, seed=1):
    """Return the sum of n numbers, each made from two of those before."""
    rng = np.random.default_rng(seed)
    made = [Tensor(1.0)]
    for _ in range(n):
        i, j = rng.integers(len(made), size=2)
        made.append(made[i] - 0.5 * made[j])
    return mg.stack(made)


GRAPHS = {
    "a leaf": lambda: Tensor(1.0),
    "a lookup": lambda: lookup()[0],
    "a network of 8 steps": lambda: network(8),
    "a lattice of 36": lambda: lattice(8),
    "42 at random": lambda: crossed(20),
}


def overlap(a, b):
    """Return whether two boxes (left, low, right, high) share more than an edge."""
    return all(a[i] < b[i + 2] - 1e-9 and b[i] < a[i + 2] - 1e-9 for i in (0, 1))


def within(a, b):
    """Return whether box a lies inside of box b."""
    return b[0] < a[0] and b[1] < a[1] and a[2] < b[2] and a[3] < b[3]


def points(patches):
    """Return points (n, 2) along the lines and around the heads of the arrows."""
    found = []
    for patch in patches:
        (outline,) = patch.get_path().to_polygons(closed_only=False)
        near = np.linspace(0, len(outline) - 1, 99)
        found += zip(
            *(np.interp(near, range(len(w)), w) for w in outline.T), strict=True
        )
    return np.array(found).reshape(-1, 2)


def inside(points, box):
    """Return how many points lie inside a box."""
    low, high = np.array(box[:2]) + 1e-9, np.array(box[2:]) - 1e-9
    return ((low < points) & (points < high)).all(axis=1).sum()


@numpy_only  # below, what a flow has on a device is drawn
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("size", [None, (9, 12)])
@pytest.mark.parametrize("flows", [False, True])
def test_no_box_overlaps_another_and_no_arrow_a_box(name, size, flows):
    y = GRAPHS[name]()
    flow = graph.flow(y, array(normal(*y.shape))) if flows else None
    given = plt.figure(figsize=size).add_subplot() if size else None
    ax = graph.draw(y, given, flow)
    assert given is None or ax is given

    nodes = graph.nodes(y)
    boxes = [p.get_bbox().extents for p in ax.patches if isinstance(p, FancyBboxPatch)]
    assert len(boxes) == len(nodes) == len(ax.texts)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    for i, (box, text) in enumerate(zip(boxes, ax.texts, strict=True)):
        assert within(box, (left, low, right, high))
        assert not any(overlap(box, other) for other in boxes[:i])
        seen = text.get_window_extent().transformed(ax.transData.inverted())
        assert within(seen.extents, box)
    lines = [p for p in ax.patches if type(p) is PathPatch]
    heads = [p for p in ax.patches if type(p) is Polygon]
    uses = {(t, x) for t in nodes for x in graph.inputs(t)}
    assert len(heads) >= len({x if flows else t for t, x in uses})
    assert len(lines) >= len(uses)
    arrows = points(lines + heads)
    assert not any(inside(arrows, box) for box in boxes)
    plt.close("all")


def test_these_checks_find_a_box_that_is_moved():
    ax = graph.draw(network(3))
    box, *_ = (
        p.get_bbox().extents for p in ax.patches if isinstance(p, FancyBboxPatch)
    )
    arrows = points([p for p in ax.patches if not isinstance(p, FancyBboxPatch)])
    assert not within(box, box)
    assert overlap(box, box + 1.0)
    assert not overlap(box, box + [0.0, 2.0, 0.0, 2.0])
    assert not inside(arrows, box)
    assert inside(arrows, box + [0.0, 1.0, 0.0, 1.0])  # the arrows that it ends
    plt.close("all")


def test_the_output_is_at_the_bottom_and_arrows_point_to_what_is_made():
    y, *_ = lookup()
    for flow in (None, graph.flow(y, array(normal(1, 2)))):
        ax = graph.draw(y, flow=flow)
        place = {t.get_text(): t.get_position()[1] for t in ax.texts}
        names = [name.split("\n")[0] for name in place]
        assert sorted(names) == [
            "leaf (1, 3)",
            "leaf (3, 4)",
            "leaf (4, 2)",
            "matmul (1, 2)",
            "matmul (1, 4)",
            "softmax (1, 4)",
        ]
        lowest = min(place, key=place.get)
        assert lowest.startswith("matmul (1, 2)")
        head = next(p for p in ax.patches if type(p) is Polygon).get_xy()[:, 1]
        assert (head[0] > head[1]) == (flow is not None)  # as the gradient: upwards
    plt.close("all")


def test_arrows_are_as_wide_as_the_contribution_is_large():
    factors = [1.0, 0.1, 0.01, 1e-20, 0.0]
    xs = [Tensor(1.0) for _ in factors]
    y = mg.stack(xs) @ array(factors)
    ax = graph.draw(y, flow=graph.flow(y))
    lines = [p for p in ax.patches if type(p) is PathPatch]
    lines = sorted(lines, key=lambda p: p.get_path().vertices[:, 1].max())
    top = lines[-5:]  # those into the leaves
    assert sorted(p.get_linestyle() for p in top) == [":", *4 * ["solid"]]
    widths = sorted(p.get_linewidth() for p in top if p.get_linestyle() == "solid")[
        ::-1
    ]
    whole = lines[0].get_linewidth()  # √(1 + 0.01 + …) of it arrives at the stack
    assert whole > widths[0]
    decade = whole / 6
    close(array(widths[0] - widths[1]), array(decade), rtol=1e-9)
    close(array(widths[1] - widths[2]), array(decade), rtol=1e-9)
    assert 0 < widths[3] < widths[2]
    plt.close("all")


def test_the_first_trouble_is_red():
    x = Tensor([100.0, 0.0])
    y = mg.softmax(x)
    z = y @ array([1.0, 2.0])
    ax = graph.draw(z, flow=graph.flow(z))
    red = [p for p in ax.patches if p.get_edgecolor()[:3] == (1.0, 0.0, 0.0)]
    assert [type(p) for p in red] == [FancyBboxPatch]
    (text,) = [t.get_text() for t in ax.texts if "vanishes" in t.get_text()]
    assert text.startswith("softmax (2,)\n")
    plt.close("all")


def test_a_flow_of_another_output_is_refused():
    x = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="^draw: the flow is that of another output"):
        graph.draw(x.sum(), flow=graph.flow((2 * x).sum()))
