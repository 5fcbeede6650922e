"""causal_mask: who may look at whom, if there are more keys than queries, or fewer."""

import numpy

from ..blank import Blank, Case, Mistake

ASK = """\
Write the mask that hides from each query the keys after its own position.

    n, m          the numbers of queries and of keys
    strict        whether a query's own position is hidden too
    the answer    (n, m), booleans: True where query i may attend to key j

The LAST query stands at the LAST key: the queries may be the newest n of m positions, of
which the others were computed before. So if n = m, query i stands at key i; if n < m the
first query sees some keys already; if n > m the first queries see nothing."""

HINTS = """\
Draw it for n = 2 and m = 5. At which key does query 1 stand, at which query 0? Which
keys may they see?

Query n - 1 stands at key m - 1. So where does query i stand? It sees all keys j up to
there, or, if strict, those before.

Query i stands at key i + m - n. With i in a column, (n, 1), and j in a row, (m,), one
comparison makes the whole mask; strict asks for < in the place of ≤, or for one key
less."""


def cases(rng):
    """Return as many keys as queries, more, and fewer; each strict, too."""
    sizes = [(3, 3), (2, 5), (5, 2), (1, 4), (4, 1), (1, 1)]
    return [
        Case(f"n = {n}, m = {m}{', strict' * strict}", (n, m), {"strict": strict})
        for strict in (False, True)
        for n, m in sizes
    ]


def where(compare):
    """Return the answer compare(i, j, m - n), or, if strict, compare of i - 1."""

    def answer(n, m, strict=False):
        i, j = numpy.arange(n)[:, None], numpy.arange(m)
        return numpy.broadcast_to(compare(i - strict, j, m - n), (n, m))

    return answer


def loose(compare):
    """Return the answer that does not look at strict."""
    return lambda n, m, strict=False: where(compare)(n, m)


def right(i, j, past):
    return j <= i + past


MISTAKES = [
    Mistake(
        "top_left",
        where(lambda i, j, past: j <= i),
        "the first query stands at the first key; if n ≠ m it is the last query that "
        "stands at the last key",
    ),
    Mistake(
        "wrong_way",
        where(lambda i, j, past: j <= i - past),
        "the shift has the wrong sign: with more keys than queries every query sees more",
    ),
    Mistake(
        "wrong_way",
        loose(lambda i, j, past: j <= i - past),
        "the shift has the wrong sign, and `strict` is not looked at",
    ),
    Mistake(
        "distance",
        where(lambda i, j, past: j <= i + abs(past)),
        "the shift is positive always; if n > m the first queries see nothing",
    ),
    Mistake("not_strict", loose(right), "`strict` is not looked at"),
    Mistake(
        "strict_turned",
        lambda n, m, strict=False: where(right)(n, m, not strict),
        "strict is the wrong way round: if it is True the own position is hidden",
    ),
    Mistake(
        "strict_adds",
        lambda n, m, strict=False: where(right)(n, m, -strict),
        "strict shows one key more; it hides one, the own position",
    ),
    Mistake(
        "always_strict",
        lambda n, m, strict=False: where(right)(n, m, True),
        "the own position is hidden always; only if strict",
    ),
    Mistake(
        "one_early",
        where(lambda i, j, past: j < i + past),
        "every query sees one key too few",
    ),
    Mistake(
        "one_late",
        where(lambda i, j, past: j <= i + past + 1),
        "every query sees one key too many: one of the future",
    ),
    Mistake(
        "inverted",
        where(lambda i, j, past: j > i + past),
        "True and False are exchanged: True means that a query may attend",
    ),
    Mistake(
        "future",
        where(lambda i, j, past: j >= i + past),
        "this shows the future and hides the past",
    ),
    Mistake(
        "diagonal",
        where(lambda i, j, past: j == i + past),
        "each query sees its own position alone; it sees those before, too",
    ),
    Mistake(
        "turned",
        lambda n, m, strict=False: where(right)(m, n, strict),
        "this is (m, n): queries are the rows, keys the columns",
    ),
    Mistake(
        "turned_future",
        lambda n, m, strict=False: where(right)(m, n, strict).T,
        "this is the mask of m queries and n keys, transposed: it shows the future",
    ),
    Mistake(
        "top_left_loose",
        loose(lambda i, j, past: j <= i),
        "the first query stands at the first key, and `strict` is not looked at",
    ),
    Mistake(
        "strict_at_i",
        lambda n, m, strict=False: where(right)(n, m) & ~(strict * numpy.eye(n, m) > 0),
        "strict hides key i from query i; the own position is i + m - n",
    ),
    Mistake(
        "future",
        loose(lambda i, j, past: j >= i),
        "this shows the future and hides the past, and looks neither at m - n nor at "
        "`strict`",
    ),
    Mistake(
        "nothing", lambda n, m, strict=False: numpy.zeros((n, m), bool), "all hidden"
    ),
    Mistake(
        "everything",
        lambda n, m, strict=False: numpy.ones((n, m), bool),
        "every query sees every key",
    ),
    Mistake(
        "numbers",
        lambda n, m, strict=False: where(right)(n, m, strict).astype(int),
        "these are the numbers 0 and 1, and booleans are asked for: compare, or dtype=bool",
    ),
    Mistake(
        "added",
        lambda n, m, strict=False: numpy.where(
            where(right)(n, m, strict), 0.0, -numpy.inf
        ),
        "this is to be added to scores; a mask here is boolean, True where a query may "
        "attend",
    ),
    Mistake(
        "square",
        lambda n, m, strict=False: where(right)(n, n, strict),
        "this is (n, n); there are m keys",
    ),
]

BLANK = Blank(
    name="causal_mask",
    source="attention.masks.causal_mask",
    teaches="no look ahead, also where keys outnumber queries",
    minutes=10,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
