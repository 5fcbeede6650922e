"""Tiled attention at its limits: memory, and what it refuses."""

import tracemalloc

import numpy as np
import pytest
from conftest import array, normal, numpy_only
from qkv import qkv

from attention import attention, tiled_attention
from minigrad import backend as B


def extra(n, d=8):
    """Return the peak beyond inputs, output and gradients of a pass, in bytes."""
    leaves = qkv(n, n, d, d, dtype="f4")
    g = array(normal(n, d), "f4")
    tracemalloc.start()
    tiled_attention(*leaves, causal=True, block=64).backward(g)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - 4 * g.nbytes


@numpy_only
def test_memory_grows_like_the_inputs_not_like_the_matrix():
    small, large = extra(512), extra(2048)
    assert large < 4.4 * small  # 16 times if a matrix were stored
    assert large < 2048**2 * 4 / 10
    # Each row is 8 numbers here, and 64 at n = 32768: that, and the tiles of 256, leave
    # the peak below 64 MiB.
    assert (large - small) / (2048 - 512) * 8 * 32768 < 60 * 2**20


BAD = [
    ({"block": 0}, ValueError, "block 0 is not at least 1"),
    ({"block": -3}, ValueError, "block -3 is not at least 1"),
    ({"block": 2.0}, TypeError, "block 2.0 is not an integer"),
    ({"block": "2"}, TypeError, "block '2' is not an integer"),
    ({"mask": np.ones((4, 5))}, TypeError, "the mask is float64, not boolean"),
    ({"mask": np.ones((4, 4), bool)}, ValueError, r"\(4, 4\) does not broadcast"),
    ({"mask": np.ones((3, 4, 5), bool)}, ValueError, r"\(3, 4, 5\) does not broadcast"),
    ({"V": np.ones((2, 4, 2))}, ValueError, "m is both 5 and 4"),
    ({"K": np.ones((2, 5, 4))}, ValueError, "d is both 3 and 4"),
    ({"K": np.ones((3, 5, 3)), "V": np.ones((5, 2))}, ValueError, "do not broadcast"),
    ({"Q": np.ones(3)}, ValueError, r"\(3,\) has 1 axes"),
    ({"V": np.ones((2, 5, 2), "f4")}, TypeError, "float64, float64, float32"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD)
def test_bad_input_is_refused_by_name(change, error, message):
    inputs = dict(zip("QKV", qkv(front=(2,), make=array), strict=True))
    inputs |= {k: array(x) if hasattr(x, "shape") else x for k, x in change.items()}
    with pytest.raises(error, match=f"tiled_attention: .*{message}"):
        tiled_attention(**inputs)


def test_attention_refuses_a_size_beyond_memory_and_says_what_to_do(monkeypatch):
    x = array(np.zeros((2**20, 1)), "f4")
    monkeypatch.setattr(B, "free_memory", lambda: 2**34)
    with pytest.raises(MemoryError, match=r"4096\.0 GiB.* 16\.0 GiB.*tiled_attention"):
        attention(x, x, x)
    x = array(np.zeros((8, 4, 2**14, 1)), "f4")  # 1 GiB for each of 32 heads
    with pytest.raises(
        MemoryError, match=r"\(8, 4, 16384, 16384\) take 32\.0 GiB each"
    ):
        attention(x, x, x)
