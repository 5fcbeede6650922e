"""Softmax and its relatives: logsumexp softmax log_softmax cross_entropy.

All of them subtract the maximum m of the scores first. It changes no result, for
eˣ⁻ᵐ / Σ eˣ⁻ᵐ = eˣ / Σ eˣ, and so no gradient either, whatever m is; and no exponential
overflows, for the largest is e⁰ = 1. The smallest may underflow: at a gap of 104 below
the maximum a float32 weight is exactly 0, at 745.2 a float64 weight (`demos underflow`).

Scores may be -inf, which means "left out". Where all are left out nothing is left to
choose from: softmax is then all zeros and logsumexp is log 0 = -inf, without NaN or
warning, where the plain formula would give 0 / 0.
"""

import math

from .. import backend, checks
from ..checks import integer, one_of, optional, takes
from ..primitive import primitive
from .elementwise import exp, where
from .reductions import expand, sum


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
    with x, is False. Where that leaves none, all weights are 0. (A large negative number
    in the place of -inf, such as -1e9, would leave such a row the mean of all.) `axis`
    is one of the axes of both together.

    >>> from minigrad import softmax
    >>> softmax([5.0, 0.0, 0.0, 0.0]).round(4)
    array([0.9802, 0.0066, 0.0066, 0.0066])
    """
    checks.some_axis(axis)
    x = x if mask is None else where(mask, x, -math.inf)
    _, e, Z = exponentials(x, axis)
    Z = backend.xp.maximum(Z, 1.0)  # it is at least e⁰, or 0 if nothing is left
    return (e / Z).astype(e.dtype, copy=False)


@softmax.rule
def _(g, y, x, axis=-1, mask=None):
    return y * (g - sum(g * y, axis=axis, keepdims=True))


def exponentials(x, axis):
    """Return m, eˣ⁻ᵐ and Z = Σ eˣ⁻ᵐ: m is the maximum, or 0 where that is infinite.

    Z is in float32 at least, and 0 where all scores are -inf.
    """
    # the maximum of no numbers is an error, their sum is 0
    m = x.max(axis=axis, keepdims=True) if x.size else x.sum(axis=axis, keepdims=True)
    m = backend.xp.where(backend.xp.isinf(m), 0.0, m)
    e = backend.xp.exp(x - m)
    return m, e, e.sum(axis=axis, keepdims=True, dtype=backend.wide(e))


# y = log Σᵢ e^xᵢ    dL/dxⱼ = g e^xⱼ / Σᵢ e^xᵢ = g e^(xⱼ - y): softmax of x, times g
@primitive
def logsumexp(x, /, axis=None, keepdims=False):
    """Return log Σ eˣ over the axes, a smooth maximum: max x ≤ y ≤ max x + log n."""
    m, _, Z = exponentials(x, axis)
    empty = Z == 0
    log_Z = backend.xp.log(backend.xp.where(empty, 1.0, Z)).astype(m.dtype)
    y = m + backend.xp.where(empty, -math.inf, log_Z)
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
    checks.some_axis(axis)
    m, e, Z = exponentials(x, axis)
    return x - m - backend.xp.log(backend.xp.maximum(Z, 1.0)).astype(e.dtype)


@log_softmax.rule
def _(g, y, x, axis=-1):
    g, y = backend.widened(g), backend.widened(y)  # Σ g may be 70,000
    return g - exp(y) * sum(g, axis=axis, keepdims=True)


@takes("… C", ignore_index=optional(integer()), reduction=one_of("mean", "sum", "none"))
def cross_entropy(logits, targets, ignore_index=None, reduction="mean"):
    """Return -log softmax(logits)[target], the surprise at the right answer, in nats.

    logits (…, C), integer targets (…) -> the mean or the sum over the targets, or one
    loss for each ("none"). Targets equal to `ignore_index` are left out: they cost
    nothing and their logits get no gradient, and a mean over no target is 0. The rules
    of log_softmax, indexing and sum make dL/dlogits = (softmax - onehot) / n.

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
    targets = checks.targets(logits, targets, ignore_index)
    count, kept = max(targets.size, 1), None
    if ignore_index is not None:
        kept = targets != ignore_index
        count = backend.xp.maximum(kept.sum(), 1)
        # where, not times 0: not even a NaN in a row that is left out gets through
        targets = backend.xp.where(kept, targets, 0)
        logits = where(kept[..., None], logits, 0.0)
    rows = backend.xp.arange(targets.size)
    logs = log_softmax(logits).reshape((targets.size, logits.shape[-1]))  # (rows, C)
    losses = -logs[rows, targets.reshape(-1)].reshape(targets.shape)  # (rows,) -> (…)
    if kept is not None:
        losses = where(kept, losses, 0.0)
    if reduction == "none":
        return losses
    # divided first: float16 holds the mean of many losses, not their sum or number
    share = 1 / count if kept is None else (1 / count).astype(losses.dtype)
    return sum(losses if reduction == "sum" else losses * share)
