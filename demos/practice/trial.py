"""Call an answer in one case, and see what it does."""

import copy
import inspect
import os
import traceback
import warnings
from typing import NamedTuple

import numpy

from .calls import Call
from .outcome import Refusal, checked, parts


class Trial(NamedTuple):
    """What an answer did: an array or a Refusal for each output, and what else was seen."""

    call: Call
    got: list
    changed: str = ""  # the name of an array that it wrote into
    dtype: str = ""  # of what came out, if another one was asked for


def tried(blank, answer, call):
    """Return the Trial of an answer in one case. It is given copies."""
    n = len(call.right)
    args, params = copy.deepcopy((call.args, call.params))
    try:
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = answer(*args, **params)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a learner's code
        text, kind = spot(error, file_of(answer)), type(error).__name__
        if kind == "NotImplementedError":
            refusal = Refusal("unfinished", "nothing is written here yet")
        else:
            refusal = Refusal("raises", text, kind, words=str(error))
        return Trial(call, [refusal] * n)
    found = list(zip(parts(y, n, blank.is_rule), call.right, strict=True))
    other = [a.dtype for a, b in found if hasattr(a, "dtype") and a.dtype != b.dtype]
    return Trial(
        call,
        [
            a if isinstance(a, Refusal) else checked(a, b, name, blank.is_rule)
            for (a, b), name in zip(found, outputs(blank, call), strict=True)
        ],
        changed=changed(call, [*args, *params.values()]),
        dtype=str(other[0]) if other else "",
    )


def pairs(trials, k):
    """Return (got, right) of an output, wherever there is one of this number."""
    return [(t.got[k], t.call.right[k]) for t in trials if k < len(t.got)]


def outputs(blank, call):
    """Return what the outputs are called: dL/da of the input a, or the answer."""
    if not blank.is_rule:
        return ["the answer", "the weights"][: len(call.right)]
    return [f"dL/d{name}" for name in call.names[2 : 2 + len(call.right)]]


def changed(call, held):
    """Return the name of the first array that is no more what it was, or ""."""
    before = [*call.args, *call.params.values()]
    for name, a, b in zip(call.names, before, held, strict=True):
        floats = isinstance(a, numpy.ndarray) and a.dtype.kind == "f"
        if isinstance(a, numpy.ndarray) and not numpy.array_equal(a, b, floats):
            return name
    return ""


def spot(error, file):
    """Return the error in one line, with the line of the file at which it came up."""
    walked = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in walked if frame.f_code.co_filename == file]
    where = f"{os.path.basename(file)}, line {lines[-1]}: " if lines else ""
    words = " ".join(str(error).split())
    return f"{where}{type(error).__name__}: {words:.200}".removesuffix(": ")


def file_of(answer):
    """Return the file of a function as Python's tracebacks call it, or ""."""
    return getattr(getattr(inspect.unwrap(answer), "__code__", None), "co_filename", "")
