"""Optimisers against numbers worked out by hand and loops that follow the papers."""

import fakecupy
import numpy as np
import pytest
from conftest import array, close, normal, same
from plain_optimisers import adam, sgd, tensor

from minigrad import Tensor, nn
from minigrad.optim import SGD, Adam, AdamW, clip_grad_norm

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


RULES = [
    (SGD, sgd, {"lr": 0.1}),
    (SGD, sgd, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.3}),
    (Adam, adam, {"lr": 0.01, "betas": (0.8, 0.9), "eps": 0.1}),
    (AdamW, adam, {"lr": 0.1, "weight_decay": 0.3}),
]
every_rule = pytest.mark.parametrize(("make", "rule", "options"), RULES)


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


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: SGD(p, -0.1), ValueError, "SGD: lr -0.1 is not at least 0"),
        (lambda p: Adam(p, np.nan), ValueError, "Adam: lr nan"),
        (lambda p: SGD(p, 0.1, momentum=-1), ValueError, "SGD: momentum -1"),
        (lambda p: AdamW(p, weight_decay=-1), ValueError, "AdamW: weight_decay -1"),
        (lambda p: AdamW(p, betas=(0.9, 1)), ValueError, r"AdamW: betas \(0.9, 1\)"),
        (
            lambda p: Adam(p, betas=0.9),
            ValueError,
            "Adam: betas 0.9 is not two numbers",
        ),
        (lambda p: Adam(p, betas=(0.9,)), ValueError, r"Adam: betas \(0.9,\)"),
        (
            lambda p: Adam(p, betas=(0, np.nan)),
            ValueError,
            r"Adam: betas \(0, nan\)",
        ),
        (
            lambda p: clip_grad_norm(p, -1.0),
            ValueError,
            "clip_grad_norm: max_norm -1.0 is",
        ),
        (lambda p: SGD([], 0.1), ValueError, "SGD: there are no parameters"),
        (lambda p: SGD([2 * p[0]], 0.1), ValueError, "SGD: multiply made this Tensor"),
        (lambda p: SGD(p, "a"), TypeError, "SGD: lr 'a' is not a number"),
        (
            lambda p: SGD(nn.Linear(1, 1), 0.1),
            TypeError,
            r"model.parameters\(\), .* Linear",
        ),
        (lambda p: SGD(p[0], 0.1), TypeError, "SGD: .* got one Tensor"),
        (
            lambda p: SGD([p[0].data], 0.1),
            TypeError,
            "SGD: expected Tensors, got ndarr",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make([tensor([1.0], [1.0])])


def test_a_gradient_that_does_not_fit_moves_nothing():
    first, second = Tensor([1.0]), Tensor([2.0, 3.0])
    first.grad, second.grad = array([1.0]), array([1.0])  # would broadcast
    with pytest.raises(ValueError, match=r"SGD.step: .*\(1,\).*\(2,\)"):
        SGD([first, second], lr=0.1).step()
    same(first, [1.0])
    same(second, [2.0, 3.0])


@every_rule
def test_a_parameter_keeps_its_float_type_whatever_its_gradient_has(
    make, rule, options
):
    p, q = tensor(normal(3, 2), dtype="f4"), tensor(normal(3, 2), dtype="f4")
    wide, narrow = make([p], **options), make([q], **options)
    for seed in range(3):
        p.grad = array(normal(3, 2, seed=seed))  # float64
        q.grad = (
            array(p.grad, "f4") if type(p.grad) is np.ndarray else p.grad.astype("f4")
        )
        wide.step()
        narrow.step()
    assert p.dtype == "f4"
    same(p, q)
    p.grad = array(np.ones((3, 2)), int)
    wide.step()
    assert p.dtype == "f4"


@every_rule
def test_numpy_numbers_make_no_wider_floats(make, rule, options):
    def numbers(convert):
        p = tensor(normal(3, 2), dtype="f4")
        given = {key: convert(value) for key, value in options.items()}
        optimizer = make([p], **given)
        for seed in range(3):
            p.grad = array(normal(3, 2, seed=seed), "f4")
            optimizer.step()
        return p, optimizer.state_dict()

    (p, state), (q, other) = numbers(np.asarray), numbers(lambda x: x)
    assert p.dtype == "f4"
    same(p, q)
    for name, x in other.items():
        assert state[name].dtype == x.dtype
        same(state[name], x)


GRADIENTS = {  # of a parameter of shape (2,)
    "complex": lambda: np.array([1j, 2j]),
    "objects": lambda: np.array([1.0, None]),
    "text": lambda: np.array(["1", "2"]),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [0, 1]),
    "a list": lambda: [1.0, 2.0],
    "a number": lambda: 1.0,
    "a Tensor": lambda: Tensor([1.0, 2.0]),
    "of another shape": lambda: array([1.0]),
    "of more axes": lambda: array([[1.0, 2.0]]),
}


