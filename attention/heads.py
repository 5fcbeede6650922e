"""Self-attention: queries, keys and values are three learned projections of one input.

Letters: T positions, m keys (T, and more with a cache), d the width, h heads of width
d / h; … any axes in front.
"""

from minigrad import concatenate
from minigrad.checks import flag, integer, takes
from minigrad.nn import Dropout, Linear, Module

from . import checks
from .attend import attention
from .positions import rope


class SelfAttention(Module):
    """One head: every position of x asks, answers to being asked, and contributes.

        attn(x W_q, x W_k, x W_v)

    The same token is one vector as a question, another as an answer to questions, and a
    third as what it hands over; W_q, W_k and W_v, each (d, d), are learned. That is
    MultiHeadAttention with one head and without W_o, to be read first.
    """

    @takes(d_model=integer(1), causal=flag)
    def __init__(self, d_model, causal=False):
        self.query = Linear(d_model, d_model, bias=False)
        self.key = Linear(d_model, d_model, bias=False)
        self.value = Linear(d_model, d_model, bias=False)
        self.causal = causal

    @takes("… T d")
    def __call__(self, x, mask=None, return_weights=False):
        """Return the attended x, (…, T, d) -> (…, T, d); see `attention`."""
        Q, K, V = self.query(x), self.key(x), self.value(x)  # (…, T, d) each
        return attention(
            Q, K, V, mask=mask, causal=self.causal, return_weights=return_weights
        )


class MultiHeadAttention(Module):
    """Several lookups of x side by side, each in its own part of the width.

        head_i = attn(x W_q,i, x W_k,i, x W_v,i)         y = [head_1 … head_h] W_o

    One head has one set of weights for each query, so it can look for one thing at a
    time; h heads look for h things, with as many products as one head of full width
    (but h times as many attention weights). The W_q,i stand side by side in one matrix
    (d, d), as do the others; `bias` adds to each of the four products. Vaswani et al.,
    "Attention Is All You Need" (2017), section 3.2.2.

    With `rope`, queries and keys are rotated by their positions. Dropout acts on y.

    Raises: ValueError when the heads do not divide the width, or for `rope` into parts
    of an odd width.
    """

    @takes(d_model=integer(1), heads=integer(1), causal=flag, rope=flag, bias=flag)
    def __init__(
        self, d_model, heads, causal=False, rope=False, dropout=0.0, bias=False
    ):
        checks.heads_divide(d_model, heads, rope)
        self.query = Linear(d_model, d_model, bias)
        self.key = Linear(d_model, d_model, bias)
        self.value = Linear(d_model, d_model, bias)
        self.output = Linear(d_model, d_model, bias)
        self.dropout = Dropout(dropout)
        self.heads, self.causal, self.rope = heads, causal, rope

    @takes("… T d")
    def __call__(self, x, mask=None, cache=None, return_weights=False, context=None):
        """Return y for x (…, T, d), and with `return_weights` the weights (…, h, T, m).

        Keys and values are made from x too, or from a `context` (…, m, d): x then asks
        another text (cross-attention). `mask` is boolean (…, T, m), the same for every
        head, or (…, h, T, m). With a cache, x continues the positions in it, and m
        counts those too.
        """
        source = checks.source(self, x, cache, context)
        Q = split_heads(self.query(x), self.heads)  # (…, h, T, d / h)
        K = split_heads(self.key(source), self.heads)  # (…, h, m, d / h)
        V = split_heads(self.value(source), self.heads)  # (…, h, m, d / h)
        if self.rope:
            past = 0 if cache is None else len(cache)
            Q, K = rope(Q, past), rope(K, past)
        if cache is not None:
            K, V = cache.followed_by(K, V)  # (…, h, m, d / h)
        mask = checks.mask_of_heads(mask, x)
        Y, A = attention(Q, K, V, mask=mask, causal=self.causal, return_weights=True)
        if cache is not None:  # only now: if attention fails, it is as it was
            cache.keys, cache.values = K, V
        y = self.dropout(self.output(merge_heads(Y)))  # (…, T, d)
        return (y, A) if return_weights else y


class Cache:
    """The keys and values of the positions so far: a dictionary that grows.

    Under a causal mask no later token changes them, so a token that follows needs only
    its own query, key and value, not those of all before it again.
    """

    def __init__(self):
        self.keys = self.values = None

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]

    def followed_by(self, K, V):
        """Return all keys and values, (…, m, d / h), the last of them K and V."""
        if len(self):
            K = concatenate([self.keys, K], axis=-2)
            V = concatenate([self.values, V], axis=-2)
        return K, V


@takes("… T d", heads=integer(1))
def split_heads(x, heads):
    """Return x (…, T, d) as (…, h, T, d / h): head i gets the i-th part of every row.

    The numbers of a row lie together, so the width is cut first and the axes exchanged
    then. One reshape gives the same shape, and is wrong: it deals out whole rows, so
    that heads attend over parts of one token instead of over tokens.

    >>> import numpy as np
    >>> x = np.arange(8.0).reshape(1, 2, 4)                 # tokens 0 1 2 3 and 4 5 6 7
    >>> split_heads(x, 2)[0, 0]                             # the left half of each
    array([[0., 1.],
           [4., 5.]])
    >>> x.reshape(1, 2, 2, 2)[0, 0]                         # both halves of token 0
    array([[0., 1.],
           [2., 3.]])
    """
    checks.heads_divide(x.shape[-1], heads)
    *front, T, d = x.shape
    x = x.reshape((*front, T, heads, d // heads))  # (…, T, h, d / h)
    return x.swapaxes(-2, -3)  # (…, h, T, d / h)


@takes("… h T w")
def merge_heads(x):
    """Return x (…, h, T, d / h) as (…, T, d), the reverse of `split_heads`."""
    *front, h, T, width = x.shape
    x = x.swapaxes(-2, -3)  # (…, T, h, d / h)
    return x.reshape((*front, T, h * width))  # (…, T, d)
