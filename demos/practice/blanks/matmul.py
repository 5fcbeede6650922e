"""matmul: the rule of the matrix product."""

from ..blank import Blank, Case, Mistake

ASK = """\
L is a number that depends on Y. Write the rule of this op: given g = dL/dY, return dL/dA and dL/dB.

    a       (…, n, k)
    b       (…, k, p)
    g, y    (…, n, p); y is what the op returned

… are any axes in front, such as a batch. They broadcast; if b has none and a has, the
engine sums what you return for b over them. Vectors are not asked for here."""

HINTS = """\
Take one number of Y: row i of A times column j of B. In which numbers of Y is one
number of A, and with which factor is it in each of them?

The number of A in row i, column l is in row i of Y, and in its column j with the factor
B[l, j]. L depends on it through that whole row: multiply each g by that factor and sum
over j.

A sum over j of g[i, j] B[l, j] is a matrix product of g and b, if b is turned so that j
is its first axis. Of the products that one can form of g, a and b, turned or not, one
alone has the shape (n, k), and one alone (k, p)."""


def cases(rng):
    """Return square matrices, in which much goes through that is wrong, and others."""
    normal = rng.standard_normal
    return [
        Case("square matrices", (normal((3, 3)), normal((3, 3)))),
        Case("a batch", (normal((2, 3, 3)), normal((2, 3, 3)))),
        Case("n, k, p all different", (normal((2, 3)), normal((3, 4)))),
        Case("a batch of these", (normal((5, 2, 3)), normal((5, 3, 4)))),
        Case("one b for a batch", (normal((5, 2, 3)), normal((3, 4)))),
        Case("one a for a batch", (normal((2, 3)), normal((5, 3, 4)))),
        Case("two axes in front", (normal((2, 1, 2, 3)), normal((2, 3, 4)))),
    ]


def turned(x):
    """Return x with its last two axes exchanged."""
    return x.swapaxes(-1, -2)


def over_batch(reduce):
    """Return the answer that reduces over the axes in front itself, and not by a sum."""

    def answer(g, y, a, b):
        ga, gb = g @ turned(b), turned(a) @ g
        return tuple(
            reduce(gx.reshape((-1, *x.shape))) if gx.ndim > x.ndim == 2 else gx
            for gx, x in ((ga, a), (gb, b))
        )

    return answer


MISTAKES = [
    Mistake(
        "not_transposed",
        lambda g, y, a, b: (g @ b, a @ g),
        "the other matrix is not transposed; square matrices hide it, others do not fit",
    ),
    Mistake(
        "order",
        lambda g, y, a, b: (turned(b) @ g, g @ turned(a)),
        "the factors stand in the wrong order: what was on the right stays on the right",
    ),
    Mistake(
        "own_factor",
        lambda g, y, a, b: (g @ turned(a), turned(b) @ g),
        "a gradient has its own input as the factor; it needs the other one",
    ),
    Mistake(
        "swapped",
        lambda g, y, a, b: (turned(a) @ g, g @ turned(b)),
        "this is the gradient of the other input",
    ),
    Mistake(
        "transposed",
        lambda g, y, a, b: (b @ turned(g), turned(g) @ a),
        "this is the right answer, transposed: turn the product round",
    ),
    Mistake(
        "all_axes",
        lambda g, y, a, b: (g @ b.T, a.T @ g),
        "`.T` reverses all axes, the batch too; exchange the last two only",
    ),
    Mistake(
        "elementwise",
        lambda g, y, a, b: (g * b, g * a),
        "number times number: this is the rule of the product a * b; a number of A is in "
        "a whole row of Y",
    ),
    Mistake(
        "elementwise_transposed",
        lambda g, y, a, b: (g * turned(b), turned(a) * g),
        "number times number; `@` is needed: a number of A is in a whole row of Y",
    ),
    Mistake(
        "no_g",
        lambda g, y, a, b: (turned(b), turned(a)),
        "g is missing: the chain rule multiplies by dL/dY",
    ),
    Mistake(
        "g_transposed",
        lambda g, y, a, b: (turned(g) @ turned(b), turned(a) @ turned(g)),
        "g is transposed; it has the shape of Y and stays as it is",
    ),
    Mistake(
        "g_transposed",
        lambda g, y, a, b: (turned(g) @ b, a @ turned(g)),
        "g is transposed, and the other matrix is not; it should be the other way round",
    ),
    Mistake(
        "y_for_g",
        lambda g, y, a, b: (y @ turned(b), turned(a) @ y),
        "y stands where g = dL/dY belongs",
    ),
    Mistake(
        "mean_over_batch",
        over_batch(lambda gx: gx.mean(axis=0)),
        "one matrix served the whole batch and gets the mean over it; every member "
        "counts in full: sum",
    ),
    Mistake(
        "one_of_batch",
        over_batch(lambda gx: gx[0]),
        "one matrix served the whole batch and gets the gradient of its first member; "
        "all of them count",
    ),
]

BLANK = Blank(
    name="matmul",
    source="minigrad.ops.matmul.matmul.rule",
    teaches="from indices to one line, and what shapes allow",
    minutes=15,
    ask=ASK,
    offers="",
    hints=HINTS,
    cases=cases,
    mistakes=MISTAKES,
)
