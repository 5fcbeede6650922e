"""Softmax and its relatives: logsumexp softmax log_softmax cross_entropy.

All of them subtract the maximum m of the scores first. It changes no result, for
eˣ⁻ᵐ / Σ eˣ⁻ᵐ = eˣ / Σ eˣ, and no exponential overflows, for the largest is e⁰ = 1.

Scores may be -inf, which means "left out". Where all are left out nothing is left to
choose from: softmax is then all zeros and logsumexp is log 0 = -inf, without NaN or
warning, where the plain formula would give 0 / 0.
"""

import math

from . import backend as B
from .elementwise import exp, where
from .primitive import constants, primitive
from .reductions import expand, sum
from .tensor import Tensor
from .threads import by_rows


def largest(x, axis):
    """Return the maximum m, or 0 where that is infinite."""
    # the maximum of no numbers is an error, their sum is 0
    m = x.max(axis=axis, keepdims=True) if x.size else x.sum(axis=axis, keepdims=True)
    return B.xp.where(B.xp.abs(m) == math.inf, 0.0, m)


# y = softmax x      yᵢ = e^xᵢ / Z          Z = Σₖ e^xₖ
#
# Step 1, how yᵢ changes with xⱼ, by the quotient rule, with ∂Z/∂xⱼ = e^xⱼ:
#
#     j = i:    ∂yᵢ/∂xᵢ = (e^xᵢ Z - e^xᵢ e^xᵢ) / Z² = yᵢ - yᵢ yᵢ
#     j ≠ i:    ∂yᵢ/∂xⱼ = (  0    - e^xᵢ e^xⱼ) / Z² =    - yᵢ yⱼ
#
#     Both at once, with 1[i=j] = 1 if i = j, else 0:     ∂yᵢ/∂xⱼ = yᵢ (1[i=j] - yⱼ)
#
#     The second line is easily forgotten: Z ties every output to every score.
#
# Step 2, the chain rule. L depends on xⱼ through all the yᵢ, so sum over i:
#
#     dL/dxⱼ = Σᵢ gᵢ yᵢ (1[i=j] - yⱼ) = gⱼ yⱼ - yⱼ Σᵢ gᵢ yᵢ = yⱼ (gⱼ - Σᵢ gᵢ yᵢ)
#
# Step 3, what it says. Σᵢ gᵢ yᵢ is the mean of g under the weights y. Descent raises
# the scores whose g is below that mean and lowers the others; this one number per row
# is all that they exchange. If g is the same for all, the gradient is 0, for the
# weights go on summing to 1: a check with g = 1 would pass a rule 17 times too large.
@primitive
def softmax(x, /, axis=-1, mask=None):
    """Return weights for the scores x: none negative, and of sum 1 along the axis.

    A score of -inf has weight 0, and so has one where `mask`, boolean and broadcasting
    with x, is False. Where that leaves none, all weights are 0. `axis` is one of the
    axes of both together.

    >>> from minigrad import softmax
    >>> softmax([5.0, 0.0, 0.0, 0.0]).round(4)
    array([0.9802, 0.0066, 0.0066, 0.0066])
    """
    if mask is None:
        y = B.xp.empty_like(x, dtype=B.xp.result_type(x, 1.0))
    else:
        x = y = where(mask, x, -math.inf)  # a new array, which is ours to change
    if axis in (-1, y.ndim - 1):
        by_rows(exponentials_over_sum, x, y)
    else:
        exponentials_over_sum(x, y, axis)
    return y


@softmax.rule
def _(g, y, x, axis=-1, mask=None):
    # for Tensors, and where the numbers are not in rows (…, n), the formula itself
    if type(y) is Tensor or axis not in (-1, y.ndim - 1) or y.ndim == 0:
        return y * (g - sum(g * y, axis=axis, keepdims=True))
    dx = B.xp.empty_like(y)
    by_rows(weights_times_distance, g, y, dx)
    return dx


def exponentials_over_sum(x, y, axis=-1):
    """Write the softmax of x along the axis into y, which may be x itself."""
    B.xp.subtract(x, largest(x, axis), out=y)
    B.xp.exp(y, out=y)
    Z = y.sum(axis=axis, keepdims=True)
    y /= B.xp.maximum(Z, 1.0)  # Z is at least e⁰, or 0 if nothing is left


