"""The gradient's way: what ops hand on over all edges adds up to the gradient."""

import math

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same
from flow_programs import program

import minigrad as mg
from minigrad import Tensor, graph
from minigrad import backend as B


def worst(flow):
    """Return how far what arrives is from the gradient, beside its largest part."""
    parts = {x: [] for x in flow.gradients if x is not flow.output}
    for (t, i), c in flow.contributions.items():
        parts[t.inputs[i]].append(c.astype(float))
    return max(
        float(abs(sum(came) - flow.gradients[x]).max() / abs(B.xp.stack(came)).max())
        for x, came in parts.items()
    )


@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-12), ("float32", 1e-5)])
def test_what_arrives_over_all_uses_is_the_gradient_in_100_programs(dtype, most):
    for seed in range(100 if B.xp is np else 10):
        flow = graph.flow(program(seed, dtype))
        assert worst(flow) <= most
        for (t, i), c in flow.contributions.items():
            assert (c.shape, c.dtype) == (t.inputs[i].shape, t.inputs[i].dtype)
        for t, g in flow.gradients.items():
            assert (g.shape, g.dtype) == (t.shape, t.dtype)
    edge = next(edge for edge in flow.contributions if edge[0] is not flow.output)
    flow.contributions[edge] = 1.001 * flow.contributions[edge]
    assert worst(flow) > most  # a planted fault


def test_the_leaves_get_what_backward_gives_them_to_the_last_bit():
    for seed in range(100 if B.xp is np else 10):
        y = program(seed)
        flow = graph.flow(y)
        assert all(t.grad is None for t in graph.nodes(y))
        y.backward()
        for t in graph.nodes(y):
            if t.op is None:
                same(flow.gradients[t], t.grad)


def test_it_holds_every_tensor_and_every_use_and_no_other():
    x, constant = Tensor([1.0, 2.0]), array([3.0, 4.0])
    h = x * x
    y = h + constant
    flow = graph.flow(y, [1.0, 10.0])
    assert list(flow.gradients) == [y, h, x]  # from the output down
    assert list(flow.contributions) == [(y, 0), (h, 0), (h, 1)]
    same(flow.gradients[y], array([1.0, 10.0]))
    same(flow.contributions[h, 0], array([1.0, 20.0]))  # g x
    same(flow.contributions[h, 1], array([1.0, 20.0]))
    same(flow.gradients[x], array([2.0, 40.0]))  # 2 g x


def test_a_leaf_alone_gets_g():
    x = Tensor(2.0)
    flow = graph.flow(x)
    assert (flow.gradients[x].item(), flow.contributions, flow.trouble) == (
        1.0,
        {},
        None,
    )


def test_g_is_copied_and_may_be_a_tensor_or_a_list():
    x, g = Tensor(normal(2, 3)), array(normal(2, 3, seed=1))
    y = +x
    flow = graph.flow(y, g)
    before = +g
    g[0, 0] = 99.0
    for other in (flow, graph.flow(y, Tensor(before)), graph.flow(y, before)):
        same(other.gradients[x], before)


def test_in_self_attention_three_roads_lead_to_x_and_they_add_up():
    x, g = Tensor(normal(4, 3)), array(normal(4, 3, seed=1))
    keys = x.swapaxes(0, 1)
    scores = x @ keys / math.sqrt(3)
    y = mg.softmax(scores) @ x
    flow = graph.flow(y, g)
    roads = [(scores.inputs[0], 0), (keys, 0), (y, 1)]
    parts = []  # each alone: the others are constants
    for i in range(3):
        q, k, v = (x if i == j else x.detach() for j in range(3))
        alone = graph.flow(mg.softmax(q @ k.swapaxes(0, 1) / math.sqrt(3)) @ v, g)
        close(flow.contributions[roads[i]], alone.gradients[x])
        parts.append(flow.contributions[roads[i]])
    close(sum(parts), flow.gradients[x])


@numpy_only
def test_a_chain_of_20_000_ops_is_followed_without_recursion():
    x = y = Tensor(1.0)
    for _ in range(20_000):
        y = y + x
    flow = graph.flow(y)
    assert flow.gradients[x].item() == 20_001
    assert len(flow.contributions) == 40_000
    assert flow.trouble is None


@pytest.mark.parametrize("g", [None, [1.0], [[1.0, 2.0]], 1.0])
def test_a_g_that_does_not_fit_is_the_error_that_backward_has(g):
    y = 2 * Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^flow: .*\(2,\)") as error:
        graph.flow(y, g)
    with pytest.raises(ValueError, match=r"^backward: ") as other:
        y.backward(g)
    assert str(error.value).split(":", 1)[1] == str(other.value).split(":", 1)[1]
