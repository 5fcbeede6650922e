"""Texts of several lengths in one batch: what is padding counts for nothing."""

import numpy as np
import pytest
from conftest import array, close, same
from qkv import qkv

from attention import attention, padding_mask
from minigrad import backend as B


def test_padding_counts_for_no_query_of_its_text():
    Q, K, V = qkv(front=(3,), make=lambda x, _: x)  # three texts, 4 queries, 5 keys
    mask = padding_mask([5, 2, 0], 5)
    assert (mask.shape, mask.dtype) == ((3, 1, 5), bool)
    Y = B.to_numpy(attention(*map(array, (Q, K, V)), mask=mask))
    for i, length in enumerate([5, 2]):
        unpadded = array(Q[i]), array(K[i, :length]), array(V[i, :length])
        close(Y[i], attention(*unpadded), atol=1e-14)
    same(Y[2], np.zeros_like(Y[2]))


@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        ([1, 6], IndexError, "6 is outside"),
        ([-1, 2], IndexError, "-1 is outside"),
        ([1.0, 2.0], TypeError, "expected integers"),
        ([[1, 2]], ValueError, "must be"),
        (3, ValueError, "must be"),
    ],
)
def test_lengths_that_no_text_has_are_refused(lengths, error, message):
    with pytest.raises(error, match=f"^padding_mask: .*{message}"):
        padding_mask(lengths, 5)
