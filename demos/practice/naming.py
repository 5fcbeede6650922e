"""Which mistake an answer makes: the one that gives the same numbers in every case.

Nothing is guessed. If no mistake of the list fits everywhere, or two do, there is no name.
"""

import functools

from .blank import Mistake
from .measuring import measured
from .outcome import alike
from .trial import pairs, tried


def named(blank, trials):
    """Return the id and a sentence for the mistake behind the trials, or None."""
    several = range(max(len(t.got) for t in trials))
    wrong = [k for k in several if any(differ(*p) for p in pairs(trials, k))]
    wrong = wrong or [*several]
    if len(wrong) == 2 and explained(blank, SWAPPED, trials, wrong):
        return SWAPPED.id, SWAPPED.text
    known = [*blank.mistakes, *ANYWHERE]
    found = [(m.id, m.text) for m in known if explained(blank, m, trials, wrong)]
    if found:  # what goes wrong in two ways may have one name
        return found[0] if len({id for id, _ in found}) == 1 else None
    return measured(blank, trials, wrong)


def explained(blank, mistake, trials, wrong):
    """Return whether a mistake does all that is seen in the outputs that are wrong.

    To raise an error of the same kind proves nothing, unless its words are the same.
    """
    seen = False
    for t in trials:
        other = made(blank, mistake, t.call)
        for k in (k for k in wrong if k < len(t.got)):
            if not alike(t.got[k], other.got[k]):
                return False
            right = alike(t.got[k], t.call.right[k])
            seen = seen or (not right and told(t.got[k], other.got[k]))
    return seen


MADE = {}  # by whoever checks the answers of a class, each of them once


def made(blank, mistake, call):
    """Return the Trial of a mistake in one case."""
    key = blank.name, blank.original, mistake.answer, call.case
    if key not in MADE:
        answer = mistake.answer
        if mistake in (SWAPPED, *ANYWHERE):
            answer = functools.partial(answer, blank.original)
        MADE[key] = tried(blank, answer, call)
    return MADE[key]


def differ(got, right):
    """Return whether an output is wrong. An error is that of no output in particular."""
    return getattr(got, "id", "") != "raises" and not alike(got, right)


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
    Mistake("zero", each(lambda a: 0 * a), "every number is 0"),
    Mistake("sign", each(lambda a: -a), "every number has the wrong sign"),
    Mistake(
        "transposed",
        each(lambda a: a.swapaxes(-1, -2) if a.ndim > 1 else a),
        "this is the right answer, transposed",
    ),
]
