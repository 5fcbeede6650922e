"""What parameters, their gradients, and the states of models and optimisers must be."""

import gc
from collections.abc import Iterable
from types import FunctionType, MemberDescriptorType, ModuleType

import numpy

from .. import backend
from .takes import bounded, number

PLAIN = {type(None), bool, int, float, str, bytes, type}  # lead nowhere
STEPS = 5  # to look into what is no Module; a logger leads to all there is


def fraction(what, x):
    """The rule for a number in [0, 1)."""
    return float(bounded(what, number(what, x), 0 <= x < 1, "in [0, 1)"))


def two_fractions(what, x):
    """The rule for two numbers in [0, 1)."""
    pair = numpy.asarray(x)
    real = pair.shape == (2,) and pair.dtype.kind in "iuf"
    if not real or not all(0 <= number < 1 for number in pair):
        raise ValueError(f"{what} is {x!r:.60}; it must be two numbers in [0, 1)")
    return tuple(map(float, pair))


def stateful(what, x):
    """The rule for what has a state: a Module, an optimiser."""
    if isinstance(x, type) or not hasattr(x, "load_state_dict"):
        raise TypeError(f"{what} is {x!r:.60}; it must have a state_dict")
    return x


def rows(name, x, d):
    """Return x as an array or Tensor, if its rows have d numbers."""
    from ..primitive import arrays  # which stands above, as all that calls this

    (x,) = arrays(name, [x])
    if x.shape[-1:] != (d,):
        raise ValueError(f"{name}: x {x.shape} must be (…, {d})")
    return x


def leaves(what, params):
    """The rule for parameters: a list, each once, for tied weights make one step."""
    model = hasattr(params, "parameters")
    if model or hasattr(params, "detach") or not isinstance(params, Iterable):
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


def unreadable(path, file, entry, error):
    """Return the error for a file that is no archive of arrays: what it is instead."""
    file.seek(0)
    head = file.read(6)
    if entry and not entry.endswith(".npy"):
        what = "another zip archive"
        if entry.endswith("data.pkl"):
            what = "PyTorch's; load it there, and hand load_state_dict its arrays"
    elif head.startswith(b"PK") or b"PK".startswith(head):
        return ValueError(f"{path}: {entry or 'the archive'} is damaged: {error}")
    elif head.startswith(b"\x93NUMPY"):
        what = "a .npy file, of one array without a name"
    elif head.startswith(b"\x80"):
        what = "a pickle, as PyTorch's older files; it could run anything"
    else:
        what = "no .npz archive"
    return ValueError(f"{path}: not a file that save wrote: it is {what}")


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


def nothing_hidden(found, kinds):
    """Refuse a Module or Tensor, the two kinds, in a Module but where none looks."""
    known = {id(x) for _, x in found}
    modules = [(name, x) for name, x in found if isinstance(x, kinds[0])]
    classes = {cls: cls.__name__ for _, x in modules for cls in type(x).__mro__[:-1]}
    for owner, name in [(x, name) for name, x in modules] + [*classes.items()]:
        for key, value in vars(owner).items():
            if isinstance(value, MemberDescriptorType):
                what = "slot"
            elif isinstance(owner, type) and hasattr(type(value), "__get__"):
                continue  # a method, a property
            else:
                what = unknown(value, kinds, known)
            if what:
                raise ValueError(
                    f"{type(found[0][1]).__name__}: the {what} at "
                    f"{name}{'.' * bool(name)}{key} is not found; a Module looks at "
                    "what is set on self, and into lists, tuples and dicts there; not "
                    "into other objects or containers, slots, or the class"
                )


def unknown(x, kinds, known):
    """Return what x leads to that is not known, a parameter or a Module, by its type."""
    level, seen, steps = [x], set(), 0
    while level and steps < STEPS:
        inside, steps = [], steps + 1
        for y in level:
            if type(y) in PLAIN or id(y) in known or id(y) in seen:
                continue
            seen.add(id(y))
            if not isinstance(y, kinds):
                inside.extend(contents(y))
            elif isinstance(y, kinds[0]) or y.op is None:  # no result of an op
                return type(y).__name__
        level = inside
    return None


def contents(x):
    """Return what x refers to: entries, attributes, what a function closes over."""
    if isinstance(x, (type, ModuleType)):
        return ()
    if isinstance(x, FunctionType):
        return x.__closure__, x.__defaults__, x.__kwdefaults__
    if isinstance(x, numpy.ndarray) and x.dtype == object:
        return x.ravel()
    return gc.get_referents(x)
