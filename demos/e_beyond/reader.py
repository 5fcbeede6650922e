"""A reader: letters in, phonemes out; an encoder, a decoder, and a lookup between them.

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

from attention import additive, attention
from minigrad import backend as B
from minigrad import concatenate, sigmoid, stack, tanh
from minigrad.nn import Dropout, Embedding, Linear, Module, normal


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

    def __init__(self, letters, phonemes, e=64, d=64, dropout=0.3, looks=True):
        self.letters, self.phonemes = Embedding(letters, e), Embedding(phonemes, e)
        self.rightward, self.leftward = GRU(e, d), GRU(e, d)
        self.start, self.decoder = Linear(d, d), GRU(e + 2 * d, d)
        self.W_q = normal((d, d), 1 / math.sqrt(d))
        self.W_k = normal((2 * d, d), 1 / math.sqrt(2 * d))
        self.v = normal((d,), 1 / math.sqrt(d))
        self.output = Linear(3 * d, phonemes)
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
