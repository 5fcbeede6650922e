"""The reverse pass: rule by rule, gradients go from the output down to the leaves.

Chain rule. An op turns its inputs x into y, and its rule turns g = dL/dy into dL/dx. A
Tensor that was used several times is where several paths from L meet, and its gradient
is the sum over those paths.
"""

from . import backend, checks
from .tensor import Tensor, plain


def reverse_order(output, leaves=frozenset()):
    """Yield all that the output was made from, each Tensor after all its uses.

    Why in this order: a rule may run only when its g is complete. In

        b = a + a
        c = b + b

    c hands b two contributions, of 1 each. If b's rule ran on the first alone it would
    tell a of half the gradient, and would have to run again for the other half: 2ⁿ
    times in a chain of n such steps. So every Tensor waits for the last of its uses.
    That is a topological order, reversed. It is found by counting uses, without
    recursion, which Python stops at about 1,000 calls.

    What `leaves` were made from is passed over: to the caller they are leaves.
    """
    uses = {output: 0}
    found = [output]
    while found:
        t = found.pop()
        for x in t.inputs if t not in leaves else ():
            if isinstance(x, Tensor):
                if x not in uses:
                    uses[x] = 0
                    found.append(x)
                uses[x] += 1
    ready = [output]
    while ready:
        t = ready.pop()
        yield t
        for x in t.inputs if t not in leaves else ():
            if isinstance(x, Tensor):
                uses[x] -= 1
                if not uses[x]:
                    ready.append(x)


def pull_back(output, g, leaves=frozenset(), record=False):
    """Return {leaf: dL/dleaf} for every leaf below the output, given g = dL/doutput.

    The walk ends at leaves, which nothing was made from, and at those given. With
    `record` the gradients are Tensors, and recorded too.
    """
    pending = {output: g}  # what has arrived so far; dropped as soon as it is used
    arrived = {}
    for t in reverse_order(output, leaves):
        g = pending.pop(t)
        if t.op is None or t in leaves:
            arrived[t] = g
            continue
        for x, gx in zip(t.inputs, gradients(t, g, record), strict=True):
            if gx is not None:
                # never `+=`: something else may hold the array that a rule returned
                pending[x] = pending[x] + gx if x in pending else gx
    return arrived


def gradients(t, g, record=False):
    """Return dL/dx for each input x of t, given g = dL/dt; None where x is a constant.

    The rule computes with the arrays that the op computed with; with `record`, with the
    Tensors. It may not write into g, which something else may have been given as well.
    """
    params = t.params
    try:
        if record:
            checks.same_values(t)
            if t.saved:  # would be constants to the next derivative
                params = params | dict.fromkeys(t.saved)
            found = t.op.vjp(g, t, *t.inputs, **params)
        else:
            if t.saved:
                params = params | t.saved
            found = t.op.vjp(backend.read_only(g), t.array, *t.values, **params)
    except checks.ERRORS as error:
        raise checks.rule_failed(error, t, record) from error
    if not isinstance(found, (tuple, list)):
        found = (found,)
    if len(found) != len(t.inputs):
        raise checks.not_one_each(found, t)
    return [
        fit(gx, x, t.op.__name__) if isinstance(x, Tensor) else None
        for x, gx in zip(t.inputs, found, strict=True)
    ]


def fit(g, x, name):
    """Return the gradient in the shape and dtype of x: undo broadcasting and promotion.

    Broadcasting copies a number of x to many places, so its gradient is the sum over
    those places: over the leading axes that x lacks, and along the axes where x has
    length 1.
    """
    if getattr(g, "shape", None) == x.array.shape and g.dtype is x.array.dtype:
        return g  # as most do
    checks.reducible(g, x, name)
    if g.shape != x.shape:
        extra = g.ndim - x.ndim
        stretched = (extra + i for i, n in enumerate(x.shape) if n == 1)
        g = total(g, (*range(extra), *stretched), True).reshape(x.shape)
    return g if g.dtype == x.dtype else g.astype(x.dtype)


def total(x, axis=None, keepdims=False):
    """Return the sum over the axes in the dtype of x, but summed in float32 at least."""
    y = backend.widened(x).sum(axis=axis, keepdims=keepdims)
    return y.astype("float16") if x.dtype.char == "e" else y


def backward(self, g=None):
    """Add dL/dleaf to the `grad` of every leaf below this Tensor, given g = dL/dself.

    Without g this Tensor must have one element, which is then L. The record stays, so a
    second call adds the same again. Nothing is added before every rule has run.

    Raises: ValueError when g is missing or not of this shape, TypeError when it is no
    array of the backend.
    """
    g = checks.seed("backward", self, plain(g))
    for leaf, gradient in pull_back(self, g).items():
        # copied: a rule may have returned g itself, or a view of it
        g = gradient if leaf.grad is None else leaf.grad + gradient
        leaf.grad = backend.xp.array(g)


Tensor.backward = backward
