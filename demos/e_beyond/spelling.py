"""Spelling: from letters to sounds, which is where attention came from.

Problem. "knight" has six letters and three sounds. Which letter makes which sound?
Nobody tells: the examples are whole words and whole pronunciations.

Formula. A decoder writes the phonemes one by one, and before each it looks up the
letters with its state s as the query, by the additive score (reader.py has the model):

    c = Σ_t α_t h_t          α = softmax(v · tanh(s W_q + h_t W_k))

What to look at. The weights, a row for each phoneme: an alignment of sounds and letters
that was learned and never told. It goes forward; silent letters are passed over, and
pairs such as kn, th and ough are read as one. Without the lookup, from one vector of
fixed size, about twice as many phonemes are wrong.

Bahdanau, Cho, Bengio (2015) speak of alignments, and so do we; yet the model is free to
look elsewhere, for a state knows its neighbours. Words are common, forms of one word are
in both parts, so many test words have a twin with the same five letters in front among
the training words; they are counted apart. One seed is shown, and small models; systems
that are made for this task, and larger dictionaries, were not compared.
"""

import csv
import re

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import trange

from minigrad import backend as B
from minigrad import cross_entropy, load, nn, no_grad, save
from minigrad.optim import Adam

from ..stage import datasets
from ..stage.drawing import weight_map
from .reader import Reader

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONGEST = 10  # letters in a word, 11 phonemes at most
SHOWN = ["knocked", "brought", "others", "achieve", "station", "unique", "tooth"]
PARTS = "train", "val", "test"
END = 0  # the number of the phoneme that ends a word, and stands before its first


