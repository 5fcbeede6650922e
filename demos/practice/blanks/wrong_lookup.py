"""How a soft lookup goes wrong: what is compared, how it weighs, and what is mixed."""

import numpy

from attention import dot

from ..blank import Mistake


def lookup(weigh):
    """Return the answer with other weights: weigh(scores (m,), T)."""

    def answer(query, keys, values, temperature=1.0, score=dot):
        return weigh(scores(query, keys, score), temperature) @ values

    return answer


def scores(query, keys, score=dot):
    return score(query[None], keys)[0]


def soft(s):
    """Return the softmax of s, and of no scores none."""
    e = numpy.exp(s - s.max(initial=-numpy.inf))
    return e / e.sum()


def unstable(s):
    """Return the softmax of s by its formula, which overflows."""
    return numpy.exp(s) / numpy.exp(s).sum()


def hard(s, temperature):
    """Return weight 1 for the best key."""
    return (numpy.arange(len(s)) == s.argmax()).astype(s.dtype) if len(s) else s


def any_score(query, keys, values, temperature=1.0, score=dot):
    return soft(scores(query, keys) / temperature) @ values


def keys_for_values(query, keys, values, temperature=1.0, score=dot):
    return soft(scores(query, keys, score) / temperature) @ keys


def of_values(query, keys, values, temperature=1.0, score=dot):
    return soft(scores(query, values, score) / temperature) @ values


def of_values_alone(query, keys, values, temperature=1.0, score=dot):
    return soft(scores(query, values, score) / temperature) @ keys


def share(query, keys, values, temperature=1.0, score=dot):
    a = lookup(lambda s, T: soft(s / T))(query, keys, values, temperature, score)
    return a / len(keys)


def root_scaled(query, keys, values, temperature=1.0, score=dot):
    s = scores(query, keys, score) / len(query) ** 0.5
    return soft(s / temperature) @ values


MISTAKES = [
    Mistake(
        "no_temperature",
        lookup(lambda s, T: soft(s)),
        "the temperature has no part in it; it divides the scores",
    ),
    Mistake(
        "times_temperature",
        lookup(lambda s, T: soft(s * T)),
        "the scores are multiplied by the temperature; they are divided by it: cold is "
        "sharp",
    ),
    Mistake(
        "temperature_late",
        lookup(lambda s, T: soft(s) / T),
        "the weights are divided by the temperature and no more sum to 1; it divides the "
        "scores, before the softmax",
    ),
    Mistake(
        "any_score",
        any_score,
        "the score is the dot product always; `score` says which one it is",
    ),
    Mistake(
        "score_and_temperature",
        lambda query, keys, values, temperature=1.0, score=dot: (
            soft(scores(query, keys)) @ values
        ),
        "neither `score` nor `temperature` is looked at",
    ),
    Mistake(
        "no_softmax",
        lookup(lambda s, T: s / T),
        "the scores themselves weigh the values; weights are positive and sum to 1: "
        "softmax",
    ),
    Mistake(
        "not_normalised",
        lookup(lambda s, T: numpy.exp(s / T)),
        "the weights do not sum to 1: exp of the scores is to be divided by its sum",
    ),
    Mistake(
        "not_normalised",
        lookup(lambda s, T: numpy.exp((s - s.max(initial=-numpy.inf)) / T)),
        "the weights do not sum to 1: the largest score is off, but exp of the others is "
        "to be divided by its sum",
    ),
    Mistake(
        "wrong_axis",
        lookup(lambda s, T: numpy.ones_like(s)),
        "every weight is 1: a softmax over the one query; it goes over the keys",
    ),
    Mistake(
        "no_exp",
        lookup(lambda s, T: s / s.sum()),
        "the scores are divided by their sum, without exp: weights may be negative so",
    ),
    Mistake(
        "overflow",
        lookup(lambda s, T: unstable(s / T)),
        "right, until exp overflows: take the largest score off first, which changes no "
        "weight",
    ),
    Mistake(
        "hard",
        lookup(hard),
        "this is the hard lookup: the best key takes all. Every value counts, by its "
        "weight",
    ),
    Mistake(
        "inverted",
        lookup(lambda s, T: soft(-s / T)),
        "the keys that are least alike get the most weight: the scores have the wrong "
        "sign",
    ),
    Mistake(
        "sigmoid",
        lookup(lambda s, T: 1 / (1 + numpy.exp(-s / T))),
        "each weight is a sigmoid of its own score; weights sum to 1, so each depends on "
        "all scores",
    ),
    Mistake(
        "keys_for_values",
        keys_for_values,
        "the answer is a mean of the keys; keys are compared, values are returned",
    ),
    Mistake(
        "of_values",
        of_values,
        "the query is compared with the values; it is compared with the keys",
    ),
    Mistake(
        "roles",
        of_values_alone,
        "keys and values are exchanged: keys are compared, values are returned",
    ),
    Mistake(
        "mean_twice",
        share,
        "the answer is divided by m; the weights sum to 1 already",
    ),
    Mistake(
        "root_scaled",
        root_scaled,
        "the scores are divided by √d; here that is the business of the score",
    ),
    Mistake(
        "uniform",
        lookup(lambda s, T: numpy.full_like(s, 1 / max(len(s), 1))),
        "all values count alike: the scores have no part in the weights",
    ),
    Mistake(
        "softmax_twice",
        lookup(lambda s, T: soft(soft(s / T))),
        "softmax is taken of weights, a second time",
    ),
]
