"""`check`: is an answer right, and if not, which mistake is it?"""

import difflib

import numpy

from .blank import Verdict
from .blanks import BLANKS
from .calls import calls
from .naming import named
from .outcome import Refusal, alike, near
from .trial import outputs, tried
from .undone import undone

WIDE = (
    "  np.zeros(shape) and np.sqrt(n) are float64, and so is what meets an array of it"
)


def check(name, function):
    """Return whether a function fills in a blank, and if not, what its mistake is.

    The function is called as the one in the source is: a rule as (g, y, *inputs, …), and
    a forward with its inputs. It is given NumPy arrays. The result has `right`, `mistake`
    (a short id, or None where the numbers do not tell) and `message`.

    Raises: KeyError for a name that is no blank, TypeError for what is no function.

    >>> from demos.practice import check
    >>> check("product", lambda g, y, a, b: (g * b, g * a)).right
    True
    >>> check("product", lambda g, y, a, b: (g * a, g * b)).mistake
    'swapped'
    """
    if name not in BLANKS:
        raise KeyError(unknown(name))
    if not callable(function):
        raise TypeError(f"{name}: {function!r:.60} is no function")
    with undone() as put_back:
        right, mistake, text = verdict(BLANKS[name], function, put_back)
    return Verdict(right, mistake, f"{name}: {text}")


def unknown(name):
    """Return a line that says that there is no such blank, with the nearest name."""
    likely = str(name).lower().replace("-", "_")
    nearest = difflib.get_close_matches(likely, BLANKS, n=1)
    return f"no blank named {name}" + "".join(f"; did you mean {x}?" for x in nearest)


def verdict(blank, function, put_back=lambda: None):
    """Return right, mistake and text for a function; put_back undoes what it has done."""
    trials = []
    for call in calls(blank):
        trials.append(tried(blank, function, call))
        put_back()  # the next call finds the engine as it was
    for t in trials:
        if t.changed:
            id = "g_changed" if t.changed == "g" else "input_changed"
            text = f"it writes into {t.changed}, which others may hold: use a copy"
            return False, id, f"{text} (at {t.call.case})"
    if first := next(faults(trials), None):
        return False, *wrong(blank, trials, *first)
    for t in trials:
        if t.dtype:
            id = "float64" if t.dtype == "float64" else "dtype"
            text = f"the numbers are right, but they are {t.dtype} at {t.call.case}"
            return False, id, f"{text}\n{WIDE}" if id == "float64" else text
    return True, None, f"right, in {len(trials)} cases: {listed(trials)}"


def faults(trials):
    """Yield each trial that is wrong, with the number of the output."""
    for t in trials:
        for k, (a, b) in enumerate(zip(t.got, t.call.right, strict=True)):
            if not alike(a, b):
                yield t, k


def wrong(blank, trials, t, k):
    """Return id and text for trials of which t is the first that is wrong, in output k."""
    got = t.got[k]
    refused = isinstance(got, Refusal)
    if refused and got.id in ("unfinished", "none", "type", "count"):
        return got.id, f"{got.text} (at {t.call.case})"
    if found := named(blank, trials) or named_but_for_edges(blank, trials):
        return found[0], f"{found[1]}\n{numbers(blank, trials, t, k)}"
    if refused:
        return got.id, f"{got.text} (at {t.call.case})"
    if lost(got, t.call.right[k]):
        return "nan", f"NaN, or infinity\n{numbers(blank, trials, t, k)}"
    more = sums(got, t.call.right[k])
    return None, f"wrong, and not in a way I know\n{numbers(blank, trials, t, k)}{more}"


def named_but_for_edges(blank, trials):
    """Return the mistake in all the numbers there are, if at edges there are none."""
    whole = [t for t in trials if not any(map(lost, t.got, t.call.right))]
    if trials[0] not in whole or not any(faults(whole)):
        return None
    found = named(blank, whole)
    if found is None:
        return None
    edges = [t for t in trials if t not in whole]
    refusals = [a.text for t in edges for a in t.got if isinstance(a, Refusal)]
    text = f"  besides, at {listed(edges)}: {(refusals or ['NaN, or infinity'])[0]}"
    return found[0], f"{found[1]}\n{text}"


def lost(got, right):
    """Return whether an error or NaN has taken the place of the numbers."""
    if isinstance(got, Refusal):
        return got.id in ("raises", "none", "type", "count")
    return not numpy.isfinite(got[~near(got, right)]).all()


def numbers(blank, trials, t, k):
    """Return where the answer is wrong first, what it is there, and what is right."""
    name = outputs(blank, t.call)[k]
    good = [o for o in trials if all(map(alike, o.got, o.call.right))]
    got, right = t.got[k], t.call.right[k]
    lines = [f"  at {t.call.case}: {got.text}"] if isinstance(got, Refusal) else []
    if not lines:
        i = tuple(map(int, numpy.argwhere(~near(got, right))[0]))
        at = f"[{', '.join(map(str, i))}]" if i else ""
        a, b = (f"{x[i]:.6g}" if x.dtype != bool else f"{x[i]}" for x in (got, right))
        lines = [f"  at {t.call.case}, {name}{at}: got {a}, expected {b}"]
    if good:
        lines.append(f"  right at: {listed(good)}")
    return "\n".join(lines)


def listed(trials):
    """Return the names of their cases."""
    return "; ".join(t.call.case for t in trials)


def sums(got, right):
    """Return a line on rows that should sum to 0 and do not, or ""."""
    if not right.ndim or right.dtype == bool or right.shape[-1] < 2:
        return ""
    tied, free = (numpy.abs(a.sum(-1)).max(initial=0) for a in (right, got))
    tiny = 1e-6 * numpy.abs(right).max(initial=0)
    text = "\n  the rows of the right one sum to 0, these do not"
    return text if tied < tiny < free else ""
