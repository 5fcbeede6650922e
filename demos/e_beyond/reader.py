"""A reader for `spelling`: an encoder of letters, a decoder of phonemes, and between them
a lookup; how it learns, and how it reads.

    encoder     h_t = [left to right, up to letter t; right to left, down to letter t]
    lookup      c = Σ_t α_t h_t,   α = softmax(v · tanh(s W_q + h_t W_k))
    decoder     s ← gru([phoneme before, c], s)          logits = [s, c] W

After Bahdanau, Cho, Bengio, "Neural Machine Translation by Jointly Learning to Align and
Translate" (2015), section 3. Without the lookup c is the same for each phoneme: what the
encoder knew when it reached the ends of the word, one vector of fixed size.

Letters: B words, all of them of T letters, so that nothing is padded; U phonemes; e the
width of a letter or phoneme, d that of a state, 2 d that of what the encoder knows.
"""

import math

import numpy as np
from threadpoolctl import threadpool_limits

from attention import additive, attention
from minigrad import backend as B
from minigrad import concatenate, cross_entropy, nn, no_grad, sigmoid, stack, tanh
from minigrad.nn import Dropout, Embedding, Linear, Module, normal
from minigrad.optim import Adam

from ..stage.progress import progress

STEPS = 650
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ARPABET = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S"
ARPABET += " SH T TH UH UW V W Y Z ZH"
PHONEMES = ["-", *ARPABET.split()]  # "-" ends a word, and stands before its first sound


class GRU(Module):
    """A state h (B, d) that an input x (B, d_in) changes where two gates, r and z, open.

        r, z = sigmoid([x, h] W + b)
        h ← (1 - z) h + z tanh([x, r h] W_n + b_n)

    Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder" (2014).
    """

    def __init__(self, d_in, d):
        self.gates, self.new = Linear(d_in + d, 2 * d), Linear(d_in + d, d)

    def __call__(self, x, h):
        d = h.shape[-1]
        rz = sigmoid(self.gates(concatenate([x, h], axis=1)))  # (B, 2 d)
        r, z = rz[:, :d], rz[:, d:]
        n = tanh(self.new(concatenate([x, r * h], axis=1)))  # (B, d)
        return h + z * (n - h)


class Reader(Module):
    """Letters (B, T) and the phonemes before (B, U) -> logits (B, U, phonemes).

    With `looks=False` the decoder has the one fixed vector.
    """

    def __init__(self, looks=True, e=64, d=64, dropout=0.2):
        self.letters = Embedding(len(LETTERS), e)
        self.phonemes = Embedding(len(PHONEMES), e)
        self.rightward, self.leftward = GRU(e, d), GRU(e, d)
        self.start, self.decoder = Linear(d, d), GRU(e + 2 * d, d)
        self.W_q = normal((d, d), 1 / math.sqrt(d))
        self.W_k = normal((2 * d, d), 1 / math.sqrt(2 * d))
        self.v = normal((d,), 1 / math.sqrt(d))
        self.output = Linear(3 * d, len(PHONEMES))
        self.dropout, self.looks = Dropout(dropout), looks

    def encode(self, ids):
        """Return what is known at each letter (B, T, 2 d), at the ends of the word
        (B, 2 d), and the first state of the decoder (B, d)."""
        x, T = self.dropout(self.letters(ids)), ids.shape[1]  # (B, T, e)
        right = left = B.xp.zeros((len(ids), self.v.size), "float32")  # (B, d)
        rights, lefts = [], []
        for t in range(T):
            right = self.rightward(x[:, t], right)
            left = self.leftward(x[:, T - 1 - t], left)
            rights.append(right)
            lefts.insert(0, left)
        H = concatenate([stack(rights, axis=1), stack(lefts, axis=1)], axis=2)
        ends = concatenate([right, left], axis=1)
        return self.dropout(H), ends, tanh(self.start(left))

    def decode(self, y, s, H, ends):
        """Return the next state (B, d), what the logits are made from (B, 3 d), and the
        weights (B, T) or None, given the phoneme before, y (B, e)."""
        c, A = ends, None
        if self.looks:
            score = additive(self.W_q, self.W_k, self.v)
            c, A = attention(s[:, None], H, H, score=score, return_weights=True)
            c, A = c[:, 0], A[:, 0]  # (B, 2 d), (B, T)
        s = self.decoder(concatenate([y, c], axis=1), s)
        return s, concatenate([s, c], axis=1), A

    def __call__(self, ids, before):
        H, ends, s = self.encode(ids)
        y, outputs = self.dropout(self.phonemes(before)), []  # (B, U, e)
        for u in range(before.shape[1]):
            s, output, _ = self.decode(y[:, u], s, H, ends)
            outputs.append(output)
        return self.output(self.dropout(stack(outputs, axis=1)))  # (B, U, phonemes)


def numbers(words):
    """Return words of one length as numbers (B, T)."""
    return np.array([[LETTERS.index(letter) for letter in word] for word in words])


def batches(known, steps, seed, size=64):
    """Yield words of one length from {word: phonemes}: letters (B, T), the phonemes
    before, and those to come (B, U), -1 after the end."""
    rng, words = np.random.default_rng(seed), sorted(known)
    lengths = np.array([len(word) for word in words])
    for _ in range(steps):
        alike = np.flatnonzero(lengths == lengths[rng.integers(len(words))])
        chosen = [words[i] for i in rng.permutation(alike)[:size]]
        after = np.full((len(chosen), 1 + max(len(known[w]) for w in chosen)), -1)
        for row, word in zip(after, chosen, strict=True):
            row[: len(known[word]) + 1] = [*map(PHONEMES.index, known[word]), 0]
        before = np.concatenate([0 * after[:, :1], after[:, :-1].clip(0)], axis=1)
        yield numbers(chosen), before, after


@threadpool_limits.wrap(limits=1)
def train(known, looks=True, steps=STEPS, seed=0, high=5e-3):
    """Return a reader that has learned {word: phonemes}; the rate falls from high to 0."""
    nn.seed(seed)
    model = Reader(looks)
    optimizer = Adam(model.parameters(), lr=high)
    name = "spelling: " if looks else "spelling, without attention: "
    todo = progress(batches(known, steps, seed), total=steps, desc=name)
    for step, (ids, before, after) in enumerate(todo):
        optimizer.lr = high * (1 - step / steps)
        loss = cross_entropy(model(ids, before), after, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@no_grad()
def read(model, word, most=14):
    """Return the phonemes of a word, each the likeliest, and their weights (U, T)."""
    sounds, weights, before = [], [], 0
    H, ends, s = model.encode(numbers([word]))
    for _ in range(most):
        s, output, A = model.decode(model.phonemes(np.array([before])), s, H, ends)
        before = int(B.to_numpy(model.output(output)).argmax())
        if before == 0:
            break
        sounds.append(PHONEMES[before])
        weights.append(np.zeros(len(word)) if A is None else B.to_numpy(A[0]))
    return sounds, np.array(weights)