def words(part):
    """Return the words of a part, "train", "val" or "test": {word: its phonemes}."""
    with open(datasets.FOLDER / "g2p.tsv", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {r["word"]: r["phonemes"].split() for r in rows if r["split"] == part}


def symbols():
    """Return the 39 phonemes in order, after the mark of the end."""
    return ["-", *sorted(set().union(*words("train").values()))]


def numbers(spelt):
    """Return words of one length as numbers (B, T)."""
    return np.array([[LETTERS.index(letter) for letter in word] for word in spelt])


def batches(known, steps, seed, size=64):
    """Yield letters (B, T), phonemes before and phonemes to come (B, U), -1 for none."""
    rng, names = np.random.default_rng(seed), symbols()
    spelt = sorted(known)
    lengths = np.array([len(word) for word in spelt])
    for _ in range(steps):
        alike = np.flatnonzero(lengths == lengths[rng.integers(len(spelt))])
        chosen = [spelt[i] for i in rng.permutation(alike)[:size]]
        sounds = [[names.index(p) for p in known[word]] for word in chosen]
        after = np.full((len(chosen), 1 + max(map(len, sounds))), -1)
        for row, sound in zip(after, sounds, strict=True):
            row[: len(sound) + 1] = [*sound, END]
        before = np.concatenate([0 * after[:, :1], after[:, :-1].clip(0)], axis=1)
        yield numbers(chosen), before, after


@threadpool_limits.wrap(limits=1)
def train(known, looks=True, steps=1000, seed=0):
    """Return a reader that has learned words, {word: phonemes}."""
    nn.seed(seed)
    model = Reader(len(LETTERS), len(symbols()), looks=looks)
    optimizer = Adam(model.parameters(), lr=2e-3)
    name = "spelling" if looks else "spelling, without attention"
    bar = trange(steps, desc=name, disable=None, leave=False)
    for _, (ids, before, after) in zip(bar, batches(known, steps, seed), strict=True):
        loss = cross_entropy(model(ids, before), after, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@no_grad()
def read(model, word, most=14):
    """Return the phonemes of a word, each the likeliest, and their weights (U, T)."""
    names, before, found, weights = symbols(), END, [], []
    H, ends, s = model.encode(numbers([word]))
    for _ in range(most):
        s, output, A = model.decode(model.phonemes(np.array([before])), s, H, ends)
        before = int(B.to_numpy(model.output(output)).argmax())
        if before == END:
            break
        found.append(names[before])
        weights.append(np.zeros(len(word)) if A is None else B.to_numpy(A[0]))
    return found, np.array(weights)


def edits(a, b):
    """Return the least number of changes, gaps and additions that make b of a."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(above + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def score(found, known):
    """Return the share of phonemes that are wrong in what was read, {word: phonemes},
    and the share of words that are right."""
    wrong = sum(edits(found[word], known[word]) for word in found)
    right = np.mean([found[word] == known[word] for word in found])
    return wrong / sum(len(known[word]) for word in found), right


def going_forward(weights):
    """Return in how many steps (U, T) the letter of most weight stays or moves right."""
    steps = np.concatenate([np.diff(A.argmax(axis=1)) for A in weights if len(A) > 1])
    return (steps >= 0).mean()


def draw(shown, found, known, columns=4):
    """Draw the weights of words, with what is read, and what is right if it is not."""
    rows = -(-len(shown) // columns)
    size = (2.9 * columns, 2.7 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for ax, word in zip(axes.ravel(), shown, strict=True):
        phonemes, A = found[word]
        image = weight_map(ax, A)
        ax.set_xticks(range(len(word)), word)
        ax.set_yticks(range(len(phonemes)), phonemes)
        ax.set(xlabel="", ylabel="")
        right = " ".join(known.get(word, phonemes))
        if right == " ".join(phonemes):
            ax.set_title(word)
        else:
            ax.set_title(f"{word}, not {right}", color="C1")
    figure.supxlabel("letters, the keys", fontsize=10)
    figure.supylabel("phonemes, the queries", fontsize=10)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.7)
    return figure


def refusal(word):
    """Return why a word cannot be read, or None."""
    if not re.fullmatch("[a-z]*", word):
        return f"--word {word!r}: it takes small letters a to z, without accents"
    if not 1 <= len(word) <= LONGEST:
        return f"--word {word!r} has {len(word)} letters; it takes 1 to {LONGEST}"


def add_options(parser):
    """Add what `demo` takes beside the page to the command line."""

    def spelt(word):
        if reason := refusal(word):
            parser.exit(2, f"demos: spelling: {reason}\n")
        return word

    parser.add_argument("--word", type=spelt, help="read this word, and no others")


def read_one(page, word):
    """Print and draw how a word is read, by the reader of an earlier run if any."""
    path = page.out / "spelling.npz"
    if path.exists():
        model = Reader(len(LETTERS), len(symbols())).eval()
        load(path, model)
    else:
        model = train(words("train"))
        save(path, model)
    phonemes, A = read(model, word)
    page.say(f"{word} is read {' '.join(phonemes) or 'as nothing'}.")
    if phonemes:
        known = {w: sounds for part in PARTS for w, sounds in words(part).items()}
        page.picture(draw([word], {word: (phonemes, A)}, known, 1), "spelling_word")


def demo(page, word=None):
    if word is not None:
        return read_one(page, word)
    known, asked = words("train"), words("test")
    models = {"attention": train(known), "one fixed vector": train(known, looks=False)}
    save(page.out / "spelling.npz", models["attention"])
    found = {name: {w: read(m, w) for w in asked} for name, m in models.items()}
    twins = {w for w in asked if len(w) > 4 and any(w[:5] == k[:5] for k in known)}
    rows, errors = [], {}
    for name, by_word in found.items():
        heard = {w: phonemes for w, (phonemes, _) in by_word.items()}
        errors[name], right = score(heard, asked)
        split = [
            score({w: heard[w] for w in part}, asked)[1]
            for part in (twins, asked.keys() - twins)
        ]
        rows.append([name, *(f"{x:.1%}" for x in (errors[name], right, *split))])
    page.say(
        f"{len(known)} words to learn from, {len(asked)} to be asked, of which {len(twins)}"
        " have a twin to learn from, with the same first five letters."
    )
    page.table(["", "phonemes wrong", "words right", "with a twin", "without"], rows)