def weights_times_distance(g, y, dx):
    """Write y (g - Σ g y) of the rows (…, n) into dx; einsum stores no products."""
    mean = B.xp.einsum("...i,...i->...", g, y)[..., None]  # (…, 1)
    B.xp.subtract(g, mean, out=dx)
    dx *= y


# y = log Σᵢ e^xᵢ    dL/dxⱼ = g e^xⱼ / Σᵢ e^xᵢ = g e^(xⱼ - y): softmax of x, times g
@primitive
def logsumexp(x, /, axis=None, keepdims=False):
    """Return log Σ eˣ over the axes, a smooth maximum: max x ≤ y ≤ max x + log n."""
    m = largest(x, axis)
    Z = B.xp.exp(x - m).sum(axis=axis, keepdims=True)
    empty = Z == 0
    y = m + B.xp.where(empty, -math.inf, B.xp.log(B.xp.where(empty, 1.0, Z)))
    return y if keepdims else y.squeeze(axis=axis)


@logsumexp.rule
def _(g, y, x, axis=None, keepdims=False):
    y = expand(y, x, axis)
    return expand(g, x, axis) * exp(x - where(y == -math.inf, 0.0, y))


# y = log softmax x      yᵢ = xᵢ - log Z
#
# ∂yᵢ/∂xⱼ = 1[i=j] - e^xⱼ / Z = 1[i=j] - e^yⱼ           dL/dxⱼ = gⱼ - e^yⱼ Σᵢ gᵢ
@primitive
def log_softmax(x, /, axis=-1):
    """Return the logarithm of softmax, finite where softmax itself underflows to 0."""
    y = x - largest(x, axis)
    Z = B.xp.exp(y).sum(axis=axis, keepdims=True)
    return y - B.xp.log(B.xp.maximum(Z, 1.0))


@log_softmax.rule
def _(g, y, x, axis=-1):
    return g - exp(y) * sum(g, axis=axis, keepdims=True)


def cross_entropy(logits, targets, ignore_index=None, reduction="mean"):
    """Return -log softmax(logits)[target], the surprise at the right answer, in nats.

    logits (…, C), integer targets (…) -> the mean or the sum over the targets, or one
    loss for each ("none"). Targets equal to `ignore_index` are left out: they cost
    nothing and their logits get no gradient, and a mean over no target is 0. The rules
    of log_softmax, indexing and mean make dL/dlogits = (softmax - onehot) / n.

    Raises: IndexError for a target outside [0, C), TypeError for one that is not an
    integer, ValueError when the shapes do not fit. On a GPU only targets that come from
    the host are checked; others would have to wait.

    >>> from minigrad import Tensor, cross_entropy
    >>> logits = Tensor([[-500.0, 200.0, 460.0]])
    >>> loss = cross_entropy(logits, [0])
    >>> loss.backward()
    >>> loss.item(), logits.grad.round(9)
    (960.0, array([[-1.,  0.,  1.]]))
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(
            f'cross_entropy: reduction {reduction!r} is not "mean", "sum" or "none"'
        )
    (logits,) = constants("cross_entropy", [logits])
    targets = B.integers("cross_entropy", targets)
    if not logits.ndim or logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"cross_entropy: logits {logits.shape} and targets {targets.shape} "
            "must be (…, C) and (…)"
        )
    count, kept = max(targets.size, 1), None
    if ignore_index is not None:
        kept = targets != ignore_index
        targets, kept = targets * kept, B.xp.asarray(kept)  # 0 is in every range
        count = B.xp.maximum(kept.sum(), 1).astype(logits.dtype)
        # where, not times 0: not even a NaN in a row that is left out gets through
        logits = where(kept[..., None], logits, 0.0)
    classes = logits.shape[-1]
    targets = B.within("cross_entropy", targets, classes)
    at = B.xp.arange(targets.size), targets.reshape(-1)  # (row, target) for every row
    logs = log_softmax(logits).reshape((targets.size, classes))  # (…, C) -> (rows, C)
    losses = -logs[at].reshape(targets.shape)  # (rows,) -> (…)
    if kept is not None:
        losses = where(kept, losses, 0.0)
    if reduction == "none":
        return losses
    # divided first: float16 may hold the mean of many losses, and not their sum
    return sum(losses if reduction == "sum" else losses / count)
