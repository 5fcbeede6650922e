"""A language model: the probability of each next token, given those before it.

Letters: B texts, T positions, d the width.
"""

import math

import numpy

from minigrad import backend, nn, no_grad
from minigrad.checks import at_least, integer, one_of, optional, takes
from minigrad.nn import Dropout, Embedding, LayerNorm, Module

from . import checks
from .block import Block
from .heads import Cache


class GPT(Module):
    """Embed the tokens, pass them through blocks, score every possible next one.

    The output weights are the embedding itself, transposed: a token is scored by the
    dot product of its vector with what the model made of the text (tied weights; Press
    & Wolf, 2017). `positions` are "rope", rotations within every head, or "learned",
    vectors added to the embedding.

    Weights are drawn from N(0, 0.02²), and those that write to the residual path from
    N(0, 0.02² / (2 layers)): every block has two, and all their outputs add up there.
    Radford et al., "Language Models are Unsupervised Multitask Learners" (2019),
    section 2.3.

    Raises: ValueError when a size is below 1, the heads do not divide the width, or the
    positions have another name.
    """

    @takes(
        **dict.fromkeys(["vocab", "context", "d_model", "heads", "layers"], integer(1)),
        positions=one_of("rope", "learned"),
    )
    def __init__(
        self, vocab, context, d_model, heads, layers, dropout=0.0, positions="rope"
    ):
        rope = positions == "rope"
        self.tokens = Embedding(vocab, d_model)
        self.positions = None if rope else Embedding(context, d_model)
        self.dropout = Dropout(dropout)
        self.blocks = [
            Block(d_model, heads, causal=True, rope=rope, dropout=dropout)
            for _ in range(layers)
        ]
        self.norm = LayerNorm(d_model, bias=False)
        self.vocab, self.context = vocab, context
        self.draw_weights()

    def draw_weights(self):
        """Draw every matrix, from the generator of all layers (`nn.seed` starts it)."""
        onto_path = 0.02 / math.sqrt(2 * len(self.blocks))
        for name, p in self.named_parameters():
            if p.ndim == 2:
                writes = name.endswith(("output.weight", "down.weight"))
                p.data = nn.normal(p.shape, onto_path if writes else 0.02).data

    @takes()
    def __call__(self, ids, cache=None):
        """Return the scores (B, T, vocab) of the next token after each of ids (B, T).

        Position t sees the tokens up to t only. With a cache from `new_cache` the ids
        continue the text in it.

        Raises: IndexError for an id outside [0, vocab) that comes from the host,
        TypeError for ids that are not integers, ValueError when they are not (B, T), or
        run beyond the context.
        """
        ids = checks.tokens(self, ids, cache)
        x = self.tokens(ids)  # (B, T, d)
        if self.positions is not None:
            past = len(cache[0]) if cache else 0
            t = backend.xp.arange(past, past + ids.shape[1])  # (T,)
            x = x + self.positions(t)  # (B, T, d) + (T, d)
        x = self.dropout(x)  # (B, T, d)
        caches = cache or [None] * len(self.blocks)
        for block, block_cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache=block_cache)  # (B, T, d)
        return self.norm(x) @ self.tokens.weight.T  # (B, T, vocab)

    def new_cache(self):
        """Return an empty key/value cache, a list with one for each block."""
        return [Cache() for _ in self.blocks]


@takes(n=integer(0), temperature=at_least(0), top_k=optional(integer(1)))
@no_grad()
def generate(model, prompt, n, temperature=1.0, top_k=None, seed=0, cache=True):
    """Return the ids of the prompt and of n tokens that the model continues it with.

    Each is drawn from softmax(logits / temperature), of the `top_k` most likely tokens
    if that is given; temperature 0 takes the most likely one. The model sees the last
    `model.context` tokens of a longer text.

    With `cache` each step reads one token instead of all, until the context is full.
    From there on every token has another position at each step, and another beginning
    of the text to look back to, so all are read again, as without the cache.

    Raises: ValueError for an empty prompt, a negative n or temperature, or a top_k
    below 1; IndexError for an id outside the vocabulary.
    """
    ids = checks.prompt(prompt, model.vocab)
    rng = numpy.random.default_rng(seed)
    training = model.training
    model.eval()
    try:
        caches = model.new_cache()
        for _ in range(n):
            if cache and len(ids) <= model.context:
                logits = model([ids[len(caches[0]) :]], caches)  # (1, new ones, vocab)
            else:
                logits = model([ids[-model.context :]])  # (1, T, vocab)
            last = checks.no_nan(backend.to_numpy(logits[0, -1]))  # (vocab,)
            ids.append(choose(last, temperature, top_k, rng))
    finally:
        model.train(training)
    return numpy.array(ids)


def choose(logits, temperature, top_k, rng):
    """Return one id, drawn as `generate` says, given logits (vocab,) on the host."""
    likely = numpy.argsort(-logits, kind="stable")[:top_k]  # most likely first
    if temperature == 0:
        return int(likely[0])
    logits = logits[likely].astype(float)
    weights = numpy.exp((logits - logits[0]) / temperature)
    return int(rng.choice(likely, p=weights / weights.sum()))
