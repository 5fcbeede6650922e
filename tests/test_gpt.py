"""The language model: what it sees, its weights, its cache, and what it refuses."""

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same
from models import both, gpt, with_parameters

from attention import GPT
from minigrad import Tensor, cross_entropy, gradcheck, load, no_grad, optim, save
from minigrad.backend import to_numpy

IDS = np.array([[2, 0, 4, 4, 1, 3], [1, 1, 0, 2, 4, 2]])


@both
def test_the_future_moves_nothing_before_it(positions):
    model = gpt(positions, std=0.5)
    logits = to_numpy(model(IDS))
    for t in range(1, 6):
        moved = IDS.copy()
        moved[:, t:] = (moved[:, t:] + 1) % 5
        later = to_numpy(model(moved))
        same(later[:, :t], logits[:, :t])  # to the last bit
        assert (later[:, t] != logits[:, t]).any()


@numpy_only
@both
def test_gradients_of_every_parameter(positions):
    model = gpt(positions, vocab=3, context=3, d_model=4, layers=1).astype(float)
    ids = IDS[:, :3] % 3
    _, f = with_parameters(model, lambda: model(ids))
    gradcheck(f, *(normal(*p.shape, seed=i) for i, p in enumerate(model.parameters())))


def test_the_tied_weights_are_one_parameter_of_two_uses(tmp_path):
    model, other = gpt(std=0.5), gpt(seed=1)
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == len(set(names)) == len({*model.parameters()})
    assert [p.shape for p in model.parameters()].count((5, 8)) == 1
    save(tmp_path / "m.npz", model)
    load(tmp_path / "m.npz", other)
    same(other(IDS), to_numpy(model(IDS)))
    optimizer = optim.AdamW(other.parameters(), weight_decay=0.5)
    cross_entropy(other(IDS), IDS).backward()
    optimizer.step()
    vectors = to_numpy(other.tokens([0, 1, 2, 3, 4]))
    same(vectors, other.tokens.weight.numpy())  # the embedding moved, and once


def test_both_uses_of_tied_weights_add_their_gradients():  # cases.md 16
    W = Tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    h = W[array([2, 2])]
    loss = ((h @ W.T) * array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])).sum()
    loss.backward()
    assert loss.item() == 36
    same(W.grad, [[0.0, 3.0], [0.0, 9.0], [7.0, 21.0]])


def test_first_weights():
    model = gpt(vocab=500, d_model=256, layers=2, heads=2)
    for name, p in model.named_parameters():
        if p.ndim == 2:
            residual = name.endswith(("attention.output.weight", "mlp.down.weight"))
            std = 0.02 / 2 if residual else 0.02
            assert p.numpy().std() == pytest.approx(std, rel=0.02)  # 5 σ and more
        else:
            same(p.data, np.ones(p.shape))


def test_number_of_parameters_of_nano_gpt():
    sizes = {"vocab": 65, "context": 64, "d_model": 128, "heads": 4, "layers": 4}
    model = gpt("learned", **sizes)
    assert (
        sum(p.size for p in model.parameters())
        == 65 * 128 + 64 * 128 + 4 * ((3 + 1 + 4 + 4) * 128**2 + 2 * 128) + 128
    )


@both
@pytest.mark.parametrize(("dtype", "rtol"), [("f4", 1e-5), ("f8", 1e-12)])
def test_with_a_cache_the_logits_agree_token_by_token(positions, dtype, rtol):
    model = gpt(positions, std=0.5).astype(dtype)
    with no_grad():
        whole, cache = to_numpy(model(IDS)), model.new_cache()
        for t in range(6):
            logits = model(IDS[:, t : t + 1], cache)
            assert logits.dtype == np.dtype(dtype)
            scale = abs(whole[:, t]).max()
            close(logits[:, 0], whole[:, t], rtol=0, atol=rtol * scale)
    with pytest.raises(ValueError, match=r"6 \+ 1 positions exceed the context 6"):
        model(IDS[:, :1], cache)


def test_caches_that_a_call_left_of_unequal_length_are_refused():
    model = GPT(5, 6, 4, 2, 2)
    cache = model.new_cache()
    model([[1, 2]], cache)
    cache[0].keys = cache[0].values = None
    with pytest.raises(ValueError, match=r"caches hold \[0, 2\] positions.*new_cache"):
        model([[3]], cache)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": 0}, "context 0"),
        ({"layers": 0}, "layers 0"),
        ({"vocab": 0}, "vocab 0"),
        ({"heads": 3}, "3 heads do not divide the width 8"),
        ({"positions": "fixed"}, "'fixed'"),
    ],
)
def test_sizes_that_make_no_model(change, message):
    with pytest.raises(ValueError, match=message):
        gpt(**change)


def test_what_is_no_text():
    model = gpt()
    with pytest.raises(IndexError, match=r"GPT: 7 is outside \[0, 5\)"):
        model([[1, 7]])
    with pytest.raises(IndexError, match=r"-1 is outside"):
        model([[-1]])
    with pytest.raises(TypeError, match="expected integers, got float64"):
        model([[0.5]])
    with pytest.raises(ValueError, match=r"ids must be \(B, T\)"):
        model([1, 2])
    with pytest.raises(ValueError, match="7 positions exceed the context 6"):
        model([[0] * 7])
    with pytest.raises(ValueError, match="not empty"):
        model([[]])
