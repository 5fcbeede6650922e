"""What an answer is called with, and what should come out.

Of a rule that is found by differences of the forward, entry by entry, in float64 and for
a random g; of a forward, by the function in the source.
"""

import functools
import inspect
from typing import NamedTuple

import numpy

from .blank import Case

STEP = 2.0**-14  # x ± STEP is exact, also at x = 10,000


class Call(NamedTuple):
    """What an answer is called with in one case, and what should come out."""

    case: str
    names: list  # of the arguments
    args: tuple
    params: dict
    right: list  # what it should return, an array for each output


def calls(blank):
    """Return a Call for each case of a blank, and for two of them in float32 too."""
    return called(blank.function, blank.is_rule, blank.cases)


@functools.cache  # for whoever checks the answers of a class
def called(f, is_rule, cases):
    found = cases(numpy.random.default_rng(0))
    for case in found[:2]:
        narrow = tuple(map(single, case.inputs))
        if any(a is not b for a, b in zip(narrow, case.inputs, strict=True)):
            name = f"{case.name}, in float32"
            found = [*found, Case(name, narrow, case.params)]
    return [call(f, is_rule, case) for case in found]


def single(x):
    """Return an array of floats in float32, and anything else as it is."""
    floats = isinstance(x, numpy.ndarray) and x.dtype.kind == "f"
    return x.astype("float32") if floats else x


def call(f, is_rule, case):
    """Return the Call for a case."""
    inputs, params = case.inputs, case.params
    names = [*inspect.signature(f).parameters][: len(inputs)]
    y = f(*inputs, **params)
    if not is_rule:
        right = list(y) if isinstance(y, tuple) else [y]
        return Call(case.name, [*names, *params], inputs, params, right)
    g = numpy.random.default_rng(1).standard_normal(y.shape).astype(y.dtype)
    right = [slopes(f, inputs, params, k, g) for k in range(len(inputs))]
    names = ["g", "y", *names, *params]
    return Call(case.name, names, (g, y, *inputs), params, right)


def slopes(f, inputs, params, k, g):
    """Return dL/dx of L = Σ g · f for the k-th input x, by differences of order 4."""
    points = [numpy.array(x, float) for x in inputs]
    slope = numpy.zeros(points[k].shape)
    for i in numpy.ndindex(slope.shape):
        for steps, weight in [(1, 8), (-1, -8), (2, -1), (-2, 1)]:
            moved = [x.copy() for x in points]
            moved[k][i] += steps * STEP
            slope[i] += weight * numpy.sum(g * f(*moved, **params))
    return (slope / (12 * STEP)).astype(inputs[k].dtype)
