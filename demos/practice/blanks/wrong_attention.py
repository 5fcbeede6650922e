"""How attention goes wrong: by one step that is not what it should be."""

import math

import numpy

from ..blank import Mistake
from .attention_steps import (
    allowed,
    but,
    by_formula,
    either,
    fixed,
    future,
    negated,
    overflowing,
    seen,
    soft,
    tri,
)

NO_SCALE = "the scores are q · k, not divided by √d_k, and `score` is not called"
EMPTY = "in a row without a key to attend to 0 is divided by 0; such a row gets zeros"
MISTAKES = [
    Mistake(
        "score_ignored",
        fixed(lambda d, m: d**-0.5),
        "the score is q · k / √d_k always; `score` says which one it is",
    ),
    Mistake("no_scale", fixed(lambda d, m: 1), NO_SCALE),
    Mistake(
        "over_d",
        fixed(lambda d, m: 1 / d),
        "the scores are divided by d_k; by its root",
    ),
    Mistake(
        "times_root",
        fixed(lambda d, m: d**0.5),
        "the scores are multiplied by √d_k; they are divided by it",
    ),
    Mistake(
        "root_m",
        fixed(lambda d, m: m**-0.5),
        "the scores are divided by √m; it is the width of the keys that counts, √d_k",
    ),
    Mistake(
        "scaled_twice",
        but(lambda Q, K, score: score(Q, K) / math.sqrt(Q.shape[-1])),
        "the scores are divided by √d_k once more: `scaled_dot` has done so",
    ),
    Mistake(
        "unscaled",
        but(lambda Q, K, score: score(Q, K) * math.sqrt(Q.shape[-1])),
        "the scores are multiplied by √d_k, by which `scaled_dot` has divided on purpose",
    ),
    Mistake(
        "all_axes",
        but(lambda Q, K, score: Q @ K.T / math.sqrt(Q.shape[-1])),
        "`.T` reverses all axes, the batch too; exchange the last two only",
    ),
    Mistake(
        "no_softmax",
        but(weigh=lambda S, ok: numpy.where(ok, S, 0.0)),
        "the scores themselves weigh the values: softmax is missing",
    ),
    Mistake(
        "not_normalised",
        but(weigh=lambda S, ok: numpy.where(ok, numpy.exp(S), 0.0)),
        "the weights of a query do not sum to 1: exp is to be divided by its sum",
    ),
    Mistake(
        "wrong_axis",
        but(weigh=lambda S, ok: soft(S, ok, -2)),
        "the weights of a key sum to 1 over the queries; those of a query are to, over "
        "the keys",
    ),
    Mistake(
        "whole_matrix",
        but(weigh=lambda S, ok: soft(S, ok, (-2, -1))),
        "all weights together sum to 1; those of each query are to",
    ),
    Mistake(
        "mask_inverted",
        but(allow=lambda Q, K, mask, causal: allowed(Q, K, negated(mask), causal)),
        "the mask is the wrong way round: True means that a query may attend",
    ),
    Mistake(
        "hidden_inverted",
        but(allow=lambda *given: negated(allowed(*given))),
        "what may be attended to is hidden, and the rest is seen: both masks are the "
        "wrong way round",
    ),
    Mistake("mask_ignored", but(mask=None), "`mask` is not looked at"),
    Mistake(
        "causal_ignored",
        but(causal=False),
        "`causal` is not looked at: queries see the keys after their position",
    ),
    Mistake(
        "masks_ignored",
        but(mask=None, causal=False),
        "neither `mask` nor `causal` is looked at",
    ),
    Mistake(
        "always_causal",
        but(mask=None, causal=True),
        "keys after a query's position are hidden always, and nothing else is; see "
        "`causal` and `mask`",
    ),
    Mistake(
        "always_causal",
        but(causal=True),
        "keys after a query's position are hidden always; only if `causal`",
    ),
    Mistake(
        "mask_alone",
        but(
            allow=lambda Q, K, mask, causal: allowed(
                Q, K, mask, causal and mask is None
            )
        ),
        "with a mask, `causal` is forgotten; a key must pass both",
    ),
    Mistake(
        "causal_alone",
        but(
            allow=lambda Q, K, mask, causal: allowed(
                Q, K, None if causal else mask, causal
            )
        ),
        "with `causal`, the mask is forgotten; a key must pass both",
    ),
    Mistake(
        "either",
        but(allow=either),
        "a key that passes one mask is seen; it must pass both: and, not or",
    ),
    Mistake(
        "top_left",
        seen(tri(lambda n, m: 0)),
        "the causal mask lets the first query stand at the first key; if n ≠ m it is the "
        "last query that stands at the last key",
    ),
    Mistake(
        "strict",
        seen(tri(lambda n, m: m - n - 1)),
        "the causal mask hides a query's own position too",
    ),
    Mistake("future", seen(future), "the causal mask shows the future, hides the past"),
    Mistake(
        "mask_late",
        but(weigh=lambda S, ok: soft(S, True) * ok),
        "what is hidden is left out after the softmax: the weights that remain do not sum "
        "to 1",
    ),
    Mistake(
        "mask_times",
        but(weigh=lambda S, ok: soft(S * ok, True)),
        "the hidden scores are 0, which is a score like others: e⁰ = 1; they are to be "
        "-inf",
    ),
    Mistake(
        "large_negative",
        but(weigh=lambda S, ok: soft(numpy.where(ok, S, -1e9), True)),
        "a large negative number stands for -inf: a row without a key to attend to is "
        "the mean of all values then, and not zeros",
    ),
    Mistake(
        "large_negative",
        but(weigh=lambda S, ok: soft(S - 1e9 * (1 - 1.0 * ok), True)),
        "a large negative number is added for -inf: a row without a key to attend to "
        "looks at all of them then, and does not give zeros",
    ),
    Mistake("empty_row", but(weigh=by_formula), EMPTY),
    Mistake(
        "overflow",
        but(weigh=overflowing),
        "right, until exp overflows: take the largest score of a row off first",
    ),
    Mistake(
        "keys_for_values",
        but(mix=lambda A, K, V: A @ K),
        "the keys are mixed; keys are compared, values are mixed",
    ),
    Mistake(
        "turned",
        but(mix=lambda A, K, V: A.swapaxes(-1, -2) @ V),
        "the weights are transposed before they meet V",
    ),
    Mistake(
        "weights_first",
        but(give=lambda Y, A: (A, Y)),
        "the weights come first; (Y, A) is asked for",
    ),
]
