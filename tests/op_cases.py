"""The ops of minigrad, each with cases: how it is called, what NumPy says, the inputs.

The inputs keep away from kinks; what happens there stands in test_cases_edges.py."""

from functools import partial

import numpy as np
from conftest import normal

import minigrad as mg
from minigrad.ops import reductions

x, y = normal(2, 3), normal(2, 3, seed=1)
row, column, number = normal(3, seed=2), normal(2, 1, seed=3), np.array(0.7)
above, cube, square = 0.5 + abs(x), normal(2, 3, 2, seed=4), normal(2, 2, 4, seed=5)
batch = normal(3, 1, 4, 2, seed=6)
PAIRS = [(x, y), (x, row), (row, x), (x, column), (column, row), (number, x)]
PAIRS += [(normal(0, 3), row), (normal(2, 1), normal(2, 0)), (number, number + 1)]
AXES = [{}, {"axis": 0}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": (0, -1)}]
AXES += [{"keepdims": True}, {"axis": ()}, {"axis": (2, 0), "keepdims": True}]
ON = [[True, False, True], [False, False, True]]
INDICES = [1, -1, slice(None, None, -2), (slice(None), 1), (..., 0), None, ()]
INDICES += [
    [0, 0, -1],
    ([0, 1, 0], [2, 2, 2]),
    (slice(None), [0, 0]),
    (1, None, [2, 2]),
]
INDICES += [
    np.array(ON),
    (0, [True, False, True]),
    [],
    (slice(0, 0), 1),
    [[0, 1], [1, 1]],
]
EINSUMS = {
    "ij,ij->": (x, y),
    "ij,jk->ki": (x, y.T),
    "i,j": (row, number.reshape(1)),
    "ij->": (x,),
    "...i->...": (cube,),
    "i...,j...->ij...": (row, x),
    "...nd,...md->...nm": (cube, x[:, :2]),
    "ab,b,bc->ac": (x, row, x.T),
    "ij,jk": (x[:1], y[:1].T @ x[:1]),
    "ij,ij->ij": (x, column),
    ",i->i": (number, row),
}
MATRICES = [(x, y.T), (row, x.T), (x, row), (row, row), (square, row[:2].repeat(2))]
MATRICES += [(square, normal(4, 3)), (batch, square), (row[:2], square), (x[:0], y.T)]
MATRICES += [(cube, batch[..., :2, :]), (normal(2, 0), normal(0, 3)), (square, batch)]


def each(f, reference, *choices):
    """Return a case for each choice of inputs."""
    return [(f, reference, inputs) for inputs in choices]


def along(f, reference, a, *params):
    """Return a case for each choice of parameters."""
    return [(partial(f, **p), partial(reference, **p), (a,)) for p in params]


def scattered(index, a):
    result = np.zeros(x.shape)
    np.add.at(result, index, a)
    return result


def exp_normalized(a, axis=-1):
    return np.exp(a) / np.exp(a).sum(axis=axis, keepdims=True)


def gelu(a):
    return a / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))


def centered(a):
    return a - a.mean(axis=-1, keepdims=True)


def over_rms(a, eps=1e-5):
    return a / np.sqrt((a * a).mean(axis=-1, keepdims=True) + eps)


