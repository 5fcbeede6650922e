"""Cases from the field, numbered as in the list of them: attention."""

import numpy as np
import pytest
from conftest import array, close, normal, same

from attention import MultiHeadAttention, attention, padding_mask
from minigrad import Tensor


@pytest.mark.parametrize("seed", range(3))
def test_12_a_query_with_no_allowed_key_is_neither_nan_nor_the_mean(seed):
    Q, K = (Tensor(normal(n, 4, seed=seed + n)) for n in (2, 3))
    V = Tensor([[10.0], [20.0], [30.0]])
    keep = array([[False, False, False], [True, False, False]])
    Y, A = attention(Q, K, V, mask=keep, return_weights=True)
    Y.sum().backward()
    same(Y, [[0.0], [10.0]])
    same(A, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    same(V.grad, [[1.0], [0.0], [0.0]])
    same(Q.grad, np.zeros((2, 4)))
    same(K.grad, np.zeros((3, 4)))


@pytest.mark.parametrize(
    ("n", "m", "expected"),
    [
        (2, 4, [20.0, 25.0]),
        (1, 4, [25.0]),
        (4, 2, [0.0, 0.0, 10.0, 15.0]),
        (3, 3, [10.0, 15.0, 20.0]),
    ],
)
def test_13_causal_aligns_the_last_query_with_the_last_key(n, m, expected):
    Q, K = array(np.zeros((n, 2))), array(normal(m, 2))
    V = array([[10.0], [20.0], [30.0], [40.0]])[:m]
    same(attention(Q, K, V, causal=True).round(12)[:, 0], expected)


def softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_heads_with_bias_are_their_formula(cross, padded):
    B, n, d, h = 3, 5, 8, 2
    layer = MultiHeadAttention(d, h, bias=True)
    layer.load_state_dict(
        {
            name: normal(*p.shape, seed=i).astype("float32") / 2
            for i, (name, p) in enumerate(layer.named_parameters())
        }
    )
    w = {name: p.numpy().astype(float) for name, p in layer.named_parameters()}
    x = normal(B, n, d).astype("float32")
    source = normal(B, n + 2, d, seed=9).astype("float32") if cross else x
    m = source.shape[1]
    lengths = [1, 4, m]
    mask = padding_mask(lengths, m) if padded else None
    context = array(source) if cross else None
    y, weights = layer(array(x), mask=mask, context=context, return_weights=True)
    hidden = np.arange(m) >= np.array(lengths)[:, None, None] if padded else False
    heads = []
    for i in range(h):
        part = slice(i * d // h, (i + 1) * d // h)
        Q, K, V = (
            z @ w[f"{name}.weight"][:, part] + w[f"{name}.bias"][part]
            for name, z in [("query", x), ("key", source), ("value", source)]
        )
        S = Q @ K.swapaxes(-1, -2) / np.sqrt(d / h)
        A = softmax(np.where(hidden, -np.inf, S))
        close(weights[:, i], A, rtol=1e-5, atol=1e-6)
        heads.append(A @ V)
    right = np.concatenate(heads, axis=-1) @ w["output.weight"] + w["output.bias"]
    assert y.dtype == "float32"
    close(y, right, rtol=0, atol=3e-6)
