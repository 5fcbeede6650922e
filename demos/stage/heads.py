"""What the heads of a language model look at, by name: a picture of four that mean
something says more than one of all.

Letters: B texts, h heads, T positions."""

import matplotlib.pyplot as plt
import numpy as np

from minigrad import no_grad
from minigrad.backend import to_numpy

from .drawing import weight_map
from .letters import FONT, label

SHOWN = 32  # letters of the text in the picture


@no_grad()
def weights_of_heads(model, ids):
    """Return the weights of every head on texts (B, T), (layers, B, h, T, T)."""
    x = model.tokens(ids)  # (B, T, d)
    if model.positions is not None:
        x = x + model.positions(np.arange(ids.shape[1]))
    weights = []
    for block in model.blocks:
        _, A = block.attention(block.norm_1(x), return_weights=True)  # (B, h, T, T)
        weights.append(to_numpy(A))
        x = block(x)
    return np.stack(weights)


def last(where):
    """Return for each position of texts (B, T) the last one up to it where something
    is, or -1."""
    seen = np.where(where, np.arange(where.shape[1]), -1)
    return np.maximum.accumulate(seen, axis=1)


def places(ids, letters):
    """Return {what a head may look at: where that is, for each position of texts (B, T)}.

    It is -1 where there is none, and where it could be taken for the letter before."""
    here = np.arange(ids.shape[1])
    space, line = (
        last(np.isin(ids, [i for i, x in enumerate(letters) if x in kind]))
        for kind in (" \n", "\n")
    )
    same = np.full_like(ids, -1)
    for t in range(1, ids.shape[1]):
        same[:, t] = last(ids[:, :t] == ids[:, t : t + 1])[:, -1]
    found = {
        "the beginning of the word": np.where(space < 0, -1, space + 1),
        "the last line break": line,
        "the same letter": same,
        "what followed the same letter": np.where(same < 0, -1, same + 1),
    }
    clear = {name: np.where(j < here - 1, j, -1) for name, j in found.items()}
    return {"the letter before": np.broadcast_to(here - 1, ids.shape), **clear}


def scores(weights, ids, letters):
    """Return {what a head may look at: the mean weight of each on it, (layers, h)},
    without what no text has."""
    found = {}
    for name, place in places(ids, letters).items():
        b, t = np.nonzero(place >= 0)
        if len(b):  # an index on each side of the heads' axis comes first
            found[name] = weights[:, b, :, t, place[b, t]].mean(axis=0)
    return found


def clearest(found, most=4):
    """Return up to four (score, name, (layer, head)), each name and head once."""
    chosen = []
    ranked = [(s, name, i) for name, by in found.items() for i, s in np.ndenumerate(by)]
    for score, name, head in sorted(ranked, reverse=True):
        if all(name != n and head != h for _, n, h in chosen):
            chosen.append((score, name, head))
    return chosen[:most]


def draw_heads(model, texts, letters):
    """Return a figure of the clearest heads on the first of some texts (B, T), each in
    colours up to its own largest weight."""
    weights = weights_of_heads(model, texts)  # (layers, B, h, T, T)
    n = min(SHOWN, texts.shape[1])
    names = [label(letters[i]) for i in texts[0, :n]]
    small = {"fontsize": 7, "fontfamily": FONT, "parse_math": False}
    figure, axes = plt.subplots(2, 2, figsize=(10, 9.4))
    found = clearest(scores(weights, texts, letters))
    for ax, (score, name, (layer, head)) in zip(axes.flat, found, strict=False):
        A = weights[layer, 0, head, :n, :n]
        image = weight_map(ax, A, np.tri(n, dtype=bool))
        image.set_clim(0, A[1:].max())  # the first letter has only itself to look at
        figure.colorbar(image, ax=ax, shrink=0.7, label="weight")
        ax.set(xlabel="key", ylabel="query", aspect="equal")
        ax.set_xticks(range(n), names, **small)
        ax.set_yticks(range(n), names, **small)
        ax.tick_params(length=0, pad=2)
        title = f"{100 * score:.0f} % on {name} (layer {layer + 1}, head {head + 1})"
        ax.set_title(title, fontsize=10)
    for ax in axes.flat[len(found) :]:
        ax.remove()
    return figure
