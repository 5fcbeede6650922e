"""Induction: a lookup that a model teaches itself, the last time this letter came up.

Question. The text is random letters, some of them twice: a copy of 6 to 12 letters
follows itself. In the second copy the next letter is the one that followed this letter
the first time, and nothing else can be foretold. Will a model find that by itself?

Guess. No layer is told to look for a repetition, and counting back does not help, so at
best it learns how often each letter comes.

Formula. Two layers of attention and nothing else, one head each:

    x ← x + attn₁(norm(x))          x ← x + attn₂(norm(x))          logits = norm(x) W

One layer cannot do it: there a key is made of its own letter alone, and the key to be
found is that of the letter after. Two can. The first puts the letter before into each
position; the second asks which position has my letter before it. With p the length of a
copy that place is p - 1 back, and the score of the head is its mean weight there. Olsson
et al., "In-context Learning and Induction Heads" (2022).

What to look at. Below, the dark stripes: of layer 1 one back, of layer 2 p - 1 back, in
the second copy alone. Above: little for long, then all at once, for neither layer is of
use before the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from attention import MultiHeadAttention
from minigrad import no_grad, softmax
from minigrad.backend import to_numpy

from ..stage.copying import LENGTH, LETTERS, draw, evaluate, shipped, trained, write
from ..stage.drawing import weight_map
from ..stage.lesson import induction


def widget():
    """Return the widget of this lesson, in the second copy of a word."""
    model, _ = shipped(float)
    text = induction.TEXTS["question"]
    step = 18  # the second "e"
    ids = np.array([[LETTERS.index(c) for c in text[: step + 1]]])
    with no_grad():
        logits, weights = model(ids)
        following = to_numpy(softmax(logits))[0, -1]
    rows = [to_numpy(A)[0, -1] for A in weights]
    state = {name: to_numpy(x) for name, x in model.state_dict().items()}
    return induction.widget(LETTERS, state, text, step, rows, following)


def add_options(parser):
    """Add what `demo` takes beside the page to the command line."""
    parser.add_argument(
        "--train", action="store_true", help="anew, and write demos/data/induction.npz"
    )


def demo(page, train=False):
    if train:
        write(*trained())
    model, history = shipped()
    ids, p = draw(np.random.default_rng(1), 512)
    right, (before, found), weights = evaluate(model, ids, p)
    k = int(np.argmax(p[:, 0] == 9))  # a text to look at
    text = "".join(LETTERS[i] for i in ids[k])
    page.say(
        f"A text: {text[:6]} {text[6:15]} {text[15:]}. In 512 new texts the model"
        f" foretells {right:.1%} of the letters of the second copy, all but its first."
    )
    page.table(
        ["layer", "looks at", "mean weight"],
        [[1, "the letter before", before], [2, "what followed last time", found]],
    )

    figure = plt.figure(figsize=(9.4, 8.0))
    top, left, right_ax = figure.subplot_mosaic(
        [["curve", "curve"], ["first", "second"]], height_ratios=[1, 2.2]
    ).values()
    top.plot(history[:, 0] / np.log(len(LETTERS)), color="0.6", label="loss / log 24")
    top.plot(history[:, 1], color="C1", label="layer 1, on the letter before")
    top.plot(history[:, 2], color="C0", label="layer 2, on what followed last time")
    top.set(
        xlabel="step",
        ylabel="share",
        ylim=(-0.03, 1.1),
        title="Little for long, then all at once",
    )
    top.legend(loc="center left")
    allowed = np.tri(LENGTH - 1, dtype=bool)
    titles = ("Layer 1 looks one back", "Layer 2 looks at what followed last time")
    for ax, A, title in zip((left, right_ax), weights, titles, strict=True):
        image = weight_map(ax, A[k], allowed)
        ax.set_xticks(range(LENGTH - 1), text[:-1])
        ax.set_yticks(range(LENGTH - 1), text[:-1])
        ax.set_aspect("equal")
        ax.set_title(title)
        for edge in (5.5, 14.5):  # where the copies begin
            ax.axhline(edge, color="C1", linewidth=1)
            ax.axvline(edge, color="C1", linewidth=1)
    figure.colorbar(image, ax=[left, right_ax], shrink=0.8, label="weight")
    page.picture(figure, "induction")
    page.claim(
        "C5",
        "Two layers of attention learn to look up what followed a letter the last time,"
        " wherever that was.",
        r"$\alpha_{t,\,t-p+1}\approx 1$",
        f"mean weight {found:.2f} there, and {before:.2f} on the letter before in layer 1;"
        f" {right:.1%} of the letters foretold",
        found > 0.9 and before > 0.5 and right > 0.95,
        MultiHeadAttention,
    )
