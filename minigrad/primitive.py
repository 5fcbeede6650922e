"""`primitive` makes an op of a function of arrays; `no_grad` stops the recording.

An op is two plain functions that capture nothing: the forward computation, and its
rule, the vector-Jacobian product. They can be read, called and tested as mathematics,
and `PRIMITIVES` lists them all.
"""

import functools
import inspect
import sys
import threading

from . import backend as B
from .tensor import Tensor

PRIMITIVES = {}  # name -> op; a test demands a gradient check for each
READY = {Tensor, float, int}  # types that need no conversion beside an array


class _Recording(threading.local):
    paused = 0  # the number of no_grad blocks that this thread is in


recording = _Recording()


def primitive(forward):
    """Make an op of a function of arrays: given a Tensor, it records itself.

    The parameters before `/` are the inputs; those after it say what to compute and
    have no gradient. The rule takes g = dL/dy, the output y, and what the op was called
    with, and returns dL/dx for each input x:

        # y = a b            dL/da = g b            dL/db = g a
        @primitive
        def multiply(a, b, /):
            return a * b

        @multiply.rule
        def _(g, y, a, b):
            return g * b, g * a

    An op that computes on the way what its rule can use returns (y, {name: value}), and
    the rule is given that parameter too.

    Given no Tensor an op returns an array and records nothing. Rules are written with
    ops: on arrays they compute a gradient, and on Tensors they record themselves as
    everything does, so that the gradient can be differentiated in its turn.
    """
    name = forward.__name__.strip("_")  # _stack(*tensors) is called stack(tensors)
    signature = inspect.signature(forward)
    kinds = [p.kind for p in signature.parameters.values()]
    variadic = inspect.Parameter.VAR_POSITIONAL in kinds
    arity = kinds.count(inspect.Parameter.POSITIONAL_ONLY)
    ready = READY if arity > 1 else {Tensor}

    @functools.wraps(forward)
    def op(*inputs, **params):
        try:
            if len(inputs) != arity and not variadic:
                # as in sum(x, 0), where 0 is the parameter `axis`
                bound = list(signature.bind(*inputs, **params).arguments.items())
                inputs, params = tuple(x for _, x in bound[:arity]), dict(bound[arity:])
            types = {*map(type, inputs)}
            if not types <= ready:
                inputs = constants(name, inputs, ready)
            values = [x.data if type(x) is Tensor else x for x in inputs]
            y = forward(*values, **params)
        except (ValueError, IndexError, TypeError) as error:
            raise explained(error, name, inputs) from error
        if type(y) is not B.xp.ndarray:
            if type(y) is tuple:
                y, saved = y
                params |= saved
            y = B.xp.asarray(y)  # NumPy's reductions return scalars
        if Tensor not in types or recording.paused:
            return y
        t = Tensor.__new__(Tensor)
        t.data, t.grad, t.op = y, None, op
        t.inputs, t.values, t.params = inputs, values, params
        return t

    def rule(function):
        op.rule = function
        return function

    op.__name__, op.rule = name, rule
    PRIMITIVES[name] = op
    return op


def constants(name, inputs, ready=frozenset({Tensor})):
    """Return the inputs with all that is not ready turned into arrays of the backend.

    float32 stays float32: a NumPy scalar, a 0-d array or an array of integers takes the
    dtype of the Tensors beside it, as a Python number does. Only arrays of floats have
    a say in the dtype of the result.
    """
    dtypes = [x.dtype for x in inputs if type(x) is Tensor]

    def constant(x):
        if type(x) in ready:
            return x
        if getattr(x, "ndim", 0) and not isinstance(x, B.xp.ndarray):
            module = type(x).__module__.split(".")[0]
            raise TypeError(
                f"{name}: got an array of {module}, the backend is "
                f"{B.xp.__name__}; wrap it in Tensor, or backend.xp.asarray"
            )
        x = B.real(name, x)
        weak = x.dtype.kind in "iu" or (x.ndim == 0 and x.dtype.kind == "f")
        return x.astype(B.xp.result_type(*dtypes)) if dtypes and weak else x

    return tuple(map(constant, inputs))


def explained(error, name, inputs):
    """Return the error with the op and the shape and dtype of each input in front."""
    message = str(error)
    if not message.startswith(f"{name}:"):
        given = ", ".join(
            f"{x.shape} {x.dtype}" if hasattr(x, "shape") else repr(x) for x in inputs
        )
        message = f"{name}: {given or 'nothing'}: {message}"
    kinds = [k for k in (ValueError, IndexError, TypeError) if isinstance(error, k)]
    return kinds[0](message)


class no_grad:
    """Stop recording, in a block or a decorated function: ops return plain arrays.

    It counts for the present thread only. A generator that paused inside would leave
    its caller without a record, so in a generator or coroutine it is a RuntimeError.

    >>> from minigrad import Tensor, no_grad
    >>> with no_grad():
    ...     Tensor([1.0, 2.0]) * 3
    array([3., 6.])
    """

    def __enter__(self):
        refuse_generator(sys._getframe(1).f_code)
        recording.paused += 1

    def __exit__(self, *_):
        recording.paused -= 1

    def __call__(self, function):
        refuse_generator(getattr(function, "__code__", None))

        @functools.wraps(function)
        def call(*args, **kwargs):
            with no_grad():
                return function(*args, **kwargs)

        return call


PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def refuse_generator(code):
    if code is not None and code.co_flags & PAUSING:
        raise RuntimeError(
            f"no_grad: {code.co_name} is a generator; collect its values in the block"
        )
