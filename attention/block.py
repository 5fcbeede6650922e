"""The Transformer block: look things up, then think about what was found."""

from minigrad import gelu
from minigrad.checks import integer, takes
from minigrad.nn import Dropout, LayerNorm, Linear, Module

from .heads import MultiHeadAttention


class MLP(Module):
    """Each position by itself: gelu(x W_1) W_2, four times as wide in between.

    Attention only mixes values, with weights of sum 1. This is the other half of the
    block, where something new is made of them.
    """

    @takes(d_model=integer(1))
    def __init__(self, d_model, dropout=0.0):
        self.up = Linear(d_model, 4 * d_model, bias=False)
        self.down = Linear(4 * d_model, d_model, bias=False)
        self.dropout = Dropout(dropout)

    def __call__(self, x):
        hidden = gelu(self.up(x))  # (…, T, 4 d)
        return self.dropout(self.down(hidden))  # (…, T, d)


class Block(Module):
    """Attention between positions, then an MLP within each, added to what was there.

        x ← x + attention(norm(x))
        x ← x + mlp(norm(x))

    The sums are the residual path: the gradient reaches every block below unchanged,
    plus what comes through the blocks. Norms stand in front of the sublayers, not on
    that path (pre-norm; Xiong et al., "On Layer Normalization in the Transformer
    Architecture", 2020).
    """

    @takes(d_model=integer(1), heads=integer(1))
    def __init__(self, d_model, heads, causal=False, rope=False, dropout=0.0):
        self.norm_1 = LayerNorm(d_model, bias=False)
        self.attention = MultiHeadAttention(d_model, heads, causal, rope, dropout)
        self.norm_2 = LayerNorm(d_model, bias=False)
        self.mlp = MLP(d_model, dropout)

    @takes("… T d")
    def __call__(self, x, mask=None, cache=None):
        """Return x (…, T, d) after the block; mask, cache: see MultiHeadAttention."""
        x = x + self.attention(self.norm_1(x), mask, cache)  # (…, T, d)
        return x + self.mlp(self.norm_2(x))  # (…, T, d)
