"""The five steps of attention, each of which may be taken otherwise: scores, who may
attend, weights, the mix of values, and what is returned.
"""

import math

import numpy

from attention import causal_mask, dot, scaled_dot


def allowed(Q, K, mask, causal, seen=causal_mask):
    """Return who may attend to whom, or True for all."""
    seen = seen(Q.shape[-2], K.shape[-2]) if causal else True
    return seen if mask is None else mask & seen


def soft(S, ok, axis=-1):
    """Return the weights: 0 for what is not allowed, and zeros if nothing is."""
    S = numpy.where(ok, S, -math.inf)
    top = S.max(axis=axis, keepdims=True, initial=-math.inf)
    e = numpy.exp(S - numpy.where(numpy.isinf(top), 0.0, top))
    return e / numpy.maximum(e.sum(axis=axis, keepdims=True), 1e-30)


def but(
    scores=lambda Q, K, score: score(Q, K),
    allow=allowed,
    weigh=soft,
    mix=lambda A, K, V: A @ V,
    give=lambda Y, A: (Y, A),
    **ignored,
):
    """Return attention but for the steps that are given."""

    def answer(Q, K, V, **options):
        o = {"score": scaled_dot, "mask": None, "causal": False} | options | ignored
        S = scores(Q, K, o["score"])
        A = weigh(S, allow(Q, K, o["mask"], o["causal"]))
        Y = mix(A, K, V)
        return give(Y, A) if o.get("return_weights") else Y

    return answer


def fixed(factor):
    """Return attention whose score is q · k times a number, always."""
    return but(lambda Q, K, score: dot(Q, K) * factor(Q.shape[-1], max(K.shape[-2], 1)))


def seen(mask):
    """Return attention with another causal mask, a function of n and m."""
    return but(
        allow=lambda Q, K, given, causal: allowed(Q, K, given, causal, mask),
    )


def tri(shift):
    """Return the mask j ≤ i + shift(n, m)."""
    return lambda n, m: numpy.tri(n, m, shift(n, m), dtype=bool)


def future(n, m):
    return ~numpy.tri(n, m, m - n - 1, dtype=bool)


def either(Q, K, mask, causal):
    if mask is None or not causal:
        return allowed(Q, K, mask, causal)
    return mask | causal_mask(Q.shape[-2], K.shape[-2])


def negated(x):
    return x if x is None or x is True else ~x


def by_formula(S, ok):
    """Return the weights by exp and sum alone: 0 / 0 where nothing is allowed."""
    S = numpy.where(ok, S, -math.inf)
    e = numpy.exp(S - S.max(axis=-1, keepdims=True, initial=-math.inf))
    return e / e.sum(axis=-1, keepdims=True)


def overflowing(S, ok):
    """Return the weights by exp of the scores as they are."""
    e = numpy.where(ok, numpy.exp(S), 0.0)
    Z = e.sum(axis=-1, keepdims=True)
    return e / numpy.where(Z == 0, 1.0, Z)
