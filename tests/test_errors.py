"""Bad input: an error of the right type at the call, naming the op and what it was
given, with nothing half-done."""

import functools

import numpy as np
import pytest
from conftest import array, normal, same

import minigrad as mg
from minigrad import Tensor

SHAPES = r"\(2, 3\).*"
VALUES = [  # ValueError: what is called with x (2, 3), and what the message must say
    ("rms_norm", lambda x: mg.rms_norm(x, eps=-1e-5), "eps -1e-05 is not at least 0"),
    ("rms_norm", lambda x: mg.rms_norm(x, eps=np.nan), "eps nan is not at least 0"),
    ("var", lambda x: x.var(ddof=np.nan), "too few for ddof nan"),
    ("add", lambda x: x + array(normal(2)), SHAPES + r"\(2,\)"),
    ("multiply", lambda x: x * Tensor(normal(3, 3)), SHAPES + r"\(3, 3\)"),
    ("maximum", lambda x: mg.maximum(x, x.T), SHAPES + r"\(3, 2\)"),
    ("where", lambda x: mg.where([True, False], x, 0.0), r"\(2,\) bool.*" + SHAPES),
    ("matmul", lambda x: x @ x, r"\(2, 3\) @ \(2, 3\): inner sizes 3 and 2 differ"),
    ("matmul", lambda x: x @ 2.0, SHAPES + "2.0.*axis"),
    ("matmul", lambda x: mg.stack([x] * 2) @ mg.stack([x.T] * 3), r"\(2, 2, 3\)"),
    ("reshape", lambda x: x.reshape(4, 2), SHAPES),
    ("reshape", lambda x: x.reshape(-1, -1), SHAPES),
    ("transpose", lambda x: x.transpose(0, 0), SHAPES),
    ("transpose", lambda x: x.transpose(0, 1, 2), SHAPES),
    ("swapaxes", lambda x: x.swapaxes(0, 2), SHAPES),
    ("broadcast_to", lambda x: mg.broadcast_to(x, (2, 2)), SHAPES),
    ("concatenate", lambda x: mg.concatenate([x, x.T]), SHAPES + r"\(3, 2\)"),
    ("concatenate", lambda x: mg.concatenate([x, x], 2), SHAPES),
    ("concatenate", lambda x: mg.concatenate([]), ""),
    ("stack", lambda x: mg.stack([x, x[0]]), SHAPES + r"\(3,\)"),
    ("stack", lambda x: mg.stack([x, x], axis=3), SHAPES),
    ("split", lambda x: mg.split(x, 2, axis=1), r"axis 1 of shape \(2, 3\).*2 equal"),
    ("split", lambda x: mg.split(x, 0), SHAPES + "into 0 equal parts"),
    ("split", lambda x: mg.split(x, 2, axis=2), r"axis 2 .*\(2, 3\)"),
    ("take", lambda x: mg.take(x, [0], axis=-3), r"axis -3 .*\(2, 3\)"),
    ("sum", lambda x: x.sum(axis=2), SHAPES),
    ("mean", lambda x: x.mean(axis=(0, 0)), SHAPES),
    ("max", lambda x: mg.max(x[:0]), r"\(0, 3\)"),
    ("var", lambda x: x.var(axis=-3), SHAPES),
    ("norm", lambda x: mg.norm(x, axis=5), SHAPES),
    ("softmax", lambda x: mg.softmax(x, axis=2), SHAPES),
    ("log_softmax", lambda x: mg.log_softmax(x, axis=2), SHAPES),
    ("logsumexp", lambda x: mg.logsumexp(x, axis=2), SHAPES),
    ("cross_entropy", lambda x: mg.cross_entropy(x, [0]), r"\(2, 3\) .*\(1,\)"),
    ("cross_entropy", lambda x: mg.cross_entropy(x.sum(), 0), r"logits \(\)"),
    (
        "cross_entropy",
        lambda x: mg.cross_entropy(x, [0, 1], reduction="avg"),
        "'avg'",
    ),
    ("einsum", lambda x: mg.einsum("ij,jk->ik", x, x), SHAPES),
    ("einsum", lambda x: mg.einsum("ij->ik", x), "'ij->ik': .*k did not appear"),
    ("einsum", lambda x: mg.einsum("i1->i", x), "'i1->i': .*1 is not a valid symbol"),
    ("einsum", lambda x: mg.einsum("ijk->i", x), r"\(2, 3\) .* number of indices"),
    ("einsum", lambda x: mg.einsum("ij,j->i", x), "equal to the number of operands"),
    ("einsum", lambda x: mg.einsum("ii->i", x[:, :2]), "'i' twice .* not supported"),
    ("einsum", lambda x: mg.einsum("ij->ii", x), "i appeared more than once"),
    ("einsum", lambda x: mg.einsum("...j->j", x), "output lacks the ..."),
    ("einsum", lambda x: mg.einsum("i->j->k", x), "only contain one '->'"),
    ("backward", lambda x: x.backward(), r"\(2, 3\).* not one number; sum it"),
    ("backward", lambda x: x.backward(1.0), r"g has shape \(\).*\(2, 3\)"),
    ("backward", lambda x: x.backward(x[0]), r"g has shape \(3,\).*\(2, 3\)"),
    ("item", lambda x: x.item(), r"\(2, 3\) holds 6 numbers"),
    ("grad", lambda x: mg.grad(mg.exp)(x), SHAPES + "one number"),
    ("Tensor", lambda x: Tensor([[1.0], [1.0, 2.0]]), ""),
]
TYPES = [
    ("add", lambda x: x + "text", "expected real numbers, got <U4, 'text'"),
    ("subtract", lambda x: x - None, "expected real numbers, got object, None"),
    ("multiply", lambda x: 1j * x, "complex128"),
    ("divide", lambda x: x / {}, "expected real numbers"),
    ("power", lambda x: x ** [x], "stack for a list of Tensors"),
    ("where", lambda x: mg.where(x, x, 0.0), "condition must be boolean, as x > 0"),
    ("where", lambda x: mg.where(array([1, 0, 1]), x, 0.0), "must be boolean"),
    ("clip", lambda x: mg.clip(x, Tensor(0.0), 1.0), "low is a Tensor, .*no gradient"),
    ("sum", lambda x: x.sum(axis=Tensor(0.0)), "axis is a Tensor"),
    ("getitem", lambda x: x[x], "index is a Tensor"),
    ("rms_norm", lambda x: mg.rms_norm(x, eps=Tensor(1.0)), "eps is a Tensor"),
    ("rms_norm", lambda x: mg.rms_norm(x, eps="a"), "eps 'a' is not a number"),
    ("clip", lambda x: mg.clip(x, None, 1.0), "low None is not a number"),
    ("var", lambda x: x.var(ddof="a"), "ddof 'a' is not a number"),
    ("std", lambda x: x.std(ddof="a"), "ddof 'a' is not a number"),
    ("take", lambda x: mg.take(x), "missing 1 required positional argument"),
    ("matmul", lambda x: mg.matmul(x), r"\(2, 3\) float64: missing .*'b'"),
    ("add", lambda x: mg.add(x, x, x), "too many positional arguments"),
    ("exp", lambda x: mg.exp(x, axis=0), "unexpected keyword argument 'axis'"),
    ("sum", lambda x: x.sum(axis="rows"), "'str' object"),
    ("max", lambda x: x.max(axis=1.0), "'float' object"),
    ("mean", lambda x: mg.mean([x, x]), "stack for a list of Tensors"),
    ("softmax", lambda x: mg.softmax(x, dim=0), "'dim'"),
    ("concatenate", lambda x: mg.concatenate([x, x], axis=None), "'NoneType'"),
    ("take", lambda x: x.take([True, False]), "expected integers, got bool"),
    ("take", lambda x: x.take(1.5), "expected integers, got float64"),
    ("cross_entropy", lambda x: mg.cross_entropy(x, [0.0, 1.0]), "integers, .*float64"),
    ("cross_entropy", lambda x: mg.cross_entropy(x, x), "x.numpy.. for the values"),
    ("einsum", lambda x: mg.einsum(x, "ij"), "subscripts"),
    ("astype", lambda x: x.astype(int), "int64"),
    ("astype", lambda x: x.astype("text"), "text"),
    ("backward", lambda x: x.backward("g"), "expected real numbers"),
    ("backward", lambda x: x.backward([[1j] * 3] * 2), "complex128"),
    ("grad", lambda x: mg.grad(lambda x: None)(x), "None"),
    ("Tensor", Tensor, r"given a Tensor; write Tensor\(x.detach\(\)\)"),
    ("Tensor", lambda x: Tensor([x, x]), "stack for a list of Tensors"),
    ("Tensor", lambda x: Tensor(array([1, 2])), r"int64 .*\.astype\(float\)"),
    ("Tensor", lambda x: Tensor([True, False]), r"bool .*\.astype\(float\)"),
    ("Tensor", lambda x: Tensor(x > 0), r"bool .*\.astype\(float\)"),
    ("Tensor", lambda x: Tensor(1j), "complex128"),
    ("Tensor", lambda x: Tensor("text"), "'text'"),
    ("Tensor", lambda x: Tensor(None), "None"),
    ("Tensor", lambda x: Tensor(10**30), "object"),
    ("Tensor", lambda x: Tensor([1.0], dtype=int), "int64 is no float type"),
]
INDICES = [
    ("getitem", lambda x: x[2], SHAPES + "index 2 .* size 2"),
    ("getitem", lambda x: x[:, [0, -4]], SHAPES + "index -4 .* size 3"),
    ("getitem", lambda x: x[0, 0, 0], SHAPES + "too many indices"),
    ("getitem", lambda x: x[1.0], SHAPES + "integers"),
    ("getitem", lambda x: x["rows"], SHAPES + "integers"),
    ("getitem", lambda x: x[[True, False, True]], SHAPES + "boolean"),
    ("take", lambda x: x.take([0, 3], axis=1), "index 3 .* size 3"),
    ("cross_entropy", lambda x: mg.cross_entropy(x, [0, 3]), r"3 is outside \[0, 3\)"),
    ("cross_entropy", lambda x: mg.cross_entropy(x, [-1, 0]), "-1 is outside"),
    (
        "cross_entropy",
        lambda x: mg.cross_entropy(x, [-1, -100], ignore_index=-100),
        "-1 is outside",
    ),
    (
        "cross_entropy",
        lambda x: mg.cross_entropy(x[0], -1, ignore_index=-100),  # of one target
        "-1 is outside",
    ),
    ("grad", lambda x: mg.grad(mg.sum, argnum=1)(x), "argnum is 1"),
]
BAD = [(ValueError, VALUES), (TypeError, TYPES), (IndexError, INDICES)]
CASES = [(error, *row) for error, table in BAD for row in table]


