"""A valid call of every public function and class of attention, for test_sweep.py."""

from valid_calls import A, T, of

import attention


def gpt():
    return attention.GPT(5, context=4, d_model=4, heads=2, layers=1)


def qkv():
    return [T(2, 3), T(4, 3), T(4, 2)]


ATTENTION_CALLS = {
    "hard_lookup": lambda: of(attention.hard_lookup, A(3), A(2, 3), A(2, 3), None),
    "soft_lookup": lambda: of(
        *(attention.soft_lookup, T(3), T(4, 3), T(4, 2)),
        temperature=0.5,
        score=attention.dot,
    ),
    **{
        n: lambda n=n: of(getattr(attention, n), T(2, 3), T(4, 3))
        for n in ("dot", "scaled_dot", "cosine")
    },
    "gaussian": lambda: of(attention.gaussian, 0.5),
    "gaussian()": lambda: of(attention.gaussian(0.5), T(2, 3), T(4, 3)),
    "bilinear": lambda: of(attention.bilinear, T(3, 2)),
    "bilinear()": lambda: of(attention.bilinear(T(3, 2)), T(2, 3), T(4, 2)),
    "additive": lambda: of(attention.additive, T(3, 5), T(2, 5), T(5)),
    "additive()": lambda: of(
        attention.additive(T(3, 5), T(2, 5), T(5)), T(2, 3), T(4, 2)
    ),
    "causal_mask": lambda: of(attention.causal_mask, 2, 3, strict=True),
    "padding_mask": lambda: of(attention.padding_mask, [1, 3], 3),
    "attention": lambda: of(
        *(attention.attention, *qkv()),
        score=attention.dot,
        mask=A(2, 4) > 0,
        causal=True,
        return_weights=True,
    ),
    "tiled_attention": lambda: of(
        attention.tiled_attention, *qkv(), mask=A(2, 4) > 0, causal=True, block=2
    ),
    "rope": lambda: of(attention.rope, T(2, 4), offset=1),
    "sinusoidal": lambda: of(attention.sinusoidal, 3, 4),
    "SelfAttention": lambda: of(attention.SelfAttention, 4, causal=True),
    "SelfAttention()": lambda: of(
        attention.SelfAttention(3), T(2, 3), mask=A(2, 2) > 0, return_weights=True
    ),
    "MultiHeadAttention": lambda: of(
        attention.MultiHeadAttention,
        *(4, 2),
        causal=True,
        rope=True,
        dropout=0.1,
        bias=True,
    ),
    "MultiHeadAttention()": lambda: of(
        *(attention.MultiHeadAttention(4, 2), T(2, 4)),
        mask=A(2, 3) > 0,
        cache=None,
        return_weights=True,
        context=T(3, 4),
    ),
    "split_heads": lambda: of(attention.split_heads, T(2, 4), 2),
    "merge_heads": lambda: of(attention.merge_heads, T(2, 3, 2)),
    "Block": lambda: of(attention.Block, 4, 2, causal=True, rope=True, dropout=0.1),
    "Block()": lambda: of(attention.Block(4, 2), T(2, 4), mask=A(2, 2) > 0, cache=None),
    "GPT": lambda: of(
        *(attention.GPT, 5, 4, 4, 2, 1), dropout=0.1, positions="learned"
    ),
    "GPT()": lambda: of(gpt(), [[0, 1]], cache=None),
    "generate": lambda: of(
        *(attention.generate, gpt(), [0, 1], 2),
        temperature=0.5,
        top_k=2,
        seed=0,
        cache=True,
    ),
}
