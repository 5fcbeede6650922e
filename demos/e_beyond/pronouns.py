"""Pronouns: a lookup that a real model learned, and what W_q and W_k are for.

Question. A text says "she". Which of its nouns does that ask for?

Guess. The one whose vector is most alike. But "it" is alike to other small words, not
to the bridge.

Formula. Before they are compared, the word that asks and the words that may answer go
through two matrices; without the biases that is a bilinear score with W = W_q W_kᵀ:

    q = x W_q + b_q          k = x W_k + b_k          s = q · k / √32

These are those of one head of a sentence model, all-MiniLM-L6-v2: its layer 1, head 3,
both counted from 0. The words are 98 nouns, listed before anything was computed, and
four pronouns. For each noun: which pronoun asks for it most?

What to look at. Above, by the cosine of the word vectors, she and he are found, and most
things and crowds are taken for persons. Below, by the head, most are right: W_q and W_k
turned "alike" into "asks for". In orange: wrong.

This is the best of the 72 heads of the model at this (the next are right for 79, 61, 57),
so part of it is our choice. It tells kinds apart; it does not find out who is meant. Nor
are these its usual inputs: in the model layer 0 comes first, here it reads bare words.
Clark et al., "What Does BERT Look At?" (2019), found heads that point from a mention to
what it refers to; that is measured in running text, and was not compared.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import bilinear, cosine, dot, scaled_dot
from minigrad import Tensor, softmax

from ..stage import datasets
from ..stage.drawing import weight_map

SHARPNESS = {"cosine": 10.0, "the head": 1.0}  # of the weights in the picture


def words():
    """Return the arrays of pronouns.npz by name, vectors as float64."""
    with np.load(datasets.FOLDER / "pronouns.npz") as file:
        arrays = {name: file[name] for name in file.files}
    text = {"pronouns", "nouns", "kind"}
    return {k: x if k in text else x.astype(float) for k, x in arrays.items()}


def scores(data):
    """Return what each way of asking scores each pronoun and noun: {name: (4, 98)}."""
    x, y = Tensor(data["pronoun_vectors"]), Tensor(data["noun_vectors"])
    W_q, W_k, b_q, b_k = (Tensor(data[k]) for k in ("W_q", "W_k", "b_q", "b_k"))
    found = {
        "dot": dot(x, y),
        "cosine": cosine(x, y),
        "the head": scaled_dot(x @ W_q + b_q, y @ W_k + b_k),
        "bilinear": bilinear(W_q @ W_k.T)(x, y),
    }
    return {name: s.numpy() for name, s in found.items()}


def right(data, s):
    """Return for which nouns (98,) the pronoun of its kind scores highest, s (4, 98)."""
    return data["pronouns"][s.argmax(axis=0)] == data["kind"]


def draw(data, found):
    """Draw for each noun the weights of the pronouns, by cosine and by the head."""
    figure, axes = plt.subplots(2, 1, figsize=(13, 4.9))
    kinds, counts = np.unique(data["kind"], return_counts=True)
    ends = np.cumsum(
        [dict(zip(kinds, counts, strict=True))[p] for p in data["pronouns"]]
    )
    for ax, (name, sharpness) in zip(axes, SHARPNESS.items(), strict=True):
        weights = softmax(Tensor(sharpness * found[name]), axis=0).numpy()  # (4, 98)
        image = weight_map(ax, weights)
        hit = right(data, found[name])
        ax.set_xticks(range(len(hit)), data["nouns"], rotation=90, fontsize=7.5)
        ax.set_yticks(range(4), data["pronouns"])
        for label, hits in zip(ax.get_xticklabels(), hit, strict=True):
            label.set(
                color="0.4" if hits else "C1", weight="normal" if hits else "bold"
            )
        for end in ends[:-1]:
            ax.axvline(end - 0.5, color="black", linewidth=1)
        ax.set(xlabel="", ylabel="pronoun, asking")
        ax.set_title(
            f"By {name}, {hit.sum()} of {len(hit)} nouns are asked for rightly"
        )
    figure.colorbar(image, ax=axes, label="weight of the pronoun", pad=0.01)
    return figure


def demo(page):
    data = words()
    found = scores(data)
    hits = {name: right(data, s) for name, s in found.items()}
    page.table(
        ["score", "right of 98", *data["pronouns"]],
        [
            [
                name,
                hit.sum(),
                *(hit[data["kind"] == p].mean() for p in data["pronouns"]),
            ]
            for name, hit in hits.items()
        ],
    )
    page.picture(draw(data, found), "pronouns")
    missed = data["nouns"][~hits["the head"]]
    page.say(f"The head is wrong about {', '.join(missed)}.")
    alike, asked, bare = (hits[k].sum() for k in ("cosine", "the head", "bilinear"))
    page.claim(
        "E9",
        "What a head learned tells which noun a pronoun asks for, where the likeness of"
        " words does not: of 72 heads of a real model, the best at this.",
        r"$s=(x W_q+b_q)\cdot(y W_k+b_k)/\sqrt{d_k}$",
        f"{asked} of {len(data['nouns'])} nouns, {bare} without biases; {alike} by"
        " cosine",
        min(asked, bare) >= 80 and alike <= 65,
        scaled_dot,
    )