@pytest.mark.parametrize(("error", "name", "call", "message"), CASES)
def test_bad_input_is_refused_at_the_call(error, name, call, message):
    values = normal(2, 3)
    x = Tensor(values)
    x.grad = array(np.ones((2, 3)))
    with pytest.raises(error, match=f"(?s)^{name}: .*{message}"):
        call(x)
    same(x.data, values)
    same(x.grad, np.ones((2, 3)))
    assert type(x * 2) is Tensor  # recording goes on


HOST = {
    "add": lambda x, a: x + a,
    "multiply": lambda x, a: a * x,
    "where": lambda x, a: mg.where(a > 0, x, 0.0),
    "matmul": lambda x, a: x @ a.T,
    "concatenate": lambda x, a: mg.concatenate([x, a]),
    "stack": lambda x, a: mg.stack([a, x]),
    "einsum": lambda x, a: mg.einsum("ij,ij", x, a),
    "softmax": lambda x, a: mg.softmax(a),
    "cross_entropy": lambda x, a: mg.cross_entropy(a, [0, 1]),
    "split": lambda x, a: mg.split(a, 2),
    "take": lambda x, a: mg.take(a, [0]),
    "backward": lambda x, a: (x * 1).backward(a),
}


@pytest.mark.parametrize("name", HOST)
def test_an_array_of_the_host_is_refused_where_the_backend_is_another(xp, name):
    x, a = Tensor(normal(2, 3)), normal(2, 3)
    if xp is np:
        HOST[name](x, a)
        return
    with pytest.raises(TypeError, match=f"{name}: .*numpy.*Tensor"):
        HOST[name](x, a)
    assert x.grad is None


