"""Roles: why a key is not its own value.

Question. A dict maps capitals to countries. What if a lookup has one vector for both,
key and value?

Guess. It saves a projection and costs little: what identifies a thing also describes
it.

Formula. With V = K the output is a mean of keys, and lies in their hull:

    tied       out = Σᵢ αᵢ kᵢ        the answer comes from where the question came
    separate   out = Σᵢ αᵢ vᵢ        a key says what it matches, a value what it gives

Self-attention makes all three from one input by three learned projections, and a tied
one saves the third:

    Q = X W_q,   K = X W_k,   V = X W_v   or, tied,   V = K

Is it a loss there? A tied layer can keep what it matches and what it gives in different
directions of one vector, if the vector is wide enough. So train both on associative
recall: the input is a list of (letter, number) pairs and a letter, the output is that
letter's number.

What to look at. Given enough width both are right every time. Separate projections do
with a quarter of that width, and with fewer parameters. It is a matter of learning, not
only of room: with ten times the steps three tied models of width 4 get to 0.29, 0.73
and 0.73 (`recall(4, True, steps=2000)`).
"""

import matplotlib.pyplot as plt
import numpy as np
from tqdm import trange

from attention import attention, dot
from minigrad import Tensor, cross_entropy
from minigrad.optim import Adam

from ..stage.datasets import capitals

SYMBOLS, PAIRS = 16, 8  # letters, and as many numbers; pairs in a list
SEEDS = 3  # models that are trained side by side, on an axis of their own
WIDTHS = 2, 4, 8, 16


def from_capitals(T=0.05):
    """Return how many of 40 capitals lead to their country, (tied, separate): the
    output's nearest neighbour among all capitals and countries is the country."""
    data = capitals()
    keys, values = data["keys"], data["value_vectors"]
    words = np.concatenate([keys, values])
    right = []
    for V in (keys, values):
        out = attention(Tensor(keys / T), Tensor(keys), Tensor(V), score=dot).numpy()
        nearest = (out @ words.T / np.linalg.norm(words, axis=1)).argmax(axis=1)
        right.append(int((nearest == len(keys) + np.arange(len(keys))).sum()))
    return right


def lists(rng, n):
    """Return n inputs (n, PAIRS + 1, 2 SYMBOLS), and the right numbers (n,)."""
    eye, rows = np.eye(SYMBOLS), np.arange(n)
    letters = rng.random((n, SYMBOLS)).argsort(axis=1)[:, :PAIRS]  # no letter twice
    numbers = rng.integers(SYMBOLS, size=(n, PAIRS))
    asked = rng.integers(PAIRS, size=n)
    x = np.zeros((n, PAIRS + 1, 2 * SYMBOLS))
    x[:, :PAIRS, :SYMBOLS], x[:, :PAIRS, SYMBOLS:] = eye[letters], eye[numbers]
    x[:, PAIRS, :SYMBOLS] = eye[letters[rows, asked]]
    return x, numbers[rows, asked]


def recall(width, tied, steps=200):
    """Train SEEDS models; return each one's share of right answers, and its number of
    parameters."""
    rng = np.random.default_rng(0)

    def matrix(rows, columns):
        return Tensor(rng.normal(size=(SEEDS, 1, rows, columns)) / rows**0.5)

    W_q, W_k = matrix(2 * SYMBOLS, width), matrix(2 * SYMBOLS, width)
    W_v = W_k if tied else matrix(2 * SYMBOLS, width)
    W_out = matrix(width, SYMBOLS)
    optimizer = Adam([W_q, W_k, W_v, W_out], lr=0.02)  # takes each once

    def logits(x):
        x = Tensor(x)  # (n, PAIRS + 1, 2 SYMBOLS)
        Q = x[:, PAIRS:] @ W_q  # (SEEDS, n, 1, width): the last asks
        y = attention(Q, x @ W_k, x @ W_v)  # (SEEDS, n, 1, width)
        return (y @ W_out)[:, :, 0]  # (SEEDS, n, SYMBOLS)

    name = f"width {width}, {'tied' if tied else 'separate'}"
    for _ in trange(steps, desc=name, leave=False, disable=None):
        x, numbers = lists(rng, 64)
        targets = np.broadcast_to(numbers, (SEEDS, 64))
        optimizer.zero_grad()
        cross_entropy(logits(x), targets).backward()
        optimizer.step()
    x, numbers = lists(np.random.default_rng(1), 1000)
    right = (logits(x).numpy().argmax(axis=-1) == numbers).mean(axis=1)  # (SEEDS,)
    return right, sum(p.size for p in optimizer.params) // SEEDS


def demo(page):
    tied, separate = from_capitals()
    page.claim(
        "D1",
        "With K = V a lookup can only blend its keys: no country comes out of a"
        " dictionary of capitals.",
        r"$out=\sum_i\alpha_i k_i$",
        f"countries found for 40 capitals: {tied} tied, {separate} separate",
        tied == 0 and separate == 40,
        attention,
    )
    tied, separate = ([recall(width, t) for width in WIDTHS] for t in (True, False))
    page.table(
        ["width", "tied: parameters", "right", "separate: parameters", "right"],
        [
            [width, t[1], t[0].mean(), s[1], s[0].mean()]
            for width, t, s in zip(WIDTHS, tied, separate, strict=True)
        ],
    )

    figure, ax = plt.subplots(figsize=(6.4, 3.8))
    for models, name, (marker, style) in (
        (separate, "K, V separate", ("o", "-")),
        (tied, "K = V", ("s", "--")),
    ):
        right = np.array([shares for shares, _ in models])  # (widths, SEEDS)
        ax.plot(WIDTHS, right, marker, color="black", alpha=0.4)
        ax.plot(WIDTHS, right.mean(axis=1), style, color="black", label=name)
    ax.axhline(1 / PAIRS, color="0.5", linestyle=":", linewidth=1)
    ax.text(16, 1 / PAIRS - 0.07, "guessing among the list", color="0.4", ha="right")
    ax.set_xscale("log", base=2)
    ax.set_xticks(WIDTHS, WIDTHS)
    ax.set(xlabel="width of queries, keys and values", ylabel="share of right answers")
    ax.set(title="Values of their own learn at less width", ylim=(0, 1.05))
    ax.legend(loc="center right")
    page.picture(figure, "roles")
    narrow = WIDTHS.index(4)
    page.claim(
        "D1",
        "After the same training on associative recall, separate keys and values are"
        " right with less width, and fewer parameters, than tied ones; with enough"
        " width both are.",
        r"$V=XW_v$ or $V=K$",
        f"right at width 4: {tied[narrow][0].mean():.2f} tied,"
        f" {separate[narrow][0].mean():.2f} separate; tied at width 8"
        f" {tied[narrow + 1][0].mean():.2f}, at 16 {tied[-1][0].mean():.2f}",
        separate[narrow][0].min() > tied[narrow + 1][0].max() - 1e-9
        and tied[narrow + 1][1] > separate[narrow][1]
        and tied[-1][0].min() > 0.99,
        attention,
    )
