"""What the widgets of the page compute, as the engine does it: `ENGINE`."""

import functools

import numpy as np

from attention import dot, soft_lookup
from demos.a_lookup import capitals
from demos.c_sequences import paths
from demos.stage import copying, datasets
from demos.stage.jacobian import jacobian
from minigrad import Tensor, graph, no_grad, softmax

NAMES = "lookup", "capitals", "sharpen", "paths", "induction"


def lookup(query, temperature):
    from demos.a_lookup.lookup import KEYS, VALUES

    q, T = np.array(query), temperature
    return {
        "weights": softmax(KEYS @ q / T),
        "answer": soft_lookup(q, KEYS, VALUES, T),
        "jacobian": jacobian(
            lambda q: soft_lookup(q, Tensor(KEYS), Tensor(VALUES), T), q
        ),
    }


DATA = datasets.capitals()
HEADS = [
    dot(DATA["queries"], DATA["keys"]),
    dot(*capitals.letter_vectors(DATA["key_text"], DATA["query_text"])[::-1]),
]


def two_heads(query, temperature, mix):
    meaning, letters = (softmax(S[query] / temperature) for S in HEADS)
    weights = (1 - mix) * meaning + mix * letters
    return {"weights": weights, "answer": weights @ DATA["value_numbers"][:, :2]}


def sharpen(scores, scale, g):
    s = Tensor(scores)
    weights = softmax(s * scale)
    weights.backward(np.array(g))
    return {"weights": weights.numpy(), "gradient": s.grad}


@functools.cache
def joined(layer, n):
    inputs, output = paths.connected(layer, n)
    output.backward(paths.COTANGENT)
    return inputs, output


def gradient_paths(layer, n, input):
    inputs, output = joined(layer, n)
    return {
        "lengths": np.array(graph.path_lengths(output, inputs[input])),
        "gradient": inputs[input].grad.ravel(),
    }


MODEL = copying.shipped(float)[0]


@no_grad()
def induction(sequence, step):
    ids = np.array([[copying.LETTERS.index(c) for c in sequence[: step + 1]]])
    logits, weights = MODEL(ids)
    rows = np.array([A[0, -1] for A in weights])
    return {"weights": rows, "next": softmax(logits)[0, -1]}


ENGINE = dict(
    zip(NAMES, (lookup, two_heads, sharpen, gradient_paths, induction), strict=True)
)
