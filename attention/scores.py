"""How alike are a query and a key? Five answers more, after `dot` in lookup.py.

A score takes queries Q (…, n, d_q) and keys K (…, m, d_k) and returns the scores
(…, n, m) of all pairs, higher for more alike. Three have parameters, and those you call
first: gaussian(sigma), bilinear(W) and additive(W_q, W_k, v) return a score.

Letters: n queries, m keys, d_q and d_k their widths, d if these must be equal, h the
hidden width of the additive score; … any axes in front, which broadcast.
"""

import math

from minigrad import norm, sum, tanh, where
from minigrad.checks import above, takes

from .lookup import dot


@takes("… n d, … m d")
def scaled_dot(Q, K):
    """Return q · k / √d, whose size does not grow with the width d.

    Where the entries of q and k are independent, of mean 0 and variance 1, q · k is a sum
    of d products of variance 1 and has variance d. Undivided, softmax saturates and its
    gradient vanishes. Vaswani et al., "Attention Is All You Need" (2017), eq. 1.
    """
    d = max(Q.shape[-1], 1)  # vectors without numbers score 0, not 0 / 0
    # math.sqrt gives a Python number; np.sqrt(d) would make float64 of float32
    return dot(Q / math.sqrt(d), K)  # (…, n, m); Q usually has fewer numbers


@takes("… n d, … m d")
def cosine(Q, K):
    """Return q · k / (‖q‖ ‖k‖), in [-1, 1]: direction counts, length does not.

    A zero vector has no direction and scores 0.
    """
    return dot(unit(Q), unit(K))  # (…, n, m)


def unit(x):
    """Return the vectors x (…, d) at length 1; those of length 0 stay, as does their g."""
    length = norm(x, axis=-1, keepdims=True)  # (…, 1)
    return x / where(length == 0, 1.0, length)


@takes(sigma=above(0))
def gaussian(sigma):
    """Return the score -‖q - k‖² / (2 σ²): near is alike, and σ says how near.

    sigma > 0 is a number or a Tensor, in the units of q and k. Softmax of this score
    gives the weights of Nadaraya-Watson regression (Nadaraya 1964; Watson 1964). The
    differences of all pairs take n m d numbers; ‖q‖² + ‖k‖² - 2 q · k would take less
    and lose the digits where q ≈ k.
    """

    @takes("… n d, … m d")
    def score(Q, K):
        difference = Q[..., :, None, :] - K[..., None, :, :]  # (…, n, m, d)
        return sum(difference * difference, axis=-1) / (-2 * sigma * sigma)  # (…, n, m)

    return score


@takes("d_q d_k")
def bilinear(W):
    """Return the score q W kᵀ with W (d_q, d_k): what counts as alike is learned.

    Luong et al. (2015), section 3.1, "general"; with the identity as W it is `dot`.
    """

    @takes(f"… n {W.shape[0]}, … m {W.shape[1]}")
    def score(Q, K):
        return dot(Q @ W, K)  # (…, n, d_k), (…, m, d_k) -> (…, n, m)

    return score


@takes("d_q h, d_k h, h")
def additive(W_q, W_k, v):
    """Return the score v · tanh(q W_q + k W_k), a network of one hidden layer.

    W_q (d_q, h), W_k (d_k, h), v (h,). The hidden layer of all pairs takes n m h
    numbers. Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align
    and Translate" (2014), appendix A.1.2.
    """

    @takes(f"… n {W_q.shape[0]}, … m {W_k.shape[0]}")
    def score(Q, K):
        hidden = (Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :]  # (…, n, m, h)
        return tanh(hidden) @ v  # (…, n, m)

    return score
