"""The reverse pass: rule by rule, gradients go from the output down to the leaves.

Chain rule. An op turns its inputs x into y, and its rule turns g = dL/dy into dL/dx. A
Tensor that was used several times is where several paths from L meet, and its gradient
is the sum over those paths.
"""

import functools

from . import backend as B
from .primitive import constants, recording
from .tensor import Tensor, plain


def reverse_order(output, leaf=None):
    """Yield all that the output was made from, each Tensor after all its uses.

    Why in this order: a rule may run only when its g is complete. In

        b = a + a
        c = b + b

    c hands b two contributions, of 1 each. If b's rule ran on the first alone it would
    tell a of half the gradient, and would have to run again for the other half: 2ⁿ
    times in a chain of n such steps. So every Tensor waits for the last of its uses.
    That is a topological order, reversed. It is found by counting uses, without
    recursion, which Python stops at about 1,000 calls.

    The walk goes no further down than `leaf`.
    """
    uses = {output: 0}
    found = [output]
    while found:
        t = found.pop()
        for x in t.inputs if t is not leaf else ():
            if type(x) is Tensor:
                if x not in uses:
                    uses[x] = 0
                    found.append(x)
                uses[x] += 1
    ready = [output]
    while ready:
        t = ready.pop()
        yield t
        for x in t.inputs if t is not leaf else ():
            if type(x) is Tensor:
                uses[x] -= 1
                if not uses[x]:
                    ready.append(x)


def pull_back(output, g, leaf=None, record=False):
    """Return {leaf: dL/dleaf} for every leaf below the output, given g = dL/doutput.

    The rules compute with the arrays that the ops computed with; with `record`, with
    the Tensors, so that the gradients are recorded too.
    """
    pending = {output: g}  # what has arrived so far; dropped as soon as it is used
    leaves = {}
    for t in reverse_order(output, leaf):
        g = pending.pop(t)
        if t.op is None or t is leaf:
            leaves[t] = g
            continue
        if record:
            gradients = t.op.rule(g, t, *t.inputs, **t.params)
        else:
            gradients = t.op.rule(g, t.data, *t.values, **t.params)
        if type(gradients) is not tuple:
            gradients = (gradients,)
        for x, gx in zip(t.inputs, gradients, strict=True):
            if type(x) is Tensor:
                if gx.shape != x.data.shape or gx.dtype != x.data.dtype:
                    gx = fit(gx, x, t.op)
                # never `+=`: something else may hold the array that a rule returned
                pending[x] = pending[x] + gx if x in pending else gx
    return leaves


def fit(g, x, op):
    """Return the gradient in the shape and dtype of x: undo broadcasting and promotion.

    Broadcasting copies a number of x to many places, so its gradient is the sum over
    those places: over the leading axes that x lacks, and along the axes where x has
    length 1.
    """
    extra = g.ndim - x.ndim
    pairs = zip(x.shape, g.shape[max(extra, 0) :], strict=False)
    if extra < 0 or any(n not in (1, m) for n, m in pairs):
        raise ValueError(
            f"{op.__name__}: its rule made a gradient of shape {g.shape} "
            f"for an input of shape {x.shape}"
        )
    if g.shape != x.shape:
        copied = (*range(extra), *(extra + i for i, n in enumerate(x.shape) if n == 1))
        g = g.sum(axis=copied, keepdims=True).reshape(x.shape)
    return g if g.dtype == x.dtype else g.astype(x.dtype)


def backward(self, g=None):
    """Add dL/dleaf to the `grad` of every leaf below this Tensor, given g = dL/dself.

    Without g this Tensor must have one element, which is then L. The record stays, so a
    second call adds the same again. Nothing is added before every rule has run.

    Raises: ValueError when g is missing or not of this shape, TypeError when it is no
    array of the backend.
    """
    if g is None and self.size != 1:
        raise ValueError(
            f"backward: the output has shape {self.shape}, it is not one number; "
            "sum it, or pass g = dL/dy of that shape"
        )
    (g,) = constants("backward", [B.xp.ones_like(self.data) if g is None else plain(g)])
    g = B.xp.asarray(g, dtype=self.dtype)
    if g.shape != self.shape:
        raise ValueError(
            f"backward: g has shape {g.shape}, the output {self.shape}; they must agree"
        )
    for leaf, gradient in pull_back(self, g).items():
        # copied: a rule may have returned g itself, or a view of it
        leaf.grad = B.xp.array(gradient if leaf.grad is None else leaf.grad + gradient)


Tensor.backward = backward


def grad(f, argnum=0):
    """Return the function df/dx, where x is an argument of f and f returns one number.

    Given an array it returns an array. Given a Tensor, or where f uses other Tensors,
    it returns a Tensor that remembers how it depends on them, so that grad(grad(f)) is
    the second derivative.

    Raises: ValueError when f returns more than one number, TypeError when it returns
    no number, IndexError when there is no argument `argnum`.

    >>> from minigrad import grad
    >>> grad(grad(lambda x: x**3))(2.0)                         # 6x
    array(12.)
    """

    @functools.wraps(f)
    def df(*args, **kwargs):
        args = list(args)
        if not -len(args) <= argnum < len(args):
            raise IndexError(
                f"grad: argnum is {argnum}, f was given {len(args)} inputs"
            )
        x = args[argnum]
        paused = recording.paused
        recording.paused = 0  # f is recorded, even within no_grad
        try:
            # A new Tensor even if x is one: f may use that elsewhere, as a constant.
            args[argnum] = x = +x if type(x) is Tensor else Tensor(x)
            y = f(*args, **kwargs)
        finally:
            recording.paused = paused
        (y,) = constants("grad", [y])
        if y.size != 1:
            raise ValueError(f"grad: f returned shape {y.shape}; it must be one number")
        made_from = list(reverse_order(y, x)) if type(y) is Tensor else []
        if not any(t is x for t in made_from):  # `in` would compare numbers, by ==
            return B.xp.zeros_like(x.data)
        # Record the gradient if it depends on a Tensor that the caller holds: on what x
        # was made from, or on a leaf other than x.
        record = not paused and any(t.op if t is x else not t.op for t in made_from)
        gradient = pull_back(y, B.xp.ones_like(y.data), x, record)[x]
        return gradient if type(gradient) is Tensor else B.xp.array(gradient)

    return df
