"""How alike are a query and a key? Six answers, each for all pairs at once.

A score takes queries Q (…, n, d_q) and keys K (…, m, d_k) and returns the scores (…, n,
m), higher for more alike. Those with parameters are functions that return the score:
gaussian(sigma), bilinear(W), additive(…).

Letters: n queries, m keys, d their width, h the hidden width of the additive score.
"""

import math

from minigrad import norm, sum, tanh, where


def dot(Q, K):
    """Return q · k: large where both are long and point the same way.

    Luong et al., "Effective Approaches to Attention-based NMT" (2015), eq. 8.
    """
    same_width("dot", Q, K)
    return Q @ K.swapaxes(-1, -2)  # (…, n, d) @ (…, d, m) -> (…, n, m)


def scaled_dot(Q, K):
    """Return q · k / √d: of variance 1 where the entries of q and k are independent
    with variance 1.

    Vaswani et al., "Attention Is All You Need" (2017), eq. 1. Without the root the
    scores grow with d, softmax saturates, and its gradient vanishes.
    """
    same_width("scaled_dot", Q, K)
    d = Q.shape[-1]
    Q = Q * (1 / math.sqrt(max(d, 1)))  # (…, n, d), fewer numbers than the scores
    return Q @ K.swapaxes(-1, -2)  # (…, n, d) @ (…, d, m) -> (…, n, m)


def cosine(Q, K):
    """Return q · k / (‖q‖ ‖k‖), in [-1, 1]: direction counts, length does not.

    A zero vector has no direction and scores 0.
    """
    same_width("cosine", Q, K)
    return unit(Q) @ unit(K).swapaxes(-1, -2)  # (…, n, m)


def unit(x):
    """Return the vectors x (…, d) at length 1, and zero vectors as they are."""
    length = norm(x, axis=-1, keepdims=True)  # (…, 1)
    return x / where(length == 0, 1.0, length)


def gaussian(sigma):
    """Return the score -‖q - k‖² / (2 σ²), with σ > 0 in the units of q and k, a number
    or a Tensor.

    Softmax of it gives the weights of Nadaraya-Watson regression (Nadaraya 1964; Watson
    1964). The differences of all pairs take n m d numbers; ‖q‖² + ‖k‖² - 2 q · k would
    take less and lose the digits where q ≈ k.
    """
    if getattr(sigma, "size", 1) != 1 or not sigma > 0:
        raise ValueError(f"gaussian: sigma {sigma} is not one number above 0")

    def score(Q, K):
        same_width("gaussian", Q, K)
        difference = Q[..., :, None, :] - K[..., None, :, :]  # (…, n, m, d)
        return sum(difference * difference, axis=-1) / (-2 * sigma * sigma)  # (…, n, m)

    return score


def bilinear(W):
    """Return the score q W kᵀ with W (d_q, d_k): what counts as alike is learned.

    Luong et al. (2015), eq. 8, "general".
    """
    if W.ndim != 2:
        raise ValueError(f"bilinear: W must be (d_q, d_k), got shape {W.shape}")

    def score(Q, K):
        check_widths("bilinear", Q, K, W.shape[0], W.shape[1])
        return (Q @ W) @ K.swapaxes(-1, -2)  # (…, n, d_k) @ (…, d_k, m) -> (…, n, m)

    return score


def additive(W_q, W_k, v):
    """Return the score v · tanh(q W_q + k W_k) with W_q (d_q, h), W_k (d_k, h), v (h,),
    a small network.

    Bahdanau et al. (2014), appendix A.1.2. It takes n m h numbers.
    """
    if (W_q.ndim, W_k.ndim) != (2, 2) or not W_q.shape[1:] == W_k.shape[1:] == v.shape:
        raise ValueError(
            f"additive: W_q {W_q.shape}, W_k {W_k.shape} and v {v.shape} must be "
            "(d_q, h), (d_k, h) and (h,)"
        )

    def score(Q, K):
        check_widths("additive", Q, K, W_q.shape[0], W_k.shape[0])
        hidden = (Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :]  # (…, n, m, h)
        return tanh(hidden) @ v  # (…, n, m)

    return score


def same_width(name, Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"{name}: queries {Q.shape} and keys {K.shape} differ in their last axis; "
            "bilinear joins them"
        )


def check_widths(name, Q, K, d_q, d_k):
    if (Q.shape[-1], K.shape[-1]) != (d_q, d_k):
        raise ValueError(
            f"{name}: queries {Q.shape} and keys {K.shape} must have the widths of the "
            f"parameters, {d_q} and {d_k}"
        )
