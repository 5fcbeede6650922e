"""Optimisers against numbers worked out by hand and loops that follow the papers."""

import fakecupy
import numpy as np
import pytest
from conftest import array, close, normal, same
from plain_optimisers import every_rule, tensor

from minigrad import Tensor, nn
from minigrad.optim import SGD, Adam, AdamW

UNIT = {"betas": (0.5, 0.75), "eps": 0.5}


@pytest.mark.parametrize(
    ("make", "after_one", "after_two"),
    [
        # g = 0.5, then -1, from θ = 1, with α = 0.1
        (lambda p: SGD(p, 0.1), 0.95, 1.05),
        # v = 0.5, then 0.9 · 0.5 - 1 = -0.55
        (lambda p: SGD(p, 0.1, momentum=0.9), 0.95, 1.005),
        # g = 0.5 + 0.2 · 1, then -1 + 0.2 · 0.93
        (lambda p: SGD(p, 0.1, weight_decay=0.2), 0.93, 1.0114),
        # m̂ / (√v̂ + ε) = 0.5 / (0.5 + 0.5), then -0.5 / (√(0.296875 / 0.4375) + 0.5)
        (lambda p: Adam(p, 0.1, **UNIT), 0.95, 0.9877713549555900),
        (lambda p: Adam(p, 0.1), 0.90000000199999996, 0.93661035424056556),
        # 0.98 · 1 - 0.0999…, then 0.98 · 0.88 + 0.0366…
        (
            lambda p: AdamW(p, 0.1, weight_decay=0.2),
            0.88000000199999996,
            0.89901035420056556,
        ),
    ],
)
def test_first_steps_worked_out_by_hand(make, after_one, after_two):
    p = tensor([[1.0]], 0.5)
    optimizer = make([p])
    optimizer.step()
    close(p, [[after_one]], rtol=1e-15)
    p.grad = array([[-1.0]])
    optimizer.step()
    close(p, [[after_two]], rtol=1e-15)


@every_rule
@pytest.mark.parametrize("shape", [(), (3,), (3, 2), (2, 3, 2)])
def test_ten_steps_follow_the_paper_and_only_matrices_decay(make, rule, options, shape):
    p = tensor(normal(*shape))
    expected, gradients = p.numpy(), normal(10, *shape, seed=1)
    optimizer = make([p], **options)
    for g in gradients:
        p.grad = array(g)
        optimizer.step()
    if len(shape) < 2:
        options = options | ({"weight_decay": 0.0} if "weight_decay" in options else {})
    close(p, rule(expected, gradients, **options), rtol=1e-12)


@every_rule
def test_float32_stays_float32_and_nothing_is_read_back(make, rule, options):
    layer = nn.Linear(3, 2)
    optimizer = make(layer.parameters(), **options)
    optimizer.lr = np.float64(0.1)
    for step in range(3):
        reads = fakecupy.reads
        layer(array(normal(4, 3, seed=step), "f4")).sum().backward()
        optimizer.step()
        assert fakecupy.reads == reads
        optimizer.zero_grad()
        assert layer.weight.grad is layer.bias.grad is None
    state = {**layer.state_dict(), **optimizer.state_dict()}
    assert {x.dtype for name, x in state.items() if name != "steps"} == {np.dtype("f4")}


@every_rule
def test_a_step_changes_no_array_that_others_hold(make, rule, options):
    p = tensor(normal(3, 2), normal(3, 2, seed=1))
    loss = (p * p).sum()
    held, before, g, g_before = p.detach(), p.numpy(), p.grad, Tensor(p.grad).numpy()
    optimizer = make([p], **options)
    optimizer.step()
    optimizer.step()
    same(held, before)
    same(g, g_before)
    p.grad = None
    loss.backward()  # of the p that the loss was computed with
    same(p.grad, 2 * before)


@every_rule
def test_a_parameter_without_gradient_is_left_alone_with_all_that_is_remembered(
    make, rule, options
):
    late, early = tensor([[1.0]]), tensor([[1.0]], 0.5)
    optimizer = make([late, early], **options)
    for _ in range(3):
        optimizer.step()
    same(late, [[1.0]])
    late.grad = array([[0.5]])
    optimizer.step()
    close(late, rule(np.array([[1.0]]), [0.5], **options))


@every_rule
def test_tied_weights_make_one_step(make, rule, options):
    p, alone = tensor([1.0], [0.5]), tensor([1.0], [0.5])
    make([p, p], **options).step()
    make([alone], **options).step()
    same(p, alone)


@every_rule
def test_a_restored_optimiser_continues_to_the_last_bit(make, rule, options):
    def steps(p, optimizer, seeds):
        for seed in seeds:
            p.grad = array(normal(3, 4, seed=seed))
            optimizer.step()

    p, q = tensor(normal(3, 4)), tensor(normal(3, 4))
    first, second = make([p], **options), make([q], **options)
    steps(p, first, range(3))
    state = first.state_dict()
    steps(p, first, range(3, 6))
    steps(q, make([q], **options), range(3))
    second.load_state_dict(state)
    steps(q, second, range(3, 6))
    same(p, q)


def test_a_state_of_other_parameters_is_refused_and_changes_nothing():
    p = tensor(normal(2, 3), normal(2, 3))
    optimizer, other = Adam([p]), Adam([tensor(normal(3, 2))])
    optimizer.step()
    before = optimizer.state_dict()
    with pytest.raises(ValueError, match=r"'m.0' has shape \(3, 2\), where \(2, 3\)"):
        optimizer.load_state_dict(other.state_dict())
    with pytest.raises(ValueError, match=r"missing \['m.0', 'v.0'\]"):
        optimizer.load_state_dict(SGD([p], 0.1).state_dict())
    for name, x in optimizer.state_dict().items():
        same(x, before[name])


@pytest.mark.parametrize(
    ("make", "steps"),
    [(lambda p: SGD(p, 0.5, momentum=0.8), 200), (lambda p: Adam(p, 0.1), 500)],
)
def test_training_finds_the_least_squares_solution(make, steps):
    x, y = normal(50, 3), normal(50, 2, seed=1)
    layer = nn.Linear(3, 2, bias=False).astype(float)
    optimizer = make(layer.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        error = layer(array(x)) - array(y)
        (error * error).mean().backward()
        optimizer.step()
    close(layer.weight, np.linalg.lstsq(x, y, rcond=None)[0], rtol=1e-5)
