"""Spelling: from letters to sounds, which is where attention came from.

Question. "knight" has six letters and three sounds. Which letters make which sound, and
who tells?

Guess. Someone must: the examples are whole words and whole pronunciations, with no mark
of which belongs to which.

Formula. A decoder writes the phonemes one by one. Before each it looks the letters up,
with its state s as the query, by the additive score (the model is in reader.py):

    c = Σ_t α_t h_t          α = softmax(v · tanh(s W_q + h_t W_k))

What to look at. The weights, a row for each phoneme: an alignment of sounds and letters,
learned and never told. It goes forward along the word; what is silent is passed over,
kn, ck and th are read as one. Seven words are read rightly and one is not; the text names
all that are not. With one vector of fixed size in the place of the lookup, far more
phonemes are wrong.

Bahdanau, Cho, Bengio, "Neural Machine Translation by Jointly Learning to Align and
Translate" (2015), call the weights an alignment; but a state knows its neighbours, so the
model is free to look beside a letter. Forms of one word can be in both parts of the data:
test words with a twin to learn from, the same five letters in front, are counted apart.
Longer training makes fewer errors. Other models, systems made for this task, and larger
dictionaries were not compared.
"""

import csv
import re
import sys

import matplotlib.pyplot as plt
import numpy as np

from attention import additive
from minigrad import load, save

from ..stage import datasets
from ..stage.drawing import weight_map
from .reader import STEPS, Reader, read, train

LONGEST = 10  # letters in a word that it learns from
SHOWN = ["knocked", "brought", "others", "achieve", "station", "tooth", "teacher"]
SHOWN += ["learning", "guessed", "unique", "happen", "brown", "war", "naughty", "son"]


def words(*parts):
    """Return {word: phonemes} of parts of the data: "train", "val", "test"."""
    path = datasets.FOLDER / "g2p.tsv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {r["word"]: r["phonemes"].split() for r in rows if r["split"] in parts}


def edits(a, b):
    """Return the least number of changes, gaps and additions that make b of a."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(above + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def marks(found, known):
    """Return the share of phonemes that are wrong in what was read, {word: (phonemes,
    weights)}, and the share of words that are right."""
    wrong = [edits(sounds, known[word]) for word, (sounds, _) in found.items()]
    return sum(wrong) / sum(len(known[w]) for w in found), np.mean(np.equal(wrong, 0))


def forward_steps(found):
    """Return in how many steps the letter of most weight is no earlier than before."""
    places = [A.argmax(axis=1) for sounds, A in found.values() if sounds]
    return (np.concatenate([np.diff(place) for place in places]) >= 0).mean()


def draw(found, known, columns=4):
    """Draw the weights of words, {word: (phonemes, weights)}; of misses what is right."""
    rows = -(-len(found) // columns)
    size = (2.7 * columns + 0.8, 2.6 * rows + 0.2)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for ax, (word, (sounds, A)) in zip(axes.ravel(), found.items(), strict=True):
        image = weight_map(ax, A)
        ax.set_xticks(range(len(word)), word)
        ax.set_yticks(range(len(sounds)), sounds)
        ax.set(xlabel="", ylabel="", title=word)
        if known.get(word, sounds) != sounds:
            ax.set_title(f"a miss, for {' '.join(known[word])}", color="C1")
    figure.supxlabel("letter, the key", fontsize=10)
    figure.supylabel("phoneme, the query", fontsize=10)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    return figure


def refusal(word):
    """Return why a word cannot be read, or None."""
    if not re.fullmatch("[a-z]*", word):
        return f"--word {word!r}: it takes small letters from a to z, and no others"
    if not 1 <= len(word) <= LONGEST:
        return f"--word {word!r} has {len(word)} letters; it takes 1 to {LONGEST}"


def add_options(parser):
    """Add what `demo` takes beside the page to the command line."""

    def readable(word):
        if reason := refusal(word):
            parser.exit(2, f"demos: spelling: {reason}\n")
        return word

    parser.add_argument("--word", type=readable, help="read this word, a to z, alone")


def reader_of(folder):
    """Return the reader that an earlier run left in a folder, or else train one."""
    path, model = folder / "spelling.npz", Reader()
    if path.exists():
        try:
            load(path, model)
        except (TypeError, ValueError) as error:
            sys.exit(f"demos: spelling: {error}; without this file it trains anew")
        return model.eval()
    model = train(words("train"))
    save(path, model)
    return model


def demo(page, word=None):
    known, asked = words("train"), words("test")
    if word is not None:
        found = {word: read(reader_of(page.out), word)}
        page.say(f"{word} is read {' '.join(found[word][0]) or 'as silence'}.")
        if found[word][0]:
            page.picture(draw(found, words("train", "val", "test"), 1), "spelling_word")
        return
    model = train(known)
    save(page.out / "spelling.npz", model)
    models = {"attention": model, "one fixed vector": train(known, looks=False)}
    twins = {w for w in asked if any(w[:5] == other[:5] for other in known)}
    found, wrong, rows = {}, {}, []
    for name, model in models.items():
        found[name] = {w: read(model, w) for w in asked}
        with_twin = {w: found[name][w] for w in twins}
        alone = {w: found[name][w] for w in asked if w not in twins}
        wrong[name], right = marks(found[name], asked)
        split = (marks(part, asked)[1] for part in (with_twin, alone))
        rows.append([name, *(f"{x:.1%}" for x in (wrong[name], right, *split))])
    page.say(
        f"{len(known)} words to learn from in {STEPS} steps, {len(asked)} others to be"
        f" read, {len(twins)} of which have a twin with the same first five letters:"
    )
    page.table(["", "phonemes wrong", "words right", "with a twin", "without"], rows)
    looks = found["attention"]
    missed = [w for w in asked if looks[w][0] != asked[w]]
    shown = sorted(SHOWN, key=lambda word: word in missed)[:7]  # those that are right
    shown += [w for w in [*SHOWN, *missed] if w in missed and w not in shown][:1]
    page.picture(draw({w: looks[w] for w in shown}, asked), "spelling")
    page.say(f"Read wrongly: {', '.join(missed)}.")
    forward = forward_steps(looks)
    page.claim(
        "E8",
        "A decoder that looks the letters up learns to read sooner than one with a fixed"
        " vector, and learns by itself which letters make which sound.",
        r"$\alpha=softmax(v\cdot tanh(s\,W_q+h_t\,W_k))$",
        f"{wrong['attention']:.1%} of the phonemes of new words wrong, against"
        f" {wrong['one fixed vector']:.1%}; {forward:.1%} of steps go forward",
        wrong["attention"] < 0.14
        and wrong["attention"] < 0.7 * wrong["one fixed vector"]
        and forward > 0.95,
        additive,
    )
