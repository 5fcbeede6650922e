"""The reverse pass: its order, what it adds up, and what it leaves alone."""

import numpy as np
import pytest
from conftest import array, close, normal, same

import minigrad as mg
from minigrad import Tensor
from minigrad.backward import reverse_order


@pytest.fixture
def calls(monkeypatch):
    """Replace the rules of add and multiply by ones that note each call."""
    calls = []
    for op in (mg.add, mg.multiply):

        def noting(*args, op=op, rule=op.vjp):
            calls.append(op.__name__)
            return rule(*args)

        monkeypatch.setattr(op, "vjp", noting)
    return calls


def test_b_is_a_plus_a_and_c_is_b_plus_b(calls):
    a = Tensor(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert (a.grad.item(), calls) == (4.0, ["add", "add"])


def test_a_ladder_of_64_doublings_runs_64_rules(calls):
    x = y = Tensor(1.0)
    for _ in range(64):
        y = y + y
    y.backward()
    assert (x.grad.item(), len(calls)) == (2.0**64, 64)


def random_graph(seed, n=30):
    """Return leaves and a sum of products of randomly chosen earlier nodes."""
    rng = np.random.default_rng(seed)
    made = [Tensor(rng.uniform(0.5, 1.5)) for _ in range(4)]
    leaves = made[:]
    for _ in range(n):
        i, j = rng.integers(len(made), size=2)
        made.append(0.5 * made[i] * made[j] + made[j])
    return leaves, made[-1]


@pytest.mark.parametrize("seed", range(5))
def test_every_use_of_a_tensor_comes_before_it_and_nothing_comes_twice(seed):
    _, y = random_graph(seed)
    seen = set()
    for t in reverse_order(y):
        assert t not in seen
        assert not any(x in seen for x in t.inputs if isinstance(x, Tensor))
        seen.add(t)


@pytest.mark.parametrize("seed", range(5))
def test_a_gradient_is_the_sum_over_all_paths(seed):
    leaves, y = random_graph(seed, n=8)

    def along_paths(t, leaf):
        if t.op is None:
            return float(t is leaf)
        local = t.op.vjp(1.0, t.item(), *(getattr(x, "data", x) for x in t.inputs))
        pairs = zip(t.inputs, local, strict=True)
        return sum(g * along_paths(x, leaf) for x, g in pairs if isinstance(x, Tensor))

    y.backward()
    for leaf in leaves:
        expected = float(along_paths(y, leaf))
        assert (0.0 if leaf.grad is None else leaf.grad.item()) == pytest.approx(
            expected
        )


def test_a_chain_of_200_000_ops_at_the_default_recursion_limit(xp):
    n = 200_000 if xp is np else 5_000  # the walk is the same, the arrays are slower
    x = y = Tensor([1.0, -2.0])
    for _ in range(n):
        y = y + 1e-6
    y.backward(array([3.0, 4.0]))
    same(x.grad, np.array([3.0, 4.0]))
    close(y.data, np.array([1.0, -2.0]) + n * 1e-6, rtol=1e-9)


def test_calls_accumulate_and_the_graph_stays():
    x = Tensor([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    y.backward()
    same(x.grad, np.array([4.0, 8.0]))
    (3 * x).sum().backward()
    same(x.grad, np.array([7.0, 11.0]))


def test_a_second_call_does_not_change_the_array_of_the_first():
    x = Tensor([1.0, 2.0])
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    same(first, np.array([2.0, 4.0]))


def test_only_leaves_that_were_reached_get_a_gradient():
    x, unused = Tensor([1.0, 2.0]), Tensor([5.0])
    middle = x * 2
    y = middle.sum()
    y.backward()
    assert (unused.grad, middle.grad, y.grad) == (None, None, None)
    close(x.grad, np.array([2.0, 2.0]))


def test_gradients_belong_to_the_values_of_the_forward_pass():
    x = Tensor([1.0, 2.0])
    y = (x * x).sum()
    x.data = x.data + 100  # as an optimiser does
    y.backward()
    same(x.grad, np.array([2.0, 4.0]))


def test_a_leaf_is_its_own_output():
    x = Tensor([[2.0]])
    x.backward()
    same(x.grad, np.ones((1, 1)))


@pytest.mark.parametrize("as_what", [array, Tensor, list, tuple])
def test_g_is_the_cotangent(as_what):
    x, g = Tensor(normal(3)), normal(3, seed=1)
    (x * x).backward(as_what(g))
    close(x.grad, 2 * x.numpy() * g)


def test_g_takes_the_type_of_the_output_and_stays_what_it_was():
    x, g = Tensor(normal(3).astype("f4")), array(normal(3))
    before = mg.backend.to_numpy(g).copy()
    (x + 0).backward(g)
    assert x.grad.dtype == "f4"
    x.grad += 1
    same(g, before)


HANDED_ON = {
    "add": lambda a, b, c: (a + b).sum() + (4 * a).sum() + c.sum(),
    "add, swapped": lambda a, b, c: (4 * a).sum() + (b + a).sum() + c.sum(),
    "positive": lambda a, b, c: (+a + +b + +c).sum(),
    "reshape": lambda a, b, c: (a.reshape(2, 1).T + b + c).sum(),
    "sum": lambda a, b, c: (a.sum() + b.sum() + c.sum()) * 1,
    "broadcast": lambda a, b, c: (mg.broadcast_to(a, (3, 2)) + b + c).sum(),
    "getitem": lambda a, b, c: (mg.stack([a, b, c])[0] + b + c).sum(),
    "concatenate": lambda a, b, c: mg.concatenate([a, b, c]).sum(),
}


@pytest.mark.parametrize("handed_on", HANDED_ON)
def test_no_two_gradients_share_memory(handed_on):
    leaves = [Tensor([1.0, 2.0]) for _ in range(3)]
    g = array(1.0)
    HANDED_ON[handed_on](*leaves).backward(g)
    values = [mg.backend.to_numpy(x.grad).copy() for x in leaves]
    for k, x in enumerate(leaves):
        x.grad += 10.0  # it can be written, and nobody else notices
        values[k] = values[k] + 10.0
        for y, value in zip(leaves, values, strict=True):
            same(y.grad, value)
    same(g, np.array(1.0))


def test_when_a_rule_raises_no_gradient_has_changed(monkeypatch):
    x, w = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    w.grad = array([7.0, 7.0])
    y = (mg.exp(x) * w).sum()
    with monkeypatch.context() as broken:
        broken.setattr(mg.exp, "vjp", lambda g, y, x: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            y.backward()
    assert x.grad is None
    same(w.grad, np.array([7.0, 7.0]))
    y.backward()
    close(x.grad, np.exp([1.0, 2.0]) * [3.0, 4.0])
    close(w.grad, np.exp([1.0, 2.0]) + 7)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda g, y, a, b: g, ValueError, "multiply: .*1 gradients for 2 inputs"),
        (lambda g, y, a, b: [g, g, g], ValueError, "3 gradients for 2 inputs"),
        (lambda g, y, a, b: (None, g), TypeError, "multiply: its rule .* NoneType"),
        (lambda g, y, a, b: (g, 1.0), TypeError, "multiply: its rule .* float"),
        (lambda g, y, a, b: (g * 1j, g), TypeError, "multiply: .*complex128"),
        (lambda g, y, a, b: (g @ a[:1], g), ValueError, "multiply: its rule: matmul"),
        (lambda g, y, a, b: (g, g[:1]), ValueError, "multiply: .*(1,).*(2,)"),
        (lambda g, y, a, b: (g, g[None][None].sum()), ValueError, "multiply"),
    ],
)
def test_a_rule_of_wrong_shape_is_an_error(monkeypatch, wrong, error, message):
    y = Tensor([1.0, 2.0]) * Tensor([3.0, 4.0])
    monkeypatch.setattr(mg.multiply, "vjp", wrong)
    with pytest.raises(error, match=message):
        y.backward(array([1.0, 1.0]))