CASES = {
    "add": each(mg.add, np.add, *PAIRS),
    "subtract": each(mg.subtract, np.subtract, *PAIRS),
    "multiply": each(mg.multiply, np.multiply, *PAIRS),
    "divide": each(mg.divide, np.divide, *PAIRS),
    "negative": each(mg.negative, np.negative, (x,), (number,)),
    "positive": each(mg.positive, np.positive, (x,)),
    "exp": each(mg.exp, np.exp, (x,), (number,)),
    "log": each(mg.log, np.log, (above,)),
    "sqrt": each(mg.sqrt, np.sqrt, (above,)),
    "sin": each(mg.sin, np.sin, (x,)),
    "cos": each(mg.cos, np.cos, (x,)),
    "clip": along(
        mg.clip,
        lambda a, low, high: np.clip(a, low, high),
        x,
        *({"low": -0.7, "high": 0.5}, {"low": -9, "high": 9}, {"low": 8, "high": 9}),
    ),
    "abs": each(mg.abs, np.abs, (x,)),
    "where": each(partial(mg.where, ON), partial(np.where, ON), *PAIRS[:6]),
    "maximum": each(mg.maximum, np.maximum, *PAIRS),
    "minimum": each(mg.minimum, np.minimum, *PAIRS),
    "power": each(mg.power, np.power, (above, y), (above, row), (above[:, :1], row))
    + each(mg.power, np.power, (above, np.arange(3.0)))
    + [
        case
        for p in (2, -1, 0, 1, 3.0)
        for case in each(partial(lambda p, a: a**p, p), lambda a, p=p: a**p, (x,))
    ]
    + each(lambda a: a**0.5, np.sqrt, (above,))
    + each(lambda b: 2**b, np.exp2, (x,), (number,)),
    "relu": each(mg.relu, lambda a: np.maximum(a, 0), (x,)),
    "tanh": each(mg.tanh, np.tanh, (x,)),
    "sigmoid": each(mg.sigmoid, lambda a: 1 / (1 + np.exp(-a)), (x,), (9 * x,)),
    "gelu": each(mg.gelu, gelu, (x,), (4 * x,)),
    "reshape": along(
        mg.reshape,
        lambda x, shape: x.reshape(shape),
        x,
        {"shape": (3, -1)},
        {"shape": 6},
    ),
    "transpose": along(
        mg.transpose, np.transpose, cube, {}, {"axes": (1, 2, 0)}, {"axes": (-1, 0, 1)}
    ),
    "swapaxes": along(mg.swapaxes, np.swapaxes, cube, {"axis1": 0, "axis2": -1}),
    "broadcast_to": along(
        mg.broadcast_to, np.broadcast_to, row, {"shape": (2, 3)}, {"shape": (0, 3)}
    )
    + along(mg.broadcast_to, np.broadcast_to, column, {"shape": (2, 2, 3)}),
    "astype": along(mg.astype, np.ndarray.astype, x, {"dtype": float}),
    "concatenate": [
        (
            lambda *t, n=n: mg.concatenate(t, n),
            lambda *t, n=n: np.concatenate(t, n),
            (a, b),
        )
        for n, a, b in [(0, x, y[:1]), (-1, x, column), (1, x, y[:, :0])]
    ],
    "stack": [
        (lambda *t, n=n: mg.stack(t, n), lambda *t, n=n: np.stack(t, n), (a, b))
        for n, a, b in [(0, x, y), (-1, x, y), (1, x, x), (0, number, 2 * number)]
    ],
    "getitem": [
        (partial(mg.getitem, index=i), lambda a, i=i: a[i], (x,)) for i in INDICES
    ],
    "scatter": [
        (partial(mg.scatter, index=i, shape=x.shape), partial(scattered, i), (y[i],))
        for i in INDICES
    ],
    "sum": along(mg.sum, np.sum, cube, *AXES),
    "mean": along(mg.mean, np.mean, cube, *AXES),
    "max": along(mg.max, np.max, cube, *AXES),
    "min": along(mg.min, np.min, cube, *AXES),
    "var": along(mg.var, np.var, cube, *AXES, {"axis": 1, "ddof": 1}, {"ddof": 2}),
    "std": along(mg.std, np.std, cube, *AXES[:-2], {"axis": 1, "ddof": 1}, {"ddof": 2}),
    "norm": along(mg.norm, lambda a, **p: np.sqrt((a * a).sum(**p)), cube, *AXES),
    "logsumexp": along(
        mg.logsumexp, lambda a, **p: np.log(np.exp(a).sum(**p)), cube, *AXES
    ),
    "softmax": along(
        mg.softmax, exp_normalized, cube, {}, {"axis": 0}, {"axis": (0, 2)}
    )
    + each(
        lambda a: mg.softmax(a, mask=mg.backend.xp.asarray(ON)),
        lambda a: np.exp(a) * ON / (np.exp(a) * ON).sum(axis=-1, keepdims=True),
        (x,),
    ),
    "log_softmax": along(
        mg.log_softmax,
        lambda a, **p: np.log(exp_normalized(a, **p)),
        cube,
        {},
        {"axis": 0},
        {"axis": (0, 2)},
    ),
    "matmul": each(mg.matmul, np.matmul, *MATRICES),
    "einsum": [
        (partial(mg.einsum, s), partial(np.einsum, s), inputs)
        for s, inputs in EINSUMS.items()
    ],
    "center": each(mg.center, centered, (x,), (row,), (cube,)),
    "rms_norm": along(mg.rms_norm, over_rms, cube, {}, {"eps": 1.0}),
    "direction": along(
        reductions.direction,
        lambda a, axis=None: a / np.sqrt((a * a).sum(axis=axis, keepdims=True)),
        cube,
        *({}, {"axis": 1}, {"axis": (0, 2)}),
    ),
}
