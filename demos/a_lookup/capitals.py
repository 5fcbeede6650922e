"""A dictionary of capitals: the same 67 questions put to a hard and to a soft lookup.

Question. A dict from 40 capitals to their countries answers "paris". What does it say
to "PARIS", "pariss", "wien" or "the dutch capital", and can a dictionary do better?

Guess. The right entry is not there word for word, so there is nothing to find.

Formula. Give every key and query a vector of length 1, so that q · k is the cosine of
their angle, and mix the values instead of choosing one:

    α = softmax(q · k / T)        answer = Σᵢ αᵢ vᵢ        T = 0.05

Two heads look in two ways and share the vote, α = (α_meaning + α_letters) / 2. Meaning:
vectors of a sentence model, which knows where Mount Fuji is. Letters: counts of runs of
two and three letters, by which "viena" is close to "vienna".

What to look at. Each head is good at what the other is bad at. No question is left out:
what both heads together get wrong is listed.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm

from attention import attention, dot, hard_lookup
from minigrad import backend, softmax

from ..stage import datasets
from ..stage.drawing import weight_map
from ..stage.lesson import capitals

TEMPERATURE = 0.05
HEEDED = 0.08  # a key that has less weight, for all queries shown, is not drawn alone
SHOWN = [
    "paris",
    "the eiffel tower is here",
    "london or paris",
    "viena",
    "the dutch capital",
    "a city in scandinavia",
    "the pyramids of giza are nearby",
    "peking",
    "samurai, sushi and mount fuji",
    "banana bread recipe",
]


def lookup(queries, keys, values):
    """Return the answers (n, d_v) and weights (n, m) of queries (n, d), on the host."""
    Q, K, V = map(backend.xp.asarray, (queries, keys, values))
    Y, A = attention(
        Q, K, V, score=lambda Q, K: dot(Q, K) / TEMPERATURE, return_weights=True
    )
    return backend.to_numpy(Y), backend.to_numpy(A)


def runs(text):
    """Return the runs of two and three letters of a text, its ends marked, counted."""
    text = f"^{text.lower()}$"
    return Counter(text[i : i + n] for n in (2, 3) for i in range(len(text) + 1 - n))


def letter_vectors(keys, queries):
    """Return the counts of runs in each text, at length 1: (m, d), (n, d)."""
    names = sorted(set().union(*map(runs, [*keys, *queries])))
    vectors = []
    for texts in (keys, queries):
        counted = map(runs, texts)
        counts = np.array([[count[name] for name in names] for count in counted])
        vectors.append(counts / np.linalg.norm(counts, axis=1, keepdims=True))
    return vectors


def heads(data):
    """Return the weights (67, 40) by meaning and by letters."""
    keys, queries = letter_vectors(data["key_text"], data["query_text"])
    _, meaning = lookup(data["queries"], data["keys"], data["value_vectors"])
    _, letters = lookup(queries, keys, data["value_vectors"])
    return meaning, letters


def right(data, A):
    """Return which queries (67,) have one right key and give it the most weight."""
    return A.argmax(axis=1) == data["expected"]  # -1 where no key is right


def draw(data, A):
    """Draw the weights of ten queries on the keys that any of them heeds, and beside
    each query the country of most weight, and whether it is right."""
    rows = [data["query_text"].tolist().index(query) for query in SHOWN]
    heeded = A[rows].max(axis=0) > HEEDED
    others = A[rows][:, ~heeded].sum(axis=1, keepdims=True)  # all together
    weights = np.concatenate([A[rows][:, heeded], others], axis=1)
    names = [*data["key_text"][heeded], f"{(~heeded).sum()} others"]
    n, m = weights.shape

    figure, ax = plt.subplots(figsize=(8.4, 4.2))
    image = weight_map(ax, weights)
    image.set_norm(PowerNorm(0.6, 0, 1))  # so that a weight of 0.1 is seen
    ax.set(xticks=range(m), yticks=range(n), xlabel="", ylabel="")
    ax.set_xticklabels(names, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticklabels(SHOWN)
    ax.set_xticks(np.arange(0.5, m - 1), minor=True)  # lines between the cells
    ax.set_yticks(np.arange(0.5, n - 1), minor=True)
    ax.grid(which="minor", color="0.85", alpha=1)
    ax.axvline(m - 1.5, color="0.4", linewidth=1)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set(visible=True, color="0.85")
    for (y, x), weight in np.ndenumerate(weights):
        if weight >= 0.05:
            colour = "white" if weight > 0.4 else "black"
            text = f"{weight:.2f}".lstrip("0")
            ax.text(x, y, text, ha="center", va="center", color=colour, fontsize=8)
    for y, row in enumerate(rows):
        expected, first = data["expected"][row], A[row].argmax()
        country = data["value_text"][first]
        if expected < 0:
            text = f"○ {country}"
        elif first == expected:
            text = f"✓ {country}"
        else:
            text = f"✗ {country}, not {data['value_text'][expected]}"
        ax.text(m - 0.3, y, text, va="center")
    legend = "✓ right\n✗ wrong\n○ no one right answer"
    ax.text(m - 0.3, n - 0.3, legend, va="top", color="0.35", fontsize=9)
    ax.set_title("A soft dictionary always answers; the spread tells how surely")
    return figure


def widget():
    """Return the widget of this lesson, a misspelling asked of both heads alike."""
    data = datasets.capitals()
    keys, queries = letter_vectors(data["key_text"], data["query_text"])
    scores = [dot(data["queries"], data["keys"]), dot(queries, keys)]  # (67, 40) each
    row, T = data["query_text"].tolist().index("viena"), 10**-1.3
    weights = sum(softmax(s[row] / T) for s in scores) / 2  # (40,)
    answer = weights @ data["value_numbers"][:, :2]
    return capitals.widget(data, scores, row, T, 0.5, weights, answer, datasets.land())


def demo(page):
    data = datasets.capitals()
    keys, queries = data["key_text"].tolist(), data["query_text"].tolist()
    countries, kinds = data["value_text"].tolist(), data["query_kind"]
    dict_hits = np.array([hard_lookup(q, keys, countries) is not None for q in queries])
    A = dict(zip(("meaning", "letters"), heads(data), strict=True))
    A["both"] = (A["meaning"] + A["letters"]) / 2
    hits = {"dict": dict_hits} | {name: right(data, A[name]) for name in A}

    labelled = data["expected"] >= 0
    page.say(
        f"{len(keys)} capitals and {len(queries)} queries, {labelled.sum()} of which"
        " have one right answer. A dict answers the queries that equal a key. A soft"
        " lookup answers all, and is right where the expected key has the most weight:"
    )
    rows = []
    for kind in dict.fromkeys(kinds[labelled].tolist()):
        asked = kinds == kind
        rows.append([kind, asked.sum(), *((h & asked).sum() for h in hits.values())])
    rows.append(["all", labelled.sum(), *(h.sum() for h in hits.values())])
    page.table(["kind of query", "queries", *hits], rows)
    page.picture(draw(data, A["meaning"]), "capitals_weights")
    found = {name: h.sum() for name, h in hits.items()}
    page.claim(
        "D3",
        "Softened, a dictionary answers what it does not hold word for word, and a"
        " second head finds what the first is blind to.",
        r"$\alpha=\frac{1}{2}\,(\alpha_{meaning}+\alpha_{letters})$",
        f"dict {found['dict']} of {len(queries)}; meaning {found['meaning']}, letters"
        f" {found['letters']}, both {found['both']} of {labelled.sum()}",
        found["dict"] < found["meaning"] < found["both"],
        attention,
    )

    lost = (hits["meaning"] & ~hits["both"]).sum()
    won = (hits["both"] & ~hits["meaning"]).sum()
    missed = np.flatnonzero(labelled & ~hits["both"])
    page.say(
        f"The second head wins {won} answers and loses {lost} that meaning alone had:"
        f" half the vote is given to letters, which know no landmarks. These"
        f" {len(missed)} are still wrong:"
    )
    rows = []
    for i in missed:
        tops = [keys[a[i].argmax()] for a in A.values()]
        rows.append([queries[i], keys[data["expected"][i]], *tops])
    page.table(["query", "expected", *A], rows)
