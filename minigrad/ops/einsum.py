"""Einsum: products of any number of arrays, summed over any axes, named by letters."""

import string

from .. import backend
from ..checks import as_arrays, explained, subscripts_fit, takes
from ..primitive import primitive
from .shapes import broadcast_to


# y[out] = Σ over the letters that `out` lacks of x₁[term₁] x₂[term₂] …
#
# The sum is linear in each xₖ, and the factor in front of xₖ[termₖ] is the product of
# the others. So, as for matmul, dL/dxₖ[termₖ] sums g[out] times the others over every
# letter that termₖ lacks: an einsum again, with g in the place of xₖ. A letter that
# stands in termₖ alone was summed away by itself: g is the same all along it.
@primitive
def _einsum(*operands, terms, out):
    # optimize lets NumPy use matrix products, far faster than its own loop
    subscripts = ",".join(terms) + "->" + out
    wide = map(backend.widened, operands)
    y = backend.xp.einsum(subscripts, *wide, optimize=len(operands) > 1)
    return y.astype(backend.xp.result_type(*operands), copy=False)


@_einsum.rule
def _(g, y, *operands, terms, out):
    gradients = []
    for k, x in enumerate(operands):
        others, other_terms = list(operands), list(terms)
        del others[k], other_terms[k]
        shared = "".join(c for c in terms[k] if c in out or c in "".join(other_terms))
        gx = _einsum(g, *others, terms=[out, *other_terms], out=shared)
        length = dict(zip(shared, gx.shape, strict=True))
        gx = gx.reshape(tuple(length.get(c, 1) for c in terms[k]))
        # Where x has length 1 and others more, gx has more: `fit` sums it.
        sizes = zip(gx.shape, x.shape, strict=True)
        shape = tuple(n if m == 1 else m for m, n in sizes)
        gradients.append(broadcast_to(gx, shape=shape))
    return tuple(gradients)


@takes()
def einsum(subscripts, *operands):
    """Return the product of the operands, summed over letters that the output lacks.

    `subscripts` is such as "...nd,...md->...nm": a term for each operand, a letter for
    each axis, and ... for any axes in front, which broadcast. Without -> the output has
    the letters that occur once, in alphabetical order, as in numpy.einsum.

    Raises: ValueError for a term that does not fit its operand, for an output letter
    that no term has, and for a letter twice in one term (a diagonal: not supported).

    >>> from minigrad import Tensor, einsum
    >>> keys = Tensor([[3.0, 4.0], [5.0, 6.0]])
    >>> einsum("nd,md->nm", Tensor([[1.0, 2.0]]), keys).numpy()
    array([[11., 17.]])
    """
    if not isinstance(subscripts, str):
        raise TypeError(f'einsum: subscripts such as "ij,jk" first, not {subscripts!r}')
    operands = as_arrays("einsum", operands)
    try:
        subscripts_fit(subscripts, operands)
        terms, out = parse(subscripts, [x.ndim for x in operands])
    except (IndexError, ValueError) as error:
        raise explained(error, f"einsum: {subscripts!r}", operands) from error
    return _einsum(*operands, terms=terms, out=out)


def parse(subscripts, ndims):
    """Return the terms and the output with letters in the place of every ellipsis."""
    text = subscripts.replace(" ", "").replace("...", "…")
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    if not arrow:
        once = (c for c in left if c.isalpha() and left.count(c) == 1)
        out = "…" + "".join(sorted(once))
    for term in terms:
        for c in term:
            if term.count(c) > 1:
                raise ValueError(f"subscript {c!r} twice in one term is not supported")
    spare = [c for c in string.ascii_letters if c not in text]
    front = [n - len(t.replace("…", "")) for t, n in zip(terms, ndims, strict=True)]
    if max(front) and "…" not in out:
        raise ValueError("the output lacks the ... of a term")

    def filled(term, extra):  # ellipses broadcast: they align on the right
        return term.replace("…", "".join(spare[len(spare) - extra :]))

    terms = [filled(t, extra) for t, extra in zip(terms, front, strict=True)]
    return terms, filled(out, max(front))
