"""Cases from the field, numbered as in the list of them: attention."""

import numpy as np
import pytest
from conftest import array, normal, same

from attention import attention
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
