"""Which mistake an answer makes: the one that gives the same numbers in every case.

Nothing is guessed. If no mistake of the list fits everywhere, or two do, there is no name.
"""

import functools
import math

import numpy

from .blank import Mistake
from .outcome import Refusal, alike, near
from .trial import outputs, tried


def named(blank, trials):
    """Return the id and a sentence for the mistake behind the trials, or None."""
    if explained(blank, SWAPPED, trials):
        return SWAPPED.id, SWAPPED.text
    known = [*blank.mistakes, *ANYWHERE]
    found = [(m.id, m.text) for m in known if explained(blank, m, trials)]
    if found:  # what goes wrong in two ways may have one name
        return found[0] if len({id for id, _ in found}) == 1 else None
    return measured(blank, trials)


def explained(blank, mistake, trials):
    """Return whether a mistake does what is seen in every output that is wrong.

    To raise an error of the same kind proves nothing, unless its words are the same.
    """
    answer = mistake.answer
    if mistake in (SWAPPED, *ANYWHERE):
        answer = functools.partial(mistake.answer, blank.original)
    others = [tried(blank, answer, t.call) for t in trials]
    seen = 0
    for k in range(len(trials[0].got)):
        same = [alike(t.got[k], o.got[k]) for t, o in zip(trials, others, strict=True)]
        right = [alike(t.got[k], t.call.right[k]) for t in trials]
        if not all(same) and (mistake is SWAPPED or not all(right)):
            return False
        pairs = [(t.got[k], o.got[k]) for t, o in zip(trials, others, strict=True)]
        seen += any(told(a, b) for (a, b), r in zip(pairs, right, strict=True) if not r)
        if mistake is SWAPPED and all(right):
            return False
    return seen > 0


def told(a, b):
    """Return whether two outputs that are alike have more in common than to fail."""
    return getattr(a, "id", "") != "raises" or a.words == b.words


def each(change):
    """Return the answer that changes all that the original one returns."""

    def answer(original, *args, **params):
        y = original(*args, **params)
        return tuple(map(change, y)) if isinstance(y, tuple) else change(y)

    return answer


def reversed_pair(original, *args, **params):
    a, b = original(*args, **params)
    return b, a


SWAPPED = Mistake("swapped", reversed_pair, "the two gradients are exchanged")
ANYWHERE = [
    Mistake("sign", each(lambda a: -a), "every number has the wrong sign"),
    Mistake(
        "transposed",
        each(lambda a: a.swapaxes(-1, -2) if a.ndim > 1 else a),
        "this is the right answer, transposed",
    ),
]


def measured(blank, trials):
    """Return the mistake that all outputs make that are wrong, as a number tells it."""
    if any(isinstance(a, Refusal) or a.dtype == bool for t in trials for a in t.got):
        return None
    found = {}
    for k, name in enumerate(outputs(blank, len(trials[0].got))):
        pairs = [(t.got[k], t.call.right[k]) for t in trials]
        if all(alike(a, b) for a, b in pairs):
            continue
        one = factor(pairs) or coefficients(blank, trials)
        if one is None:
            return None
        found.setdefault(one[0], []).append(f"{name}: {one[1]}")
    if len(found) == 1:
        ((id, texts),) = found.items()
        return id, "; ".join(texts)


def factor(pairs):
    """Return the mistake of an answer that is everywhere one number times the right."""
    ratios = []
    for a, b in pairs:
        if not b.size or not numpy.abs(b).max():
            if numpy.any(a):
                return None
            continue
        i = numpy.unravel_index(numpy.abs(b).argmax(), b.shape)
        c = float(a[i]) / float(b[i])
        if not c or not math.isfinite(c) or not numpy.all(near(a / c, b)):
            return None
        ratios.append((c, b))
    c = ratios[0][0]
    if all(math.isclose(c, other, rel_tol=1e-3) for other, _ in ratios):
        return "factor", f"every number is the right one times {c:.6g}"
    forms = {
        "n": lambda n: n,
        "1/n": lambda n: 1 / n,
        "√n": lambda n: n**0.5,
        "1/√n": lambda n: n**-0.5,
    }
    fits = [
        (form, what)
        for form, value in forms.items()
        for what, n in LENGTHS.items()
        if all(b.size and math.isclose(c, value(n(b)), rel_tol=1e-3) for c, b in ratios)
    ]
    if len(fits) == 1:
        form, what = fits[0]
        return "factor", f"every number is the right one times {form}, with n {what}"


LENGTHS = {
    "the number of all entries": lambda b: b.size,
    "the length of the last axis": lambda b: b.shape[-1] if b.ndim else 1,
    "the length of the axis before the last": lambda b: b.shape[-2] if b.ndim > 1 else 1,
}


def coefficients(blank, trials):
    """Return the mistake of an answer that is made of the right terms, but of one of them
    too often, too little or with the wrong sign."""
    if not blank.terms:
        return None
    args = [(t.call.args, t.call.params) for t in trials]
    with numpy.errstate(all="ignore"):
        values = [[t.value(*a, **p) for a, p in args] for t in blank.terms]
    flat = numpy.stack([numpy.concatenate([*map(numpy.ravel, v)]) for v in values], 1)
    got = numpy.concatenate([t.got[0].ravel() for t in trials])
    if not (numpy.isfinite(flat).all() and numpy.isfinite(got).all()):
        return None
    found = numpy.linalg.lstsq(flat, got, rcond=None)[0]
    for i, t in enumerate(trials):
        made = sum(c * v[i] for c, v in zip(found, values, strict=True))
        if not alike(t.got[0], made):
            return None
    texts = []
    for c, term in zip(found, blank.terms, strict=True):
        if abs(c - term.coefficient) > 1e-3:
            texts.append(said(c, term))
    return ("coefficient", "; ".join(texts)) if texts else None


def said(c, term):
    """Return what is wrong with the coefficient of a term."""
    if abs(c) < 1e-3:
        return f"{term.name} is missing"
    if abs(c + term.coefficient) < 1e-3:
        return f"{term.name} has the wrong sign"
    return f"{term.name} comes {c / term.coefficient:.6g} times, and not once"
