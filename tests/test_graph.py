"""The recorded graph: what stands in it, how long its paths are, and its text for dot."""

import re

import pytest
from conftest import array, normal

import minigrad as mg
from minigrad import Tensor, graph, no_grad


def lookup():
    """Return softmax(q K) V and its three leaves."""
    q, K, V = Tensor(normal(1, 3)), Tensor(normal(3, 4)), Tensor(normal(4, 2))
    return mg.softmax(q @ K) @ V, q, K, V


def test_nodes_are_all_that_the_output_was_made_from_inputs_first():
    y, *leaves = lookup()
    nodes = graph.nodes(y)
    place = {t: i for i, t in enumerate(nodes)}
    assert len(place) == len(nodes) == 6
    assert nodes[-1] is y
    assert set(leaves) == {t for t in nodes if t.op is None}
    assert all(place[x] < place[t] for t in nodes for x in t.inputs)


def test_count_is_by_the_public_name_of_each_op():
    y, *_ = lookup()
    assert graph.count(y) == {"matmul": 2, "softmax": 1}
    x = Tensor([1.0, 2.0])
    z = mg.einsum("i,i->", x, mg.concatenate([mg.stack([x, 2 * x])[0]]))
    names = ["multiply", "stack", "getitem", "concatenate", "einsum"]
    assert graph.count(z) == dict.fromkeys(names, 1)
    assert graph.count(x) == {}


def test_constants_and_what_no_grad_made_are_not_in_the_graph():
    x = Tensor([1.0, 2.0])
    with no_grad():
        frozen = mg.exp(x)
    y = (x * frozen + array([3.0, 4.0])).sum()
    assert graph.count(y) == {"multiply": 1, "add": 1, "sum": 1}
    assert graph.path_lengths(y, x) == (3, 3)


def all_paths(t, leaf):
    """Return the length of every path, one by one."""
    below = [
        n + 1 for x in t.inputs for n in all_paths(x, leaf) if isinstance(x, Tensor)
    ]
    return [0] if t is leaf else below


def test_path_lengths_are_those_of_the_shortest_and_the_longest_path():
    x = Tensor(1.0)
    y = x
    for k in range(6):
        y = y * x if k % 2 else mg.exp(y) + y
    lengths = all_paths(y, x)
    assert graph.path_lengths(y, x) == (min(lengths), max(lengths)) == (1, 9)


def test_path_lengths_of_the_lookup():
    y, q, K, V = lookup()
    assert graph.path_lengths(y, V) == (1, 1)
    assert graph.path_lengths(y, q) == graph.path_lengths(y, K) == (3, 3)
    assert graph.path_lengths(y, y) == (0, 0)


def test_the_paths_to_a_tensor_in_the_middle_end_there():
    x = Tensor([1.0])
    middle = mg.exp(x)
    assert graph.path_lengths(middle * x + middle, middle) == (1, 2)


def test_without_a_path_there_is_an_error():
    x, other = Tensor([1.0, 2.0]), Tensor([[3.0]])
    with pytest.raises(ValueError, match=r"path_lengths: .*\(2,\).*\(1, 1\)"):
        graph.path_lengths(x * 2, other)
    with pytest.raises(ValueError, match="path_lengths"):
        graph.path_lengths(x, x * 2)


def test_a_long_chain_is_walked_without_recursion():
    x = y = Tensor(1.0)
    for _ in range(3000):
        y = y + x
    assert graph.path_lengths(y, x) == (1, 3000)
    assert graph.count(y) == {"add": 3000}


def test_dot_text_names_each_node_and_has_one_arrow_for_each_use():
    x = Tensor(normal(2, 3))
    lines = graph.to_dot((x * x).sum()).splitlines()
    assert (lines[0], lines[-1]) == ("digraph {", "}")
    label = dict(
        re.fullmatch(r'  (\d+) \[label="(.*)".*\];', line).groups()
        for line in lines
        if "label" in line
    )
    arrows = [tuple(re.findall(r"\d+", line)) for line in lines if "->" in line]
    named = [(label[a], label[b]) for a, b in arrows]
    square = "multiply (2, 3)"
    assert sorted(label.values()) == ["leaf (2, 3)", square, "sum ()"]
    assert named == [("leaf (2, 3)", square)] * 2 + [(square, "sum ()")]


def test_what_is_no_tensor_has_no_record_and_each_function_says_so():
    x = Tensor([1.0])
    functions = {
        "nodes": graph.nodes,
        "inputs": graph.inputs,
        "count": graph.count,
        "to_dot": graph.to_dot,
        "draw": graph.draw,
        "flow": graph.flow,
        "label": graph.label,
        "path_lengths": lambda y: graph.path_lengths(y, x),
    }
    for wrong in (array([1.0]), None, 2.0, [x]):
        kind = type(wrong).__name__
        for name, f in functions.items():
            with pytest.raises(TypeError, match=f"^{name}: expected .*, got {kind}"):
                f(wrong)
        with pytest.raises(TypeError, match="^path_lengths: expected"):
            graph.path_lengths(x, wrong)
