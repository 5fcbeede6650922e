"""`primitive` makes an op of a function of arrays; `no_grad` stops the recording.

An op is two plain functions that capture nothing: the forward computation, and its
rule, the vector-Jacobian product. They can be read, called and tested as mathematics,
and `PRIMITIVES` lists them all.
"""

import functools
import inspect
import sys
import threading

from . import backend, checks
from .tensor import Tensor

PRIMITIVES = {}  # name -> op; a test demands a gradient check for each
USUAL = {Tensor, float, int}  # Tensors and numbers beside them are taken as they are


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

    `multiply.vjp(g, y, a, b)` is that rule, to be called. Given no Tensor an op returns
    an array and records nothing. Rules are written with ops: on arrays they compute a
    gradient, and on Tensors they record themselves as everything does, so that the
    gradient can be differentiated in its turn. (tiled_attention alone has a second rule for
    that.)

    An op that computes on the way what its rule can use returns (y, {name: value}), and
    the rule is given that too; but None where the gradient is to be differentiated
    again, for there a saved number would be a constant, and the result wrong.

    Raises: TypeError when no parameter stands before `/`, ValueError when another
    module has an op of this name.
    """
    checks.function("primitive: what becomes an op", forward)
    name = forward.__name__.strip("_")  # _stack(*tensors) is called stack(tensors)
    arity = checks.arity(forward, PRIMITIVES.get(name))

    @functools.wraps(forward)
    def op(*inputs, **params):
        try:
            types = {*map(type, inputs)}
            tracked = Tensor in types
            if not (tracked and types <= USUAL) or params or len(inputs) != arity:
                inputs, params = checks.given(name, forward, arity, inputs, params)
                tracked = any(isinstance(x, Tensor) for x in inputs)
            values = [x.array if isinstance(x, Tensor) else x for x in inputs]
            y = forward(*values, **params)
        except checks.ERRORS as error:
            raise checks.explained(error, name, inputs) from error
        saved = {}
        if type(y) is tuple:
            y, saved = y
        y = backend.xp.asarray(y)  # NumPy's reductions return scalars
        if not tracked or recording.paused:
            return y
        t = Tensor.__new__(Tensor)  # not Tensor(y), which would copy y
        t.array, t.grad, t.op = y, None, op
        t.inputs, t.values, t.params, t.saved = inputs, values, params, saved
        return t

    def rule(function):
        op.vjp = function
        return function

    op.__name__, op.rule, op.vjp = name, rule, checks.no_rule(name)
    PRIMITIVES[name] = op
    return op


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
        checks.no_generator(sys._getframe(1).f_code)
        recording.paused += 1

    def __exit__(self, *_):
        recording.paused -= 1

    def __call__(self, function):
        checks.function("no_grad: what it decorates,", function)
        checks.no_generator(inspect.unwrap(function))

        @functools.wraps(function)
        def call(*args, **kwargs):
            with no_grad():
                return function(*args, **kwargs)

        return call
