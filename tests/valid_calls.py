"""A valid call of every public function, class and method of minigrad, for
test_sweep.py, which spoils one argument of it at a time."""

import numpy as np
from conftest import array, normal

import minigrad as mg
from minigrad import Tensor, backend, graph, nn, optim


def T(*shape):
    return Tensor(array(normal(*shape)))


def A(*shape):
    return array(normal(*shape))


def of(f, *args, **kwargs):
    """Return a valid call, of which one argument at a time is spoiled."""
    return f, list(args), kwargs


def square(x):
    return (x * x).sum()


def with_gradient():
    p = T(2, 3)
    square(p).backward()
    return p


def optimizer(cls, **kwargs):
    made = cls([with_gradient()], lr=0.1, **kwargs)
    made.step()
    return made


def saved():
    mg.save("saved.npz", nn.Linear(2, 3), optimizer(optim.SGD))
    return "saved.npz"


UNARY = "negative positive exp log sqrt sin cos abs relu tanh sigmoid gelu center"
UNARY += " rms_norm"
BINARY = "add subtract multiply divide maximum minimum power"
REDUCED = "sum mean max min norm logsumexp"
ENGINE_CALLS = {
    **{n: lambda n=n: of(getattr(mg, n), T(2, 3)) for n in UNARY.split()},
    **{n: lambda n=n: of(getattr(mg, n), T(2, 3), A(2, 3)) for n in BINARY.split()},
    **{
        n: lambda n=n: of(getattr(mg, n), T(2, 3), axis=0, keepdims=True)
        for n in REDUCED.split()
    },
    **{
        n: lambda n=n: of(getattr(mg, n), T(2, 3), axis=0, keepdims=True, ddof=1)
        for n in ("var", "std")
    },
    "rms_norm": lambda: of(mg.rms_norm, T(2, 3), eps=1e-5),
    "clip": lambda: of(mg.clip, T(2, 3), -1.0, 1.0),
    "where": lambda: of(mg.where, A(2, 3) > 0, T(2, 3), A(2, 3)),
    "astype": lambda: of(mg.astype, T(2, 3), dtype="float32"),
    "broadcast_to": lambda: of(mg.broadcast_to, T(2, 3), shape=(4, 2, 3)),
    "concatenate": lambda: of(mg.concatenate, [T(2, 3), A(2, 3)], axis=0),
    "stack": lambda: of(mg.stack, [T(2, 3), A(2, 3)], axis=0),
    "reshape": lambda: of(mg.reshape, T(2, 3), shape=(3, 2)),
    "split": lambda: of(mg.split, T(2, 3), 3, axis=1),
    "swapaxes": lambda: of(mg.swapaxes, T(2, 3), 0, 1),
    "transpose": lambda: of(mg.transpose, T(2, 3), axes=(1, 0)),
    "getitem": lambda: of(mg.getitem, T(2, 3), index=[0, 1]),
    "scatter": lambda: of(mg.scatter, T(2), index=[0, 1], shape=(3,)),
    "take": lambda: of(mg.take, T(2, 3), [0, 1], axis=0),
    "matmul": lambda: of(mg.matmul, T(2, 3), A(3, 2)),
    "einsum": lambda: of(mg.einsum, "ij,jk", T(2, 3), A(3, 2)),
    "softmax": lambda: of(mg.softmax, T(2, 3), axis=0, mask=A(2, 3) > 0),
    "log_softmax": lambda: of(mg.log_softmax, T(2, 3), axis=0),
    "cross_entropy": lambda: of(
        mg.cross_entropy, T(2, 3), [0, 1], ignore_index=1, reduction="sum"
    ),
    "Tensor": lambda: of(Tensor, normal(2, 3), dtype="float32"),
    "primitive": lambda: of(mg.primitive, lambda x, /: x),
    "grad": lambda: of(lambda f, n, x: mg.grad(f, n)(x), square, 0, A(2, 3)),
    "value_and_grad": lambda: of(
        lambda f, n, x: mg.value_and_grad(f, n)(x), square, 0, A(2, 3)
    ),
    "gradcheck": lambda: of(mg.gradcheck, square, normal(2, 3), order=1),
    "no_grad": lambda: of(mg.no_grad(), square),
    "save": lambda: of(
        mg.save, "saved.npz", nn.Linear(2, 3), optimizer=optimizer(optim.SGD)
    ),
    "load": lambda: of(
        mg.load, saved(), nn.Linear(2, 3), optimizer=optimizer(optim.SGD)
    ),
    "use": lambda: of(backend.use, "numpy" if backend.xp is np else backend.xp),
    "to_numpy": lambda: of(backend.to_numpy, T(2, 3)),
    "nodes": lambda: of(graph.nodes, square(T(2, 3))),
    "inputs": lambda: of(graph.inputs, square(T(2, 3))),
    "count": lambda: of(graph.count, square(T(2, 3))),
    "path_lengths": lambda: of(graph.path_lengths, *[T(2, 3)] * 2),
    "to_dot": lambda: of(graph.to_dot, square(T(2, 3))),
    "label": lambda: of(graph.label, T(2, 3)),
    "flow": lambda: of(graph.flow, 2 * T(2, 3), g=A(2, 3)),
    "draw": lambda: of(graph.draw, square(T(2, 3)), flow=None),
    "seed": lambda: of(nn.seed, 0),
    "normal": lambda: of(nn.normal, (2, 3), 1.0),
    "Module": lambda: of(nn.Module().train, True),
    "Linear": lambda: of(nn.Linear, 2, 3, bias=True),
    "Linear()": lambda: of(nn.Linear(3, 2), T(2, 3)),
    "Embedding": lambda: of(nn.Embedding, 2, 3),
    "Embedding()": lambda: of(nn.Embedding(2, 3), [0, 1]),
    "LayerNorm": lambda: of(nn.LayerNorm, 3, eps=1e-5, bias=True),
    "LayerNorm()": lambda: of(nn.LayerNorm(3), T(2, 3)),
    "Dropout": lambda: of(nn.Dropout, 0.5, seed=0),
    "Dropout()": lambda: of(nn.Dropout(0.5), T(2, 3)),
    "load_state_dict": lambda: of(
        nn.Linear(2, 3).load_state_dict, nn.Linear(2, 3).state_dict()
    ),
    "load_state_dict of SGD": lambda: of(
        optimizer(optim.SGD, momentum=0.5).load_state_dict,
        optimizer(optim.SGD, momentum=0.5).state_dict(),
    ),
    "SGD": lambda: of(optim.SGD, [T(2, 3)], lr=0.1, momentum=0.9, weight_decay=0.1),
    "Adam": lambda: of(optim.Adam, [T(2, 3)], lr=0.1, betas=(0.9, 0.99), eps=1e-8),
    "AdamW": lambda: of(
        *(optim.AdamW, [T(2, 3)]), lr=0.1, betas=(0.9, 0.9), eps=0.1, weight_decay=0.1
    ),
    "clip_grad_norm": lambda: of(optim.clip_grad_norm, [with_gradient()], 1.0),
    "warmup_cosine": lambda: of(optim.warmup_cosine, 1, 2, 3, 0.1, low=0.0),
    **{
        f"Tensor.{n}": lambda n=n: of(getattr(T(2, 3), n), axis=0, keepdims=True)
        for n in ["sum", "mean", "max", "min", "var", "std"]
    },
    **{
        f"Tensor.__{n}__": lambda n=n: of(getattr(T(2, 3), f"__{n}__"), A(2, 3))
        for n in [
            "add",
            "radd",
            "sub",
            "rsub",
            "mul",
            "rmul",
            "truediv",
            "rtruediv",
            "pow",
            "rpow",
        ]
    },
    "Tensor.__matmul__": lambda: of(T(2, 3).__matmul__, A(3, 2)),
    "Tensor.__rmatmul__": lambda: of(T(2, 3).__rmatmul__, A(2, 2)),
    "Tensor.reshape": lambda: of(T(2, 3).reshape, 3, 2),
    "Tensor.transpose": lambda: of(T(2, 3).transpose, 1, 0),
    "Tensor.swapaxes": lambda: of(T(2, 3).swapaxes, 1, 0),
    "Tensor.astype": lambda: of(T(2, 3).astype, "float32"),
    "Tensor.take": lambda: of(T(2, 3).take, [0], axis=1),
    "Tensor.backward": lambda: of((2 * T(2, 3)).backward, A(2, 3)),
    "Tensor.data": lambda: of(lambda v: setattr(T(2, 3), "data", v), A(2, 3)),
}
