"""`Module`, which finds the parameters of a model, however they are nested."""

from . import backend, checks
from .checks import flag, takes
from .tensor import Tensor


class Module:
    """Something with parameters, which it finds in its attributes.

    They are the Tensors set on self, and the parameters of the Modules there, also
    within lists, tuples and dicts. A subclass sets attributes and defines __call__. A
    constant is a plain array, for every Tensor counts as a parameter. A parameter that is
    used in two places (tied weights) counts once, under its first name, and stays tied
    in a copy (copy.deepcopy, pickle).

    Asked for parameters, a Module that holds a Tensor or Module elsewhere, in a set or
    another object, a slot or its class, raises ValueError.

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
        named = [(name, x) for name, x in walk(self) if isinstance(x, Tensor)]
        checks.own_leaves(named)
        yield from named

    def parameters(self):
        """Return the parameters in a list."""
        return [p for _, p in self.named_parameters()]

    def zero_grad(self):
        """Forget the gradients, which backward() would otherwise add to."""
        for p in self.parameters():
            p.grad = None

    @takes(mode=flag)
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
        """Convert each parameter to a float type, without its gradient; return self."""
        for p in self.parameters():
            p.data, p.grad = checks.copied_floats("astype", p.data, dtype), None
        return self

    def state_dict(self):
        """Return {name: values} of the parameters, copies in NumPy arrays."""
        return {name: p.numpy() for name, p in self.named_parameters()}

    def load_state_dict(self, state):
        """Set every parameter to a copy of the values under its name.

        PyTorch keeps the weight of a Linear as (out, in), here it is (in, out). A
        square one would load and be wrong: hand in `weight.T`.

        Raises: ValueError when names or shapes differ, TypeError when dtypes do; then
        nothing has changed.
        """
        own = dict(self.named_parameters())
        for name, values in checks.same_state("load_state_dict", own, state).items():
            own[name].data = backend.xp.array(values)


def walk(module):
    """Return [(name, x)] of each Module and Tensor from a Module on down, each once."""
    found, others, seen, rest = [], [], set(), [("", module)]
    while rest:
        name, x = rest.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, (Module, Tensor)):
            found.append((name, x))
        elif not isinstance(x, (list, tuple, dict)):
            others.append((name, x))
        inside = [(f"{name}.{key}" if name else str(key), y) for key, y in parts(x)]
        rest += reversed(inside)  # the first is popped first
    checks.nowhere_else(found, others, (Module, Tensor))
    return found


def parts(x):
    """Return the pairs (key, part) of a Module or container; anything else has none."""
    if isinstance(x, Module):
        return vars(x).items()
    if isinstance(x, dict):
        return x.items()
    return enumerate(x) if isinstance(x, (list, tuple)) else ()
