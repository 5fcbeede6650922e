"""Every public function, class and method called wrongly, one argument at a time: it does
what NumPy would, or raises an error that begins with its name, and nothing has changed."""

import builtins
import inspect
import warnings

import numpy as np
import pytest
from conftest import array, normal
from valid_attention_calls import ATTENTION_CALLS
from valid_calls import ENGINE_CALLS, T, of

import attention
import minigrad as mg
from minigrad import Tensor, backend, graph, nn, optim

CALLS = ENGINE_CALLS | ATTENTION_CALLS
ERRORS = (ValueError, TypeError, IndexError)
DOCUMENTED = {  # what else may be raised, and where the docstring says so
    "use": (ImportError, RuntimeError),
    "save": (OSError,),
    "load": (OSError,),
    "gradcheck": (mg.GradcheckError,),
    "clip_grad_norm": (FloatingPointError,),
}
BAD = {
    "None": lambda: None,
    "text": lambda: "text",
    "a list": lambda: [1.0, 2.0],
    "a ragged list": lambda: [[1.0], [1.0, 2.0]],
    "a dict": lambda: {"a": 1.0},
    "a function": lambda: len,
    "True": lambda: True,
    "many axes": lambda: array(np.ones((2, 1, 3, 1, 2))),
    "no axes": lambda: array(2.5),
    "one number in an array": lambda: array([0.1]),
    "empty": lambda: array(np.ones((0, 3))),
    "nothing": list,
    "complex": lambda: np.full((2, 3), 1j),
    "objects": lambda: np.full((2, 3), None),
    "masked": lambda: np.ma.masked_array(normal(2, 3), np.eye(2, 3) > 0),
    "masked integers": lambda: np.ma.masked_array([1, 0], [True, False]),
    "a masked number": lambda: np.ma.masked,
    "nan": lambda: np.nan,
    "rows of nan": lambda: array(np.full((2, 3), np.nan)),
    "negative": lambda: -1,
    "a Tensor": lambda: Tensor([[1.0, 2.0]]),
}
NEVER = ["complex", "objects", "masked", "masked integers", "a masked number"]
ANYTHING = {"to_numpy", "hard_lookup"}  # keys may be any objects


OTHER_NAMES = {  # what the text begins with, where it is not the name in the table
    "Module": "Module.train",
    "use": "backend.use",
    "add": "add",
    **dict(zip(["Tensor.__add__", "Tensor.__radd__"], ["add"] * 2, strict=True)),
    **dict.fromkeys(["Tensor.__sub__", "Tensor.__rsub__"], "subtract"),
    **dict.fromkeys(["Tensor.__mul__", "Tensor.__rmul__"], "multiply"),
    **dict.fromkeys(["Tensor.__truediv__", "Tensor.__rtruediv__"], "divide"),
    **dict.fromkeys(["Tensor.__pow__", "Tensor.__rpow__"], "power"),
    **dict.fromkeys(["Tensor.__matmul__", "Tensor.__rmatmul__"], "matmul"),
    "Tensor.std": "std",
}


def state(x):
    """Return all that a call must leave as it is."""
    if isinstance(x, type):
        return repr(x)
    if isinstance(x, Tensor):
        return state(x.data), state(x.grad)
    if hasattr(x, "shape"):
        host = x.data if isinstance(x, np.ma.MaskedArray) else backend.to_numpy(x)
        return host.shape, str(host.dtype), host.tobytes()
    if hasattr(x, "state_dict"):
        return state(x.state_dict())
    if hasattr(x, "__self__") and not inspect.ismodule(x.__self__):  # a method
        return state(x.__self__)
    if isinstance(x, dict):
        return [(key, state(y)) for key, y in x.items()]
    return list(map(state, x)) if isinstance(x, (list, tuple)) else repr(x)


def spoiled(make):
    """Yield (where, what, f, args, kwargs), one argument of each valid call spoiled."""
    _, args, kwargs = make()
    for where in [*range(len(args)), *kwargs]:
        for what, bad in BAD.items():
            f, args, kwargs = make()
            (args if isinstance(where, int) else kwargs)[where] = bad()
            yield where, what, f, args, kwargs


def faults(name, make):
    found = []
    label = OTHER_NAMES.get(name, name.split(" ")[0].split(".")[-1].removesuffix("()"))
    for where, what, f, args, kwargs in spoiled(make):
        before = state([f, args, kwargs])
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)
                f(*args, **kwargs)
            error = None
        except Exception as caught:  # noqa: BLE001    any is looked at below
            error = caught
        at = f"{name}, argument {where} is {what}: "
        if error is not None:
            named = str(error).startswith(f"{label}:") and isinstance(error, ERRORS)
            if not named and not isinstance(error, DOCUMENTED.get(label, ())):
                found.append(f"{at}{error!r}")
            if state([f, args, kwargs]) != before:
                found.append(f"{at}something has changed, {error!r}")
        elif what in NEVER and not (label in ANYTHING and "mask" not in what):
            found.append(f"{at}passes")
    return found


@pytest.fixture(autouse=True)
def ops_of_tests_are_forgotten():
    ops = dict(mg.PRIMITIVES)
    yield
    mg.PRIMITIVES.clear()
    mg.PRIMITIVES.update(ops)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_is_refused_by_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # "text" is a good name for a file
    f, args, kwargs = CALLS[name]()
    with np.errstate(all="ignore"):
        f(*args, **kwargs)
    assert faults(name, CALLS[name]) == []


def public(module):
    """Return the names of the functions and classes that a module defines."""
    return {
        name
        for name, x in vars(module).items()
        if name[0] != "_" and (inspect.isfunction(x) or inspect.isclass(x))
        if x.__module__.startswith(module.__name__)
        if not (inspect.isclass(x) and issubclass(x, Exception))
    }


def missing(table):
    """Return what has no call in a table, of all that a reader may call."""
    names = set().union(*map(public, (mg, attention, nn, optim, graph)))
    names |= {"use", "to_numpy", "Module"}
    methods = {
        f"Tensor.{n}"
        for n, method in vars(Tensor).items()
        if n[0] != "_" and inspect.isfunction(method)
    }
    return (names | methods) - table.keys() - WITHOUT


WITHOUT = {"Tensor.detach", "Tensor.numpy", "Tensor.item"}  # arguments
WITHOUT |= {"Optimizer", "joint_norm"}  # what the others are made of


def test_no_function_class_or_method_is_left_out():
    assert missing(CALLS) == set()
    assert missing({n: c for n, c in CALLS.items() if n != "rope"}) == {"rope"}


@pytest.mark.parametrize(
    ("f", "fault"),
    [
        (lambda x: {}[len(x)], "KeyError"),  # another kind of error
        (lambda x: mg.exp(None), "exp:"),  # another name
        (lambda x: x, "passes"),
        (lambda x: x.data.fill(0) or mg.exp(x), "something has changed"),
    ],
)
def test_the_sweep_finds(f, fault):
    assert any(fault in text for text in faults("f", lambda: of(f, T(2, 3))))


def test_a_star_import_leaves_the_names_of_python_alone():
    assert not set(mg.__all__) & set(dir(builtins))
    assert {"exp", "Tensor", "nn", "grad"} <= set(mg.__all__)
