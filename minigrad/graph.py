# ruff: noqa: F401     graph.flow, graph.draw and graph.label are defined above this file
"""The recorded graph, looked at: its ops, their number, and its paths.

What passes along the paths stands in flow.py, the picture in picture.py.

A path's length is the number of ops that a gradient passes on its way from the output
to a leaf.
"""

from collections import Counter

from .backward import reverse_order
from .flow import flow, label, recorded
from .picture import draw
from .tensor import Tensor


def inputs(t):
    """Return the Tensors among the inputs of t."""
    recorded("inputs", t)
    return [x for x in t.inputs if isinstance(x, Tensor)]


def nodes(output):
    """Return the output and all it was made from, inputs before what they make."""
    recorded("nodes", output)
    return list(reverse_order(output))[::-1]


def count(output):
    """Return how often each op was recorded, by name.

    >>> from minigrad import Tensor, graph
    >>> x = Tensor([1.0, 2.0])
    >>> graph.count((x * x + x).sum())
    Counter({'multiply': 1, 'add': 1, 'sum': 1})
    """
    recorded("count", output)
    return Counter(t.op.__name__ for t in nodes(output) if t.op)


def path_lengths(output, leaf):
    """Return the lengths, in ops, of the shortest and the longest path to the leaf.

    Raises: ValueError when there is no path.

    >>> from minigrad import Tensor, graph
    >>> x = Tensor([1.0, 2.0])
    >>> graph.path_lengths((x * x + x).sum(), x)
    (2, 3)
    """
    recorded("path_lengths", output, leaf)
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


def to_dot(output):
    """Return the graph in DOT, Graphviz's language, arrows from inputs to output."""
    recorded("to_dot", output)
    number = {t: i for i, t in enumerate(nodes(output))}
    lines = [
        f'  {i} [label="{label(t)}"{"" if t.op else " shape=box"}];'
        for t, i in number.items()
    ]
    lines += [f"  {number[x]} -> {i};" for t, i in number.items() for x in inputs(t)]
    return "\n".join(["digraph {", *lines, "}"])
