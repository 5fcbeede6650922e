"""`Module`, which finds the parameters of a model, however they are nested."""

from numbers import Real

from . import backend
from .tensor import Tensor


class Module:
    """Something with parameters, which it finds in its attributes.

    They are the Tensors there and the parameters of the Modules there, also within
    lists, tuples and dicts. A subclass sets attributes and defines __call__. A constant
    is a plain array, for every Tensor counts as a parameter. One that is used in two
    places (tied weights) counts once, under its first name.

    >>> from minigrad import Tensor, nn
    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         self.slope, self.start = Tensor([2.0]), Tensor([1.0])
    ...     def __call__(self, x):
    ...         return self.slope * x + self.start
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         self.lines = [Line(), Line()]
    >>> [name for name, p in Net().named_parameters()]
    ['lines.0.slope', 'lines.0.start', 'lines.1.slope', 'lines.1.start']
    """

    training = True  # False after eval(): Dropout passes everything on

    def __call__(self, *inputs):
        raise NotImplementedError(
            f"{type(self).__name__}: define __call__, which PyTorch calls forward"
        )

    def named_parameters(self):
        """Yield (name, Tensor) for each parameter; names are paths, joined by dots.

        Raises: ValueError for a Tensor that an op made: it would never get a gradient;
        and for two of one name, as those of the keys 1 and "1".
        """
        names = set()
        for name, x in walk(self):
            if isinstance(x, Tensor):
                if name in names:
                    raise ValueError(f"named_parameters: two are called {name}")
                names.add(name)
                if x.op is not None:
                    raise ValueError(
                        f"named_parameters: {name} {x.shape} was made by an op, "
                        f"{x.op.__name__}; a parameter is a Tensor(array) of its own"
                    )
                yield name, x

    def parameters(self):
        """Return the parameters in a list."""
        return [p for _, p in self.named_parameters()]

    def train(self, mode=True):
        """Set this Module and all within it to training, or not; return self."""
        for _, x in walk(self):
            if isinstance(x, Module):
                x.training = mode
        return self

    def eval(self):
        """Set this Module and all within it to evaluation; return self."""
        return self.train(False)

    def astype(self, dtype):
        """Convert every parameter to a float type, without its gradient; return self.

        Optimisers hold arrays of the old type; make them afterwards.
        """
        for p in self.parameters():
            p.data, p.grad = Tensor(p.data, dtype).data, None
        return self

    def state_dict(self):
        """Return {name: values} of the parameters, copies in NumPy arrays."""
        return {name: p.numpy() for name, p in self.named_parameters()}

    def load_state_dict(self, state):
        """Set every parameter to a copy of the values under its name.

        Raises: ValueError when names or shapes differ, TypeError when dtypes do; then
        nothing has changed.
        """
        own = dict(self.named_parameters())
        state = {name: backend.to_numpy(values) for name, values in state.items()}
        check_state("load_state_dict", own, state)
        for name, p in own.items():
            p.data = backend.xp.array(state[name])


def walk(x, name="", seen=None):
    """Yield (name, x) for every Module and Tensor from x on down, each once."""
    seen = set() if seen is None else seen
    if id(x) in seen:
        return
    seen.add(id(x))
    if isinstance(x, (Module, Tensor)):
        yield name, x
    for key, part in parts(x):
        yield from walk(part, f"{name}.{key}" if name else str(key), seen)


def parts(x):
    """Return the pairs (key, part) of a Module or container; anything else has none."""
    if isinstance(x, Module):
        return vars(x).items()
    if isinstance(x, dict):
        return x.items()
    return enumerate(x) if isinstance(x, (list, tuple)) else ()


def check_state(op, own, state):
    """Raise an error unless two dicts of arrays agree in names, shapes and dtypes."""
    missing, unknown = own.keys() - state.keys(), state.keys() - own.keys()
    if missing or unknown:
        raise ValueError(
            f"{op}: names differ: missing {sorted(missing)}, unknown {sorted(unknown)}"
        )
    for name, x in own.items():
        given = state[name]
        if given.shape != x.shape:
            raise ValueError(
                f"{op}: {name!r} has shape {given.shape}, where {x.shape} is needed"
            )
        if given.dtype != x.dtype:
            raise TypeError(
                f"{op}: {name!r} is {given.dtype}, where {x.dtype} is needed; convert "
                "one of them with astype"
            )


def check_gradients(op, params):
    """Raise a ValueError unless each gradient has the shape of its parameter."""
    for p in params:
        if p.grad is not None and p.grad.shape != p.shape:
            raise ValueError(
                f"{op}: a gradient of shape {p.grad.shape} for a parameter of shape "
                f"{p.shape}; nothing has moved"
            )


def unique(op, params):
    """Return the parameters in a list, each once: tied weights make one step."""
    if isinstance(params, (Tensor, Module)):  # list(tensor) would be that of its rows
        raise TypeError(
            f"{op}: expected a list of Tensors, such as model.parameters(), got one "
            f"{type(params).__name__}"
        )
    params = list(params)
    if not params:
        raise ValueError(f"{op}: there are no parameters")
    for p in params:
        if not isinstance(p, Tensor):
            raise TypeError(f"{op}: expected Tensors, got {type(p).__name__}")
        if p.op is not None:
            raise ValueError(f"{op}: {p.op.__name__} made this Tensor; it is no leaf")
    return list(dict.fromkeys(params))


def at_least(op, least, **numbers):
    """Raise an error unless every number is at least this large."""
    for name, x in numbers.items():
        if not isinstance(x, Real):
            raise TypeError(f"{op}: {name} is {x!r}; it must be a number")
        if not x >= least:
            raise ValueError(f"{op}: {name} is {x}; it must be at least {least}")
