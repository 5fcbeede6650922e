"""Heads: against the loop over heads, and what an attention layer must and must not see."""

import numpy as np
import pytest
from conftest import array, close, normal, same
from models import with_parameters

from attention import (
    Block,
    MultiHeadAttention,
    SelfAttention,
    attention,
    causal_mask,
    merge_heads,
    rope,
    split_heads,
)
from attention.heads import Cache
from minigrad import Tensor, gradcheck, nn, no_grad
from minigrad.backend import to_numpy


def layer(heads=2, d=8, **how):
    nn.seed(1)
    return MultiHeadAttention(d, heads, **how).astype(float)


def by_heads(layer, x, mask=None):
    """Return the output by the loop over heads, each with its own columns of weights."""
    d = x.shape[-1] // layer.heads
    outputs = []
    for i in range(layer.heads):
        own = slice(i * d, (i + 1) * d)
        Q, K, V = (
            x @ part.weight.data[:, own]
            for part in (layer.query, layer.key, layer.value)
        )
        if layer.rope:
            Q, K = rope(Q), rope(K)
        y = attention(Q, K, V, mask=mask, causal=layer.causal)
        outputs.append(to_numpy(y))
    return np.concatenate(outputs, axis=-1) @ layer.output.weight.numpy()


def normed(x, layer):
    y = x - x.mean(axis=-1, keepdims=True)
    y /= np.sqrt((y * y).mean(axis=-1, keepdims=True) + layer.eps)
    return y * layer.weight.numpy()


def test_a_block_is_its_formula():
    nn.seed(1)
    block = Block(8, 2, causal=True, rope=True).astype(float)
    for norm in (block.norm_1, block.norm_2):
        norm.weight.data = array(normal(8, seed=3))
    x = y = normal(2, 5, 8)
    y = y + by_heads(block.attention, array(normed(y, block.norm_1)))
    u = normed(y, block.norm_2) @ block.mlp.up.weight.numpy()
    assert u.shape == (2, 5, 32)
    u *= (1 + np.tanh((2 / np.pi) ** 0.5 * (u + 0.044715 * u**3))) / 2
    close(block(array(x)), y + u @ block.mlp.down.weight.numpy(), rtol=1e-11)


def test_split_and_merge_keep_tokens_together():  # cases.md 14
    split = split_heads(array(np.arange(8.0).reshape(1, 2, 4)), 2)
    same(split, [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]])
    merged = merge_heads(array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]))
    same(merged, [[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]])
    x = normal(2, 3, 6)
    same(merge_heads(split_heads(array(x), 3)), x)


def test_reshape_alone_mixes_tokens(monkeypatch):
    """The fault of cases.md 14, planted: the shapes are right, and equivariance is gone."""
    x, order = normal(5, 8), [3, 0, 4, 1, 2]
    run = layer()
    monkeypatch.setattr(
        "attention.heads.split_heads", lambda x, h: x.reshape((h, 5, 4))
    )
    y, permuted = to_numpy(run(array(x))), to_numpy(run(array(x[order])))
    assert y.shape == (5, 8)
    assert abs(permuted - y[order]).max() > 0.1


@pytest.mark.parametrize("how", [{}, {"causal": True}, {"causal": True, "rope": True}])
def test_all_heads_at_once_are_the_loop_over_heads(how):
    run, x = layer(heads=4, **how), array(normal(2, 5, 8))
    close(run(x), by_heads(run, x), rtol=1e-11)


def test_self_attention_is_one_head():
    nn.seed(1)
    one = SelfAttention(4, causal=True).astype(float)
    x = array(normal(2, 5, 4))
    many = layer(heads=1, d=4, causal=True)
    many.query, many.key, many.value = one.query, one.key, one.value
    many.output.weight.data = array(np.eye(4))
    y, A = one(x, return_weights=True)
    many_y, many_A = many(x, return_weights=True)
    close(y, to_numpy(many_y))
    same(A, to_numpy(many_A)[:, 0])


def test_permuted_tokens_give_permuted_outputs():
    x, order = normal(2, 5, 8), [3, 0, 4, 1, 2]
    for run in (layer(), SelfAttention(8).astype(float)):
        permuted = to_numpy(run(array(x[:, order])))
        close(permuted, to_numpy(run(array(x)))[:, order], rtol=1e-11)


