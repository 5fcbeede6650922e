"""Writing with a language model: which token comes next, with and without a cache."""

import numpy as np
import pytest
from conftest import same
from models import both, gpt

from attention import GPT, generate
from attention.gpt import choose
from minigrad import nn
from minigrad.backend import to_numpy


@both
@pytest.mark.parametrize("temperature", [0, 1.0])
def test_with_a_cache_the_same_text_is_written(positions, temperature):
    model = gpt(positions, std=0.5)
    for prompt in ([3], [1, 2, 4], [0, 1, 2, 3, 4, 3, 2, 1, 0]):
        texts = [
            generate(model, prompt, 12, temperature, seed=4, cache=cache)
            for cache in (True, False)
        ]
        same(*texts)
        same(texts[0][: len(prompt)], prompt)
        assert len(texts[0]) == len(prompt) + 12


def test_greedy_takes_the_likeliest_token_each_time():
    model = gpt(std=0.5)
    text = [3]
    for _ in range(8):
        logits = to_numpy(model([text[-6:]]))
        text.append(int(logits[0, -1].argmax()))
    same(generate(model, [3], 8, temperature=0), text)
    same(generate(model, [3], 8, top_k=1), text)


def test_a_seed_repeats_the_text_and_another_one_does_not():
    model = gpt()
    texts = [generate(model, [3], 12, seed=seed).tolist() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_top_k_above_the_vocabulary_is_the_vocabulary():
    model = gpt()
    text = generate(model, [3], 9, top_k=99)
    same(text, generate(model, [3], 9, top_k=5))
    same(text, generate(model, [3], 9))


def test_only_the_last_context_of_a_long_prompt_counts():
    model = gpt(std=0.5)
    long = np.arange(20) % 5
    same(generate(model, long, 9)[20:], generate(model, long[-6:], 9)[6:])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_tokens_are_drawn_from_softmax_of_the_top_k(temperature):
    logits = np.array([1.0, 3.0, -1.0, 2.0])
    p = np.exp(logits / temperature) * [1, 1, 0, 1]
    p /= p.sum()
    rng = np.random.default_rng(0)
    drawn = [choose(logits, temperature, 3, rng) for _ in range(4000)]
    share = np.bincount(drawn, minlength=4) / 4000
    assert share[2] == 0
    assert (abs(share - p) <= 4 * np.sqrt(p * (1 - p) / 4000)).all()


def test_no_temperature_is_too_low_or_too_high():
    logits, rng = np.array([0.0, 80.0, 80.1], "f4"), np.random.default_rng(0)
    assert {choose(logits, 1e-300, None, rng) for _ in range(20)} == {2}
    assert {choose(logits, 1e300, None, rng) for _ in range(60)} == {0, 1, 2}


def test_writing_drops_nothing_out_and_leaves_the_mode_as_it_was():
    nn.seed(0)
    model = GPT(5, 6, 8, 2, 2, dropout=0.5)
    same(generate(model, [1], 9), generate(model, [1], 9, cache=False))
    assert model.training
    assert model.blocks[0].mlp.dropout.training
    model.eval()
    generate(model, [1], 1)
    assert not model.training


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"prompt": []}, ValueError, "at least one id"),
        ({"prompt": [[1, 2]]}, ValueError, "a row"),
        ({"prompt": [9, 1, 1, 1, 1, 1, 1, 1]}, IndexError, r"generate: 9 is outside"),
        ({"n": -1}, ValueError, "n -1"),
        ({"temperature": -1.0}, ValueError, "temperature -1.0"),
        ({"temperature": float("nan")}, ValueError, "temperature nan"),
        ({"top_k": 0}, ValueError, "top_k 0"),
    ],
)
def test_what_cannot_be_written(how, error, message):
    with pytest.raises(error, match=message):
        generate(**{"model": gpt(), "prompt": [1], "n": 2} | how)
