"""The recorded graph, looked at: its ops, their number, and its paths.

A path's length is the number of ops that a gradient passes on its way from the output
to a leaf.
"""

from collections import Counter

from ..backward import reverse_order
from ..tensor import Tensor


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


def label(t):
    """Return the text of a node: the op or "leaf", and the shape."""
    recorded("label", t)
    return f"{t.op.__name__ if t.op else 'leaf'} {t.shape}"


def recorded(name, *tensors):
    """Raise a TypeError unless all are Tensors: anything else has no record."""
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(
                f"{name}: expected a Tensor that ops made, got {type(t).__name__}; "
                "ops return plain arrays when given no Tensor, and within no_grad"
            )