def test_weights_of_every_head():
    _, A = layer(causal=True)(Tensor(normal(2, 5, 8)), return_weights=True)
    A = to_numpy(A)
    assert A.shape == (2, 2, 5, 5)
    close(A.sum(axis=-1), np.ones((2, 2, 5)))
    assert not A[..., ~to_numpy(causal_mask(5, 5))].any()
    assert abs(A[:, 0] - A[:, 1]).max() > 0.01


def test_masks_of_a_pair_of_a_text_and_of_a_head():
    run, x = layer(causal=True), array(normal(2, 5, 8))
    masks = np.random.default_rng(2).random((2, 5, 5)) < 0.7
    each = [to_numpy(run(x[b], mask=array(masks[b]))) for b in range(2)]
    close(run(x, mask=array(masks)), np.stack(each), rtol=1e-11)
    close(run(x, mask=masks.tolist()), np.stack(each), rtol=1e-11)
    per_head = array(np.repeat(masks[:, None], 2, axis=1))  # (B, h, T, T)
    close(run(x, mask=per_head), np.stack(each), rtol=1e-11)
    close(run(x, mask=array(masks[0])), to_numpy(run(x, mask=array(masks[[0, 0]]))))


@pytest.mark.parametrize("positions", [False, True])
def test_the_future_moves_nothing_before_it(positions):
    nn.seed(0)
    block = Block(8, 2, causal=True, rope=positions)
    x = normal(2, 6, 8).astype("f4")
    y = to_numpy(block(array(x)))
    for t in range(1, 6):
        moved = x.copy()
        moved[:, t:] = normal(2, 6 - t, 8, seed=t)
        later = to_numpy(block(array(moved)))
        same(later[:, :t], y[:, :t])  # to the last bit
        assert (later[:, t] != y[:, t]).any()


@pytest.mark.parametrize("make", [MultiHeadAttention, Block])
def test_unless_it_is_causal_the_last_token_moves_all_and_order_counts_for_nothing(
    make,
):
    nn.seed(0)
    run, x = make(8, 2).astype(float), normal(5, 8)
    moved = x.copy()
    moved[-1] += 1.0
    y = to_numpy(run(array(x)))
    assert (to_numpy(run(array(moved))) != y).any(axis=-1).all()
    close(run(array(x[::-1])), y[::-1], rtol=1e-11)


def test_no_gradient_reaches_an_input_after_the_output():
    block = Block(8, 2, causal=True, rope=True).astype(float)
    for t in range(5):
        x = Tensor(normal(5, 8))
        block(x)[t].backward(array(normal(8, seed=t)))
        g = to_numpy(x.grad)
        assert not g[t + 1 :].any()
        assert g[: t + 1].any(axis=1).all()


def test_gradients_of_heads():
    run = layer(d=4, causal=True, rope=True)
    x = normal(3, 4)
    gradcheck(run, x)
    parameters, f = with_parameters(run, lambda: run(array(x)))
    assert len(parameters) == 4
    gradcheck(f, *parameters)


def test_gradients_of_a_block():  # of its parameters: test_gpt.py
    nn.seed(1)
    gradcheck(Block(4, 2, causal=True, rope=True).astype(float), normal(3, 4))


@pytest.mark.parametrize(("dtype", "rtol"), [("f4", 1e-5), ("f8", 1e-12)])
@pytest.mark.parametrize("cuts", [[1, 2, 3, 4, 5], [3], [2, 5]])
def test_a_cache_continues_a_text(dtype, rtol, cuts):
    run = layer(causal=True, rope=True).astype(dtype)
    for front in [(), (2,), (3, 2)]:
        x = normal(*front, 6, 8).astype(dtype)
        whole, cache = to_numpy(run(array(x))), Cache()
        with no_grad():
            pieces = [
                to_numpy(run(array(piece), cache=cache))
                for piece in np.split(x, cuts, axis=-2)
            ]
        assert len(cache) == 6
        close(np.concatenate(pieces, axis=-2), whole, rtol=rtol, atol=rtol)
