"""Name the mistake behind a wrong gradient, where the numbers leave no other.

A gradient is a good witness: wrong rules differ from each other. A mistake is named if
undoing it makes the whole gradient right, for several u, at the point and at one near
it, and if no other of the list would do as well. So there is no name for what is wrong
in one entry of many, or only where two inputs happen to be equal; nor for a - b with
both gradients of the other sign, which are also the right ones exchanged.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy

TINY = 1e-6  # share of the largest entry up to which a sum, or a rank, is taken for 0


class Witness(NamedTuple):
    """What is known at one point about the gradients of L = Σ u · f, for c different u.

    The last u is 0, the others are random. Each list has an item for every input.
    """

    outputs: int  # how many numbers f returns
    path: list  # whether anything recorded leads from the output to the input
    got: list  # (c, *shape): dL/dx as the rules make it, 0 without a path
    expected: list  # (c, *shape): dL/dx as it should be
    own: list  # (c, *shape): that, had y_i depended on x_i only; None if shapes differ
    right: Callable  # right(k, a): whether a, (c, *shape), would do for input k


def name_mistake(k, witnesses, names):
    """Return the id and a sentence for the mistake in the gradient of input k, or None.

    There should be witnesses of two points at least. `names` are those of the inputs.
    """
    if any(w.right(k, 0 * w.expected[k]) for w in witnesses):
        return None  # where 0 would do as well nothing can be told
    tried = [(name, test(k, witnesses), text) for name, test, text in MISTAKES]
    found = [(name, shown, text) for name, shown, text in tried if shown is not None]
    if len(found) != 1:
        return None
    name, shown, text = found[0]
    return name, text.format(names[k], names[shown] if name == "swapped" else shown)


def repaired(k, witnesses, repair):
    """Return whether the gradient of input k is right everywhere once repaired."""
    return all(w.path[k] and w.right(k, repair(w.got[k])) for w in witnesses)


def ratio(k, witnesses):
    """Return c if the gradient is c times the right one everywhere, else None; and None
    if df/dx is one number, which any mistake multiplies by something."""
    got, expected = witnesses[0].got[k], witnesses[0].expected[k]
    i = numpy.unravel_index(numpy.abs(expected).argmax(), expected.shape)
    if witnesses[0].outputs * got[0].size == 1 or not (got[i] and expected[i]):
        return None
    c = got[i] / expected[i]
    return c if repaired(k, witnesses, lambda a: a / c) else None


def sign(k, witnesses):
    c = ratio(k, witnesses)
    return "" if c and abs(c + 1) < TINY else None


def factor(k, witnesses):
    c = ratio(k, witnesses)
    if c and not abs(c + 1) < TINY:
        return f"{c:.7g}{meaning(abs(c), [a.shape[1:] for a in witnesses[0].got])}"


def meaning(c, shapes):
    """Return what c may come from: a length, its root, or one divided by either."""
    known = {2: ""} | {math.prod(s): "the size of an input" for s in shapes}
    known |= {n: "the length of an axis" for s in shapes for n in s}
    for n in sorted(known.keys() - {0, 1}):
        forms = {"": n, f" = 1/{n}": 1 / n, f" = √{n}": n**0.5, f" = 1/√{n}": n**-0.5}
        for form, value in forms.items():
            if math.isclose(c, value, rel_tol=TINY):
                return f"{form}, and {n} is {known[n]}" if known[n] else form
    return ""


def transposed(k, witnesses):
    def back(a):  # from rows of the right length too, as a reshape made them
        return a.reshape((*a.shape[:-2], *a.shape[:-3:-1])).swapaxes(-1, -2)

    if witnesses[0].got[k].ndim > 2 and repaired(k, witnesses, back):
        return ""


def swapped(k, witnesses):
    def exchanged(j, w):
        a, b = w.got[k], w.got[j]
        return a.shape == b.shape and w.right(k, b) and w.right(j, a)

    inputs = range(len(witnesses[0].got))
    return next((j for j in inputs if all(exchanged(j, w) for w in witnesses)), None)


def no_path(k, witnesses):
    if not any(w.path[k] for w in witnesses):
        return ""


def not_centred(k, witnesses):
    for axis in range(-1, -witnesses[0].got[k].ndim, -1):
        if all(lacks_a_tie(k, w, axis) for w in witnesses):
            return axis


def lacks_a_tie(k, witness, axis):
    """Return whether the right rows along the axis sum to 0, those made do not, and only
    what ties the outputs of a row is missing.

    Say y depends on its own x and on z, a sum over the row. With z held fixed Σ dL/dz
    dz/dx is missing: for every u a multiple of one row dz/dx, so that the (c, n) numbers
    missing from a row have rank 1; or 2, if z is a mean and a deviation. Or all of the
    Jacobian is missing but its diagonal, and `own` is left.
    """
    got = numpy.moveaxis(witness.got[k], axis, -1)  # (c, …, n)
    right = numpy.moveaxis(witness.expected[k], axis, -1)
    tiny = TINY * numpy.abs(right).max()
    ties, sums = (numpy.abs(a.sum(axis=-1)).max() for a in (right, got))
    given_0 = numpy.abs(got[-1]).max()  # where u is 0 a rule makes 0, it is linear
    if not (tiny and ties <= tiny < sums < math.inf and given_0 <= tiny):
        return False
    centred = got - got.mean(axis=-1, keepdims=True)
    if witness.right(k, numpy.moveaxis(centred, -1, axis)):
        return True
    own = witness.own[k]
    if own is not None and numpy.abs(witness.got[k] - own).max() <= tiny:
        return True
    right, got = (numpy.moveaxis(a, 0, -2) for a in (right, got))  # (…, c, n)
    counts, missing = (numpy.abs(a).max(axis=-2) > tiny for a in (right, right - got))
    left, whole = (numpy.linalg.matrix_rank(a, tiny) for a in (right - got, got))
    tied = (left <= 2) & (left < whole) | ~counts.any(axis=-1)  # (…), for every row
    return bool(numpy.all(tied) and numpy.all(missing | ~counts))


UNTIED = (
    "{}: the right gradient sums to 0 along axis {}, this one does not: what ties each "
    "output to all inputs of its row is forgotten or wrong"
)
MISTAKES = [  # id, test(k, witnesses) -> what it shows, or None, and what is then said
    ("sign", sign, "{}: every entry has the wrong sign"),
    ("factor", factor, "{}: every entry is the right one times {}"),
    ("transposed", transposed, "{}: this is the transpose of the right gradient"),
    ("swapped", swapped, "{}: its gradient and that of {} are exchanged"),
    (
        "no_path",
        no_path,
        "{}: nothing recorded leads to it; was it detached on the way?",
    ),
    ("not_centred", not_centred, UNTIED),
]