@pytest.mark.parametrize("what", GRADIENTS)
@every_rule
def test_a_gradient_that_is_none_is_refused_and_changes_nothing(
    make, rule, options, what
):
    first, second = tensor([1.0], [1.0]), tensor([2.0, 3.0], [4.0, 5.0])
    optimizer = make([first, second], **options)
    optimizer.step()
    before, state = (first.numpy(), second.numpy()), optimizer.state_dict()
    gradient = second.grad = GRADIENTS[what]()
    errors, name = (TypeError, ValueError), type(optimizer).__name__
    with pytest.raises(errors, match=rf"^{name}\.step: "):
        optimizer.step()
    with pytest.raises(errors, match="^clip_grad_norm: "):
        clip_grad_norm([first, second], 0.1)
    same(first, before[0])
    same(second, before[1])
    same(first.grad, [1.0])
    assert second.grad is gradient
    for name, x in optimizer.state_dict().items():
        same(x, state[name])


def test_adam_moves_float16_by_the_learning_rate_as_it_does_float32():
    # g = 0.001: (1 - β₂) g² and ε are 0 in float16, and 0 / 0 is NaN
    p = tensor([1.0, 1.0, 1.0], [1e-3, -1e-3, 0.0], "f2")
    optimizer = Adam([p], lr=0.125)
    optimizer.step()
    assert p.dtype == "f2"
    close(p, np.array([0.875, 1.125, 1.0], "f2"), rtol=1e-3)
    Adam([p]).load_state_dict(optimizer.state_dict())  # float32 in both


def test_a_parameter_keeps_its_type_when_converted_after_the_optimiser_was_made():
    for before, after in [("f4", "f8"), ("f8", "f4")]:
        layer = nn.Linear(2, 2).astype(before)
        optimizer = AdamW(layer.parameters())
        layer.astype(after)
        layer(array(normal(3, 2), after)).sum().backward()
        optimizer.step()
        assert {p.dtype for p in layer.parameters()} == {np.dtype(after)}


@pytest.mark.parametrize("x", [-1, np.nan, None, "a", [0.1], 1j, {}])
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (SGD, ["lr", "momentum", "weight_decay"]),
        (Adam, ["lr", "betas", "eps"]),
        (AdamW, ["lr", "betas", "eps", "weight_decay"]),
    ],
)
def test_a_number_that_is_none_is_refused_by_name(make, names, x):
    for name in names:
        with pytest.raises((ValueError, TypeError), match=f"^{make.__name__}: {name} "):
            make([tensor([1.0])], **({"lr": 0.1} | {name: x}))


@pytest.mark.parametrize(
    "betas", [(0.9, -0.1), (0.9, "a"), ("a", "b"), "ab", (0.9, None)]
)
def test_betas_are_two_numbers_below_1(betas):
    with pytest.raises((ValueError, TypeError), match="^AdamW: betas "):
        AdamW([tensor([1.0])], betas=betas)


@pytest.mark.parametrize("params", [None, "text", 3, [None], {}, [[]], [1.0], {"w": 1}])
@pytest.mark.parametrize(
    "make", [Adam, lambda p: SGD(p, 0.1), lambda p: clip_grad_norm(p, 1)]
)
def test_what_are_no_parameters_is_refused(make, params):
    name = "Adam" if make is Adam else "(SGD|clip_grad_norm)"
    with pytest.raises(
        (TypeError, ValueError), match=f"^{name}: (expected|there are no)"
    ):
        make(params)


def test_parameters_may_come_from_a_generator():
    p = tensor([1.0], [1.0])
    SGD((x for x in [p]), 0.5).step()
    assert p.item() == 0.5


@pytest.mark.parametrize(
    "state", [None, "text", [1.0], {"steps": "one"}, {"steps": None}]
)
def test_what_is_no_state_is_refused(state):
    with pytest.raises((TypeError, ValueError), match="^load_state_dict: "):
        SGD([tensor([1.0])], 0.1).load_state_dict(state)
