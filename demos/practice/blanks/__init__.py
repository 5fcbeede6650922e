"""The blanks, from the warm-up to the whole idea, one file each."""

from . import (
    attention,
    causal_mask,
    fit,
    getitem,
    log_softmax,
    matmul,
    maximum,
    product,
    rms_norm,
    soft_lookup,
    softmax,
    split_heads,
)

FILES = [
    product,
    matmul,
    softmax,
    log_softmax,
    rms_norm,
    getitem,
    maximum,
    fit,
    soft_lookup,
    attention,
    causal_mask,
    split_heads,
]
BLANKS = {file.BLANK.name: file.BLANK for file in FILES}
