"""What an optimiser is given: what makes no sense is refused, and moves nothing; float
types stay what they are."""

import numpy as np
import pytest
from conftest import array, close, normal, same
from plain_optimisers import every_rule, tensor

from minigrad import Tensor, nn
from minigrad.optim import SGD, Adam, AdamW, clip_grad_norm


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
