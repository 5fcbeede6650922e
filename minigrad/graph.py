"""The recorded graph, looked at: its ops, their number, its paths, and a picture.

A path's length is the number of ops that a gradient passes on its way from the output
to a leaf.
"""

from collections import Counter

from .backward import reverse_order
from .tensor import Tensor


def inputs(t):
    """Return the Tensors among the inputs of t."""
    return [x for x in t.inputs if type(x) is Tensor]


def nodes(output):
    """Return the output and all it was made from, inputs before what they make."""
    return list(reverse_order(output))[::-1]


def count(output):
    """Return how often each op was recorded, by name.

    >>> from minigrad import Tensor, graph
    >>> x = Tensor([1.0, 2.0])
    >>> graph.count((x * x + x).sum())
    Counter({'multiply': 1, 'add': 1, 'sum': 1})
    """
    return Counter(t.op.__name__ for t in nodes(output) if t.op)


def path_lengths(output, leaf):
    """Return the lengths, in ops, of the shortest and the longest path to the leaf.

    Raises: ValueError when there is no path.

    >>> from minigrad import Tensor, graph
    >>> x = Tensor([1.0, 2.0])
    >>> graph.path_lengths((x * x + x).sum(), x)
    (2, 3)
    """
    lengths = {leaf: (0, 0)}  # of the paths from each Tensor down to the leaf
    for t in nodes(output):
        below = [lengths[x] for x in inputs(t) if x in lengths]
        if below and t is not leaf:
            shortest, longest = zip(*below, strict=True)
            lengths[t] = 1 + min(shortest), 1 + max(longest)
    if output not in lengths:
        raise ValueError(
            f"path_lengths: no path leads from the output {output.shape} "
            f"to the leaf {leaf.shape}"
        )
    return lengths[output]


def label(t):
    """Return the text of a node: the op or "leaf", and the shape."""
    return f"{t.op.__name__ if t.op else 'leaf'} {t.shape}"


def to_dot(output):
    """Return the graph in DOT, Graphviz's language, arrows from inputs to output."""
    number = {t: i for i, t in enumerate(nodes(output))}
    lines = [
        f'  {i} [label="{label(t)}"{"" if t.op else " shape=box"}];'
        for t, i in number.items()
    ]
    lines += [f"  {number[x]} -> {i};" for t, i in number.items() for x in inputs(t)]
    return "\n".join(["digraph {", *lines, "}"])


def draw(output, ax=None):
    """Draw the graph with matplotlib, the output at the bottom, and return the axes."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure().add_subplot()
    height = {}  # of each Tensor: the longest way down to the output
    rows = {}  # of each height: its Tensors
    for t in reversed(nodes(output)):
        height.setdefault(t, 0)
        rows.setdefault(height[t], []).append(t)
        for x in inputs(t):
            height[x] = max(height.get(x, 0), height[t] + 1)
    place = {
        t: ((i + 0.5) / len(row), y)
        for y, row in rows.items()
        for i, t in enumerate(reversed(row))
    }
    for t, (x, y) in place.items():
        for source in inputs(t):
            far = height[source] > height[t] + 1  # then bend around what is between
            arrow = {"arrowstyle": "->", "color": "0.4", "shrinkA": 9, "shrinkB": 9}
            arrow["connectionstyle"] = f"arc3,rad={0.4 if far else 0}"
            ax.annotate("", (x, y), place[source], arrowprops=arrow, zorder=1)
        box = {"boxstyle": "round", "fc": "#cfe3f5" if t.op else "#fbe3c0", "ec": "0.5"}
        ax.text(x, y, label(t), ha="center", va="center", bbox=box)
    ax.set(xlim=(0, 1), ylim=(-0.5, max(rows) + 0.5))
    ax.set_axis_off()
    return ax