def test_what_no_array_does_no_tensor_does():
    x = Tensor(normal(2, 3))
    for call, error, message in [
        (lambda: bool(x), ValueError, "ambiguous"),
        (lambda: np.asarray(x), TypeError, r"x.numpy\(\)"),
        (lambda: np.exp(x), TypeError, "minigrad.exp"),
        (lambda: x.__setitem__, AttributeError, "__setitem__"),
        (lambda: len(x.sum()), TypeError, "unsized"),
        (lambda: list(x.sum()), TypeError, "unsized"),
        (lambda: float(x), (TypeError, ValueError), r"\(2, 3\)"),
        (lambda: f"{x:.2f}", (TypeError, ValueError), r"\(2, 3\)"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_an_error_within_a_decorated_or_partial_function_still_names_the_op():
    with pytest.raises(ValueError, match=r"^sum: \(3,\) float64"):
        mg.no_grad()(functools.partial(mg.sum, axis=1))(Tensor(normal(3)))


def test_errors_keep_their_cause():
    with pytest.raises(ValueError, match="add") as caught:
        Tensor(normal(2)) + Tensor(normal(3))
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("name", ["relu", "relu_", "_relu"])
def test_an_op_of_another_module_is_not_replaced(name):
    """The underscores are no part of an op's name."""
    known = mg.PRIMITIVES["relu"]
    made = lambda x, /: x
    made.__name__ = name
    with pytest.raises(ValueError, match=r"primitive: minigrad\..* has an op relu;"):
        mg.primitive(made)
    assert mg.PRIMITIVES["relu"] is known


def test_an_op_needs_inputs():
    with pytest.raises(TypeError, match=r"no inputs; .*def nothing\(x, /\)"):

        @mg.primitive
        def nothing(x):
            return x
