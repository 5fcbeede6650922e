"""Heads: what they refuse, and that a call that fails changes nothing."""

import numpy as np
import pytest
from conftest import array, normal, same

from attention import MultiHeadAttention, split_heads
from attention.heads import Cache


def test_a_call_that_fails_leaves_the_cache_as_it_was():
    run, x, cache = MultiHeadAttention(8, 2), array(normal(3, 8)), Cache()
    with pytest.raises(ValueError, match="mask"):
        run(x, mask=array(np.ones((2, 2), bool)), cache=cache)
    same(run(x, cache=cache), run(x))
    assert len(cache) == 3


@pytest.mark.parametrize("heads", [3, 0, -2])
def test_heads_that_do_not_divide_the_width(heads):
    with pytest.raises(
        ValueError, match=f"{heads} (heads do not divide the width 8|is not at)"
    ):
        MultiHeadAttention(8, heads)


def test_rope_needs_heads_of_even_width():
    with pytest.raises(ValueError, match="width 3 is not even .*rope turns"):
        MultiHeadAttention(6, 2, rope=True)


@pytest.mark.parametrize("shape", [(8,), (5, 7)])
def test_an_input_of_another_shape_is_refused(shape):
    with pytest.raises(
        ValueError, match=r"MultiHeadAttention: .*(T, d\)|sizes 7 and 8)"
    ):
        MultiHeadAttention(8, 2)(array(normal(*shape)))


@pytest.mark.parametrize("shape", [(8,), (5, 7)])
def test_what_cannot_be_split_into_heads_is_refused(shape):
    with pytest.raises(
        ValueError, match=r"split_heads: .*(T, d\)|2 heads do not divide)"
    ):
        split_heads(array(normal(*shape)), 2)


def test_queries_keys_and_values_are_all_made_from_x():
    heads = MultiHeadAttention(4, 2)
    x = array(np.ones((3, 4)), "f4")
    with pytest.raises(TypeError, match="MultiHeadAttention: .*a cache of ndarray"):
        heads(x, None, x)
