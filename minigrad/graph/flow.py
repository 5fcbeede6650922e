"""The gradient's way: what each recorded Tensor gets, from which op, and where it ends.

`backward` keeps the gradients of the leaves, and drops all others as soon as they are
used. `flow` runs the same rules in the same order and keeps everything. If x is the
i-th input of t, then t hands it contributions[t, i], and over all uses of x

    gradients[x] = Σ contributions[t, i]
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from .. import backend, checks
from ..backward import gradients as gradients_of
from ..backward import reverse_order
from ..tensor import Tensor, plain
from .paths import label, recorded

LITTLE = 2.0**-24  # 6e-8: in float32, what is so much smaller than 1 is lost beside it


class Trouble(NamedTuple):
    """What goes wrong at the op that made `at`, or in `at` itself if it is a leaf."""

    at: Tensor
    kind: str  # "nan", "inf", "vanishes" or "explodes"
    text: str


@dataclass(eq=False)
class Flow:
    """What `flow` found.

    Each array has the shape and dtype of the Tensor that it is for. Some share memory:
    do not write into them. All are held as long as the Flow, which takes at least as
    much memory as the values in the graph.
    """

    output: Tensor
    gradients: dict  # {t: dL/dt} for every recorded Tensor, from the output down
    contributions: dict  # {(t, i): what the i-th input of t got from it}, if a Tensor

    @property
    def trouble(self):
        """The first of `troubles`, or None."""
        return next(iter(self.troubles()), None)

    def troubles(self):
        """Return what goes wrong, a likely cause before what may follow from it.

        1. In the values, inputs before what they make, for rules compute with them: an
           op makes NaN from Tensors without, or inf from what is finite (so the -inf of
           a mask is none), or a leaf holds one.
        2. At the ops, from the output down: NaN or inf leaves where none arrived; or of
           what arrived less than 6 · 10⁻⁸ leaves ("vanishes"), or more than 1.7 · 10⁷
           times as much ("explodes"). Sizes are 2-norms, and what leaves is what all
           inputs get together.
        3. On the way, from the output down: so little or much is what an input gets, by
           any of its uses, beside g at the output, and what its op gets is not. It fades
           over many ops, or the op hands on enough, but not to this input.
        """
        found = {}
        for t, kind, text in symptoms(self):
            if t not in found:
                given = ", ".join(f"{magnitude(x):.3g}" for x in t.values)
                text += f" (its inputs hold {given})" if given else ""
                found[t] = Trouble(t, kind, f"{label(t)}: {kind}: {text}")
        return list(found.values())


def flow(output, g=None):
    """Return the Flow from an output down to its leaves, given g = dL/doutput.

    As for `backward`, an output of one number needs no g. No `grad` is touched.
    `graph.draw(output, flow=…)` draws it.

    Raises: TypeError when the output is no Tensor, or g no array of the backend;
    ValueError when g is missing, or not of the output's shape.

    In self-attention x is query, key and value at once, so three roads lead to it:

    >>> from minigrad import Tensor, graph, softmax
    >>> x = Tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> keys = x.swapaxes(0, 1)
    >>> scores = x @ keys
    >>> y = softmax(scores) @ x
    >>> flow = graph.flow(y, g=[[1.0, 0.0], [0.0, 0.0]])
    >>> flow.contributions[scores, 0].round(3)    # as queries: only the first has a g
    array([[ 0.197, -0.393],
           [ 0.   ,  0.   ]])
    >>> flow.contributions[keys, 0].round(3)      # as keys
    array([[ 0.197,  0.   ],
           [-0.197,  0.   ]])
    >>> flow.contributions[y, 1].round(3)         # as values: the weights of query 1
    array([[0.731, 0.   ],
           [0.269, 0.   ]])
    >>> flow.gradients[x].round(3)                # and the sum of the three
    array([[ 1.124, -0.393],
           [ 0.072,  0.   ]])
    """
    recorded("flow", output)
    g = checks.seed("flow", output, plain(g))
    pending = {output: backend.xp.array(g)}  # a copy: the Flow keeps it
    gradients, contributions = {}, {}
    for t in reverse_order(output):
        gradients[t] = g = backend.xp.asarray(pending.pop(t))
        given = gradients_of(t, g) if t.op else ()
        for i, (x, gx) in enumerate(zip(t.inputs, given, strict=True)):
            if isinstance(x, Tensor):
                contributions[t, i] = gx = backend.xp.asarray(gx)
                pending[x] = pending[x] + gx if x in pending else gx
    return Flow(output, gradients, contributions)


def symptoms(flow):
    """Yield (t, kind, text) in the three looks of `troubles`."""
    arrives = {t: magnitude(g) for t, g in flow.gradients.items()}
    sent = {edge: magnitude(c) for edge, c in flow.contributions.items()}
    whole = arrives[flow.output]
    for t in reversed(arrives):
        made, given = magnitude(t.data), [magnitude(x) for x in t.values]
        tensors = [
            n for n, x in zip(given, t.inputs, strict=True) if isinstance(x, Tensor)
        ]
        if math.isnan(made) and not any(map(math.isnan, tensors)):
            yield t, "nan", "in its values"
        if math.isinf(made) and all(map(math.isfinite, given)):
            yield t, "inf", "in its values"
    if not math.isfinite(whole):
        yield flow.output, str(whole), "in the g that was given"
    for t, g in arrives.items():
        sent_on = magnitude([sent.get((t, i), 0.0) for i in range(len(t.inputs))])
        if t.op and (kind := change(g, sent_on)):
            yield t, kind, f"{g:.3g} arrives, {sent_on:.3g} leaves"
    most = {flow.output: whole}  # that came to each over one way: ways may cancel
    for (t, i), n in sent.items():
        most[t.inputs[i]] = max(n, most.get(t.inputs[i], 0.0))
    for t, i in sent:
        n, kind = most[t.inputs[i]], change(whole, most[t.inputs[i]])
        if kind and not change(whole, most[t]):
            text = f"its input {i}, {label(t.inputs[i])}, gets {n:.3g} at most"
            yield t, kind, f"{text}, where g at the output is {whole:.3g}"


def change(before, after):
    """Return the kind of trouble from one size of a gradient to another, or None."""
    if not 0 < before < math.inf:
        return None
    if not math.isfinite(after):
        return str(after)  # "nan" or "inf"
    vanishes, explodes = after < LITTLE * before, LITTLE * after > before
    return "vanishes" if vanishes else "explodes" if explodes else None


def magnitude(x):
    """Return the 2-norm of the numbers in x as a Python float; NaN if one of them is."""
    x = backend.xp.asarray(x)
    largest = float(backend.xp.abs(x).max()) if x.size else 0.0
    if x.size < 2 or not 0 < largest < math.inf:
        return largest
    x = x / largest  # the square of a large number overflows, of a small one is 0
    return largest * math.sqrt(float((x * x).sum()))
