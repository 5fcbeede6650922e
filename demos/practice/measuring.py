"""What numbers alone tell of an answer: a factor, or the coefficients of its terms."""

import math

import numpy

from .outcome import TOLERANCE, Refusal, alike, near
from .trial import outputs, pairs


def measured(blank, trials, wrong):
    """Return the mistake of all outputs that are wrong, as a number tells it, or None."""
    if any(isinstance(a, Refusal) or a.dtype == bool for t in trials for a in t.got):
        return None
    found = {}
    for k in wrong:
        one = factor(pairs(trials, k)) or coefficients(blank, trials)
        if one is None:
            return None
        name = next(outputs(blank, t.call)[k] for t in trials if k < len(t.got))
        found.setdefault(one[0], []).append(f"{name}: {one[1]}")
    if len(found) == 1:
        ((id, texts),) = found.items()
        return id, "; ".join(texts)


def factor(found):
    """Return the mistake of an answer that is everywhere one number times the right."""
    ratios = []
    for a, b in found:
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
    if all(close(b, c, other) for other, b in ratios):
        return "factor", f"every number is the right one times {c:.6g}"
    fits = [
        f"every number is the right one times {form}, with n {what}"
        for form, value in FORMS.items()
        for what, n in LENGTHS.items()
        if all(b.size and close(b, c, value(n(b))) for c, b in ratios)
    ]
    return ("factor", fits[0]) if len(fits) == 1 else None


def close(b, c, other):
    """Return whether two factors of an array b are the same, up to its rounding."""
    return math.isclose(c, other, rel_tol=TOLERANCE[str(b.dtype)][0])


FORMS = {
    "n": lambda n: n,
    "1/n": lambda n: 1 / n,
    "√n": lambda n: n**0.5,
    "1/√n": lambda n: n**-0.5,
}
LENGTHS = {
    "the number of all entries": lambda b: b.size,
    "the length of the last axis": lambda b: b.shape[-1] if b.ndim else 1,
    "the length of the axis before the last": lambda b: (
        b.shape[-2] if b.ndim > 1 else 1
    ),
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
