"""What parameters, their gradients, and the states of models and optimisers must be."""

from collections import deque
from types import MemberDescriptorType

import numpy

from .. import backend
from .takes import bounded, number


def fraction(what, x):
    """Demand a number in [0, 1)."""
    return float(bounded(what, number(what, x), 0 <= x < 1, "in [0, 1)"))


def two_fractions(what, x):
    """Demand two numbers in [0, 1)."""
    fits = numpy.shape(x) == (2,) and all(0 <= number(what, b) < 1 for b in x)
    return tuple(map(float, bounded(what, x, fits, "two numbers in [0, 1)")))


def stateful(what, x):
    """Demand what has a state: a Module, an optimiser."""
    if isinstance(x, type) or not hasattr(x, "load_state_dict"):
        raise TypeError(f"{what} {x!r:.60} has no state_dict")
    return x


def leaves(what, params):
    """Demand parameters: a list, each once, for tied weights make one step."""
    one = hasattr(params, "parameters") or hasattr(params, "detach")
    if one or not hasattr(params, "__iter__"):
        raise TypeError(
            "expected a list of Tensors, such as model.parameters(), got one "
            f"{type(params).__name__}"
        )
    params = list(params)
    if not params:
        raise ValueError("there are no parameters")
    for p in params:
        if not hasattr(p, "inputs"):
            raise TypeError(f"expected Tensors, got {type(p).__name__}")
        if p.op is not None:
            raise ValueError(f"{p.op.__name__} made this Tensor; it is no leaf")
    return list(dict.fromkeys(params))


def fitting_gradients(name, params):
    """Return the gradient of each parameter, in float32 at least, or None.

    Refuse one that is no array of real numbers in the shape of its parameter.
    """
    found = []
    for p in params:
        g = p.grad
        if g is not None:
            if not hasattr(g, "dtype"):
                raise TypeError(f"{name}: a gradient is a {type(g).__name__}, no array")
            g = backend.xp.asarray(backend.asarray(name, g), dtype=backend.wide(p))
            if g.shape != p.shape:
                raise ValueError(
                    f"{name}: a gradient of shape {g.shape} for a parameter of shape "
                    f"{p.shape}"
                )
        found.append(g)
    return found


def same_state(name, own, state):
    """Return a state as a dict of arrays of the backend, if it agrees with our own in
    names, shapes and dtypes."""
    if not hasattr(state, "items"):
        raise TypeError(f"{name}: {state!r:.60} is no dict, as state_dict() returns")
    missing, unknown = own.keys() - state.keys(), state.keys() - own.keys()
    if missing or unknown:
        raise ValueError(
            f"{name}: names differ: missing {sorted(missing)}, unknown "
            f"{sorted(unknown, key=str)}"
        )
    arrays = {}
    for key, x in own.items():
        given = state[key].detach() if hasattr(state[key], "detach") else state[key]
        given = arrays[key] = backend.asarray(f"{name}: {key!r}", given)
        if given.shape != x.shape:
            raise ValueError(
                f"{name}: {key!r} has shape {given.shape}, where {x.shape} is needed"
            )
        if given.dtype != x.dtype:
            raise TypeError(
                f"{name}: {key!r} is {given.dtype}, where {x.dtype} is needed; convert "
                "one of them with astype"
            )
    return arrays


def unreadable(path, entry, error):
    """Return the error for a file that holds something else, or is damaged."""
    if entry and entry.endswith("data.pkl"):
        what = "is PyTorch's; load it there and call load_state_dict with its arrays"
    elif entry:
        what = f"{entry} is damaged: {error}"
    else:
        what = f"is no .npz archive that save wrote: {error}"
    return ValueError(f"load: {path}: {what}")


def own_leaves(named):
    """Refuse two parameters of one name, and one that an op made."""
    names = set()
    for name, x in named:
        if name in names:
            raise ValueError(f"named_parameters: two are called {name}")
        names.add(name)
        if x.op is not None:
            raise ValueError(
                f"named_parameters: {name} {x.shape} was made by an op, "
                f"{x.op.__name__}, and gets no gradient; keep its values, a.detach(), "
                "or make a parameter of them, Tensor(a.detach())"
            )


def nowhere_else(found, others, kinds):
    """Refuse a Module or Tensor that is held where no Module looks.

    `found` are those it found, `others` what else is set on it, (name, x) each.
    """
    known, classes = {id(x) for _, x in found}, set()
    for name, x in found:
        for cls in type(x).__mro__ if isinstance(x, kinds[0]) else ():
            for key, value in vars(cls).items():
                slot = isinstance(value, MemberDescriptorType)  # one for each x
                if slot or cls not in classes:
                    value = getattr(x, key, None) if slot else value
                    others.append((f"{name}.{key}".lstrip("."), value))
            classes.add(cls)
    for name, x in others:
        held = [y for y in inside(x, 3) if isinstance(y, kinds) and id(y) not in known]
        if not all(getattr(y, "op", None) for y in held):  # a result is neither
            raise ValueError(
                f"{type(found[0][1]).__name__}: {name} holds a Tensor or Module that is "
                "not found; a Module looks at what is set on self, and into lists, "
                "tuples and dicts there, not into other objects, slots, or the class"
            )


def inside(x, depth):
    """Yield x, and what it holds: entries or attributes, and theirs, so many deep."""
    yield x
    if isinstance(x, numpy.ndarray):
        held = x.ravel() if x.dtype == object else ()
    elif isinstance(x, (list, tuple, set, frozenset, deque)):
        held = x
    else:
        held = {} if isinstance(x, type) else getattr(x, "__dict__", {})
        held = [*held.values(), *(x.values() if isinstance(x, dict) else ())]
    for y in held if depth else ():
        yield from inside(y, depth - 1)
