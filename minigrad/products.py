"""Matrix products: matmul, which readers should see derived, and einsum, which follows
from it.

Letters: A is (n, k), B is (k, p), Y and G = dL/dY are (n, p).
"""

import math
import string

from . import backend as B
from .primitive import primitive
from .shapes import broadcast_to
from .tensor import Tensor, plain


# Y = A B
#
# Step 1, one number.      Yᵢⱼ = Σₗ Aᵢₗ Bₗⱼ
#
# Step 2, its derivative.  Aᵢₗ is in row i of Y only, in each column j, with factor Bₗⱼ:
#                          ∂Yᵢⱼ/∂Aᵢₗ = Bₗⱼ
#
# Step 3, the chain rule.  L depends on Aᵢₗ through that whole row, so sum over j:
#                          dL/dAᵢₗ = Σⱼ Gᵢⱼ Bₗⱼ = Σⱼ Gᵢⱼ (Bᵀ)ⱼₗ
#
# Step 4, read it as a product, (n, p) @ (p, k):         dL/dA = G Bᵀ
#
# Likewise Bₗⱼ appears in column j only, in every row i, with the factor Aᵢₗ:
#                          dL/dBₗⱼ = Σᵢ Aᵢₗ Gᵢⱼ         dL/dB = Aᵀ G, (k, n) @ (n, p)
#
# The shapes allow nothing else: G is (n, p), and only G Bᵀ is (n, k), only Aᵀ G is (k,
# p).
@primitive
def matmul(a, b, /):
    """Return the matrix product a @ b, (…, n, k) @ (…, k, p) -> (…, n, p), batched over
    the leading axes.

    As in NumPy the leading axes broadcast; a vector on the left is one row, and on the
    right one column, and that row or column is missing from the result.

    Raises: ValueError when the inner sizes differ.
    """
    if not (getattr(a, "ndim", 0) and getattr(b, "ndim", 0)):
        raise ValueError("both sides need an axis to sum over; use * for numbers")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise ValueError(
            f"matmul: {a.shape} @ {b.shape}: inner sizes {a.shape[-1]} and {inner} differ"
        )
    return a @ b


@matmul.rule
def _(g, y, a, b):
    A = a[None, :] if a.ndim == 1 else a  # (…, n, k)
    B = b[:, None] if b.ndim == 1 else b  # (…, k, p)
    G = g[..., None] if b.ndim == 1 else g
    G = G[..., None, :] if a.ndim == 1 else G  # (…, n, p)
    k, p = B.shape[-2:]
    dA = G @ B.swapaxes(-1, -2)  # (…, n, k)
    if B.ndim == 2 and A.ndim > 2:
        # one B for the whole batch: Σ over the batch of Aᵀ G is one product over all
        # its rows, b n of them
        rows = math.prod(A.shape[:-1])
        dB = A.reshape((rows, k)).T @ G.reshape((rows, p))  # (k, p)
    else:
        dB = A.swapaxes(-1, -2) @ G  # (…, k, p)
    return dA[..., 0, :] if a.ndim == 1 else dA, dB[..., 0] if b.ndim == 1 else dB


# y[out] = Σ over the letters that `out` lacks of x₁[term₁] x₂[term₂] …
#
# The sum is linear in each xₖ, and the factor in front of xₖ[termₖ] is the product of
# all the others. So, as in steps 2 and 3 above, dL/dxₖ[termₖ] sums g[out] times the
# others over every letter that termₖ lacks: an einsum again, with g in the place of xₖ.
# A letter that only termₖ has was summed away by itself: its numbers all got the same
# g.
@primitive
def _einsum(*operands, terms, out):
    return B.xp.einsum(
        ",".join(terms) + "->" + out, *operands, optimize=len(operands) > 1
    )


@_einsum.rule
def _(g, y, *operands, terms, out):
    gradients = []
    for k, (x, term) in enumerate(zip(operands, terms, strict=True)):
        others = [i for i in range(len(terms)) if i != k]
        known = set(out).union(*(terms[i] for i in others))
        kept = "".join(letter for letter in term if letter in known)
        gx = _einsum(
            g,
            *(operands[i] for i in others),
            terms=[out, *(terms[i] for i in others)],
            out=kept,
        )
        size = dict(zip(kept, gx.shape, strict=True))
        gx = gx.reshape(tuple(size.get(letter, 1) for letter in term))
        gradients.append(
            broadcast_to(
                gx,
                shape=tuple(
                    n if m == 1 else m for m, n in zip(gx.shape, x.shape, strict=True)
                ),
            )
        )
    return tuple(gradients)


def einsum(subscripts, *operands):
    """Multiply the operands and sum over the letters that the output lacks, as
    numpy.einsum does.

    `subscripts` is such as "…nd,…md->…nm" with ... for the ellipsis: a letter an axis,
    one term an operand. Without -> the output has, in alphabetical order, the letters
    that occur once.

    Raises: ValueError for a term that does not fit its operand, an output letter that
    no term has, and a letter repeated within one term (a diagonal), which is not
    supported.

    >>> from minigrad import Tensor, einsum
    >>> keys = Tensor([[3.0, 4.0], [5.0, 6.0]])
    >>> einsum("nd,md->nm", Tensor([[1.0, 2.0]]), keys).numpy()
    array([[11., 17.]])
    """
    terms, out = parse(subscripts, [len(B.xp.shape(plain(x))) for x in operands])
    return _einsum(*operands, terms=terms, out=out)


def parse(subscripts, ndims):
    """Return the terms and the output, with every ... written as letters."""
    if not isinstance(subscripts, str):
        raise TypeError(
            f'einsum: the subscripts come first, as a string such as "ij,jk->ik", not {subscripts!r}'
        )

    def refuse(why):
        raise ValueError(f"einsum: {subscripts!r}: {why}")

    text = subscripts.replace(" ", "").replace("...", "…")
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    used = set(text) - set(",->…")
    if not used <= set(string.ascii_letters):
        refuse(
            f"{''.join(sorted(used - set(string.ascii_letters)))!r} is not a letter, a comma, -> or ..."
        )
    if len(terms) != len(ndims):
        refuse(f"{len(terms)} terms for {len(ndims)} operands")
    spare = [
        letter
        for letter in string.ascii_uppercase + string.ascii_lowercase
        if letter not in used
    ]
    dots = ""
    for i, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        letters = term.replace("…", "")
        missing = ndim - len(letters)
        if missing < 0 or (missing and "…" not in term):
            refuse(
                f"term {term.replace('…', '...')!r} does not fit an operand of {ndim} axes"
            )
        if len(set(letters)) < len(letters) or term.count("…") > 1:
            refuse(
                f"term {term.replace('…', '...')!r} repeats a subscript, which is not supported"
            )
        own = (
            "".join(spare[-missing:]) if missing else ""
        )  # the last ones: ellipses align on the right
        dots = max(dots, own, key=len)
        terms[i] = term.replace("…", own)
    if not arrow:
        letters = left.replace("…", "").replace(",", "")
        out = "…" + "".join(
            sorted(letter for letter in letters if letters.count(letter) == 1)
        )
    if unknown := set(out) - set("…").union(*terms):
        refuse(f"output subscript {''.join(sorted(unknown))!r} is in no term")
    if len(set(out)) < len(out):
        refuse("the output repeats a subscript")
    return terms, out.replace("…", dots)


Tensor.__matmul__, Tensor.__rmatmul__ = matmul, lambda b, a: matmul(a, b)
