"""split_heads: one wide vector per token becomes one narrow vector per token and head."""

import numpy

from ..blank import Blank, Case, Mistake

ASK = """\
Write the function that deals the width of every token out to the heads.

    x             (…, T, d); … are any axes in front, such as a batch, and T positions
    heads         h; it divides d
    the answer    (…, h, T, d / h): head 0 has the first d / h numbers of every token,
                  head 1 the next, and so on

For two tokens 0 1 2 3 and 4 5 6 7 and two heads: head 0 has 0 1 and 4 5, head 1 has 2 3
and 6 7. A function of this size needs no loop, but may have one."""

HINTS = """\
In which order do the numbers of x lie in memory, and in which order does a reshape read
them? Where would `x.reshape(2, 2, 2)` put 2 3 of the example?

Cutting one axis into two neighbours keeps every number where it is. Which axis can be
cut so that the parts of one token become the h heads of this token?

Cut d into (h, d / h): that gives (…, T, h, d / h), with the right numbers in every row.
What is left to do is to bring the axes into the order that is asked for, and that no
reshape does."""


def cases(rng):
    """Return batches and none, as many tokens as heads, one head, and heads of width 1."""

    def case(name, shape, heads):
        return Case(name, (rng.standard_normal(shape), heads))

    return [
        case("two heads", (3, 4), 2),
        case("a batch", (2, 3, 8), 2),
        case("as many tokens as heads", (2, 2, 4), 2),
        case("all sizes alike", (3, 3, 9), 3),
        case("two axes in front", (2, 3, 2, 6), 3),
        case("one head", (2, 3, 4), 1),
        case("heads of width 1", (2, 3, 4), 4),
        case("one token", (2, 1, 6), 3),
    ]


def cut(x, heads):
    """Return x as (…, T, h, d / h)."""
    *front, T, d = x.shape
    return x.reshape((*front, T, heads, d // heads))


def one_reshape(x, heads):
    *front, T, d = x.shape
    return x.reshape((*front, heads, T, d // heads))


def interleaved(x, heads):
    *front, T, d = x.shape
    x = x.reshape((*front, T, d // heads, heads))
    return numpy.moveaxis(x, -1, -3)


def width_of_heads(x, heads):
    """Answer with the number of heads taken for their width."""
    *front, T, d = x.shape
    return x.reshape((*front, T, d // heads, heads)).swapaxes(-2, -3)


def over_positions(x, heads):
    """Answer with the positions dealt out, and not the width."""
    *front, T, d = x.shape
    return x.reshape((*front, heads, T // heads, d))


def through_columns(x, heads):
    """Answer with a reshape of the transposed tokens."""
    *front, T, d = x.shape
    return x.swapaxes(-1, -2).reshape((*front, heads, T, d // heads))


MISTAKES = [
    Mistake(
        "one_reshape",
        one_reshape,
        "a reshape alone deals out whole tokens: a head then has parts of one token, in "
        "the place of one part of every token",
    ),
    Mistake(
        "not_exchanged",
        cut,
        "this is (…, T, h, d / h); the heads are to stand before the positions",
    ),
    Mistake(
        "interleaved",
        interleaved,
        "head i has every h-th number of a token; it is to have d / h in a row",
    ),
    Mistake(
        "width_of_heads",
        width_of_heads,
        "the number of heads is taken for their width: there are h heads of width d / h",
    ),
    Mistake(
        "last_axes",
        lambda x, heads: cut(x, heads).swapaxes(-1, -2),
        "the last two axes are exchanged; it is the heads and the positions that change "
        "places",
    ),
    Mistake(
        "heads_first",
        lambda x, heads: numpy.moveaxis(cut(x, heads), -2, 0),
        "the heads stand in front of the batch; they stand right before the positions",
    ),
    Mistake(
        "batch_exchanged",
        lambda x, heads: cut(x, heads).swapaxes(1, 2),
        "axes are counted from the front, so it fits one batch axis only: count from the "
        "end",
    ),
    Mistake(
        "one_batch_axis",
        lambda x, heads: cut(x, heads).transpose(0, 2, 1, 3),
        "this fits one batch axis only; there may be none, or two: count axes from the end",
    ),
    Mistake(
        "reversed",
        lambda x, heads: cut(x, heads).swapaxes(-2, -3)[..., ::-1, :, :],
        "the heads are in reverse order",
    ),
    Mistake(
        "over_positions",
        over_positions,
        "the positions are dealt out to the heads; every head has all positions and a "
        "part of the width",
    ),
    Mistake(
        "through_columns",
        through_columns,
        "the tokens are transposed first, and a reshape then mixes positions",
    ),
    Mistake(
        "all_axes",
        lambda x, heads: cut(x, heads).T,
        "`.T` reverses all axes; two of them are to change places",
    ),
    Mistake(
        "first_head",
        lambda x, heads: x[..., : x.shape[-1] // heads],
        "this is the first head alone",
    ),
]

BLANK = Blank(
    name="split_heads",
    source="attention.heads.split_heads",
    teaches="what a reshape does, and why it cannot move an axis",
    minutes=10,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
