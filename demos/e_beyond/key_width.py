"""Key width: a hard dictionary needs two dimensions, a blend of m keys up to m - 1.

Question. How wide must queries and keys be, so that any weights can be had?

Guess. To choose among m keys takes m dimensions, one for each.

Formula. The scores Q Kᵀ are a matrix of rank d_k at most, and softmax does not see a
constant that is added to all scores of a query:

    log α = Q Kᵀ - a constant per row            rank ≤ d_k, but for those constants

A target with m different keys can need rank m - 1. To find one key, however, two
dimensions do: put the keys on a circle; each is the furthest in its own direction, and
a long query in that direction picks it alone. One dimension has two ends, for two keys.

What to look at. Left: how far the best Q and K stay from a dense target falls with every
dimension until m - 1; a permutation, one key for each query, is there at two. Right:
those keys in the plane, where training put them, and the directions of their queries.

Bhojanapalli et al., "Low-Rank Bottleneck in Multi-head Attention Models" (2020), call
widths below the number of keys a bottleneck. That is for any weights, and one less is
enough; sharp ones pass it easily. Here Q and K are free: in a layer they are made from
vectors of a width of their own. That many narrow heads can not always do what one wide
one does, Amsel et al., "On the Benefits of Rank in Attention Layers" (2024), was not
tried.
"""

import matplotlib.pyplot as plt
import numpy as np

from minigrad import Tensor, log_softmax, softmax
from minigrad import backend as B

from .descent import minimise

KEYS = 24
DENSE, ONE_HOT = (1, 2, 4, 8, 16, 23, 24), (1, 2, 4)  # widths that are tried


def targets(seed=0, m=KEYS):
    """Return weights (m, m) to be had: dense ones, and a permutation."""
    rng = np.random.default_rng(seed)
    dense = softmax(Tensor(2 * rng.normal(size=(m, m)))).numpy()
    return dense, np.eye(m)[rng.permutation(m)]


def fit(target, widths, steps=1500, seed=0):
    """Return for each width d_k the mean KL divergence from the target (m, m) that is
    left, log α (widths, m, m), and Q and K, zeros beyond d_k (widths, m, m)."""
    m, rng = len(target), np.random.default_rng(seed)
    used = np.arange(m) < np.array(widths)[:, None, None]  # (widths, 1, m)
    # a 0 in Q that meets a 0 in K gets no gradient, and so stays 0
    Q, K = (Tensor(rng.normal(size=(len(widths), m, m)) * used) for _ in "QK")
    P = B.xp.asarray(target)
    entropy = -np.log(target, where=target > 0, out=np.zeros_like(target))
    entropy = B.xp.asarray((target * entropy).sum(axis=1))  # (m,)

    def weights():
        log_A = log_softmax(Q @ K.swapaxes(-1, -2))  # (widths, m, m)
        return log_A, (-(P * log_A).sum(axis=-1) - entropy).mean(axis=-1)  # (widths,)

    # the widths have no parameter in common, so the sum trains each as if alone
    minimise(lambda: weights()[1].sum(), [Q, K], steps, 0.05, "key_width")
    log_A, divergence = weights()
    return divergence.numpy(), log_A.numpy(), Q.numpy(), K.numpy()


def rank(log_A):
    """Return the rank of log α (m, m) without a constant per row."""
    centred = log_A - log_A.mean(axis=1, keepdims=True)
    return np.linalg.matrix_rank(centred, tol=1e-9 * np.linalg.norm(centred))


def draw(dense, one_hot, Q, K):
    """Draw what is left by width, and queries and keys (m, 2) in the plane."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.8, 4.0))
    left.plot(DENSE, dense, "o-", label="dense weights")
    left.plot(ONE_HOT, one_hot, "s--", label="one key for each query")
    left.set(xlabel="width $d_k$ of queries and keys", ylabel="KL divergence / nats")
    left.set(title=f"Any blend of {KEYS} keys takes {KEYS - 1} dimensions")
    left.set_xticks(DENSE[:-1])
    left.legend()
    reach = np.linalg.norm(K, axis=1).max()
    towards = 1.3 * reach * Q / np.linalg.norm(Q, axis=1, keepdims=True)
    for end in towards:
        right.plot(*np.stack([0 * end, end]).T, color="0.8", linewidth=1, zorder=0)
    right.plot(*K.T, "o", color="C1", label="keys")
    right.plot([], [], color="0.8", label="directions of the queries")
    right.set(title="One key for each query takes two", aspect="equal")
    right.set(xlabel="dimension 1", ylabel="dimension 2")
    right.set_ylim(-1.8 * reach)
    right.legend(loc="lower center", ncols=2, fontsize=9, columnspacing=1)
    return figure


def demo(page):
    dense_target, permutation = targets()
    dense, log_A, _, _ = fit(dense_target, DENSE)
    one_hot, _, Q, K = fit(permutation, ONE_HOT)
    ranks = [rank(scores) for scores in log_A]
    rows = [[d, *row, "-"] for d, *row in zip(DENSE, ranks, dense, strict=True)]
    for width, left in zip(ONE_HOT, one_hot, strict=True):
        rows[DENSE.index(width)][-1] = f"{left:.4g}"
    page.say(f"{KEYS} keys. What is left, in nats, after training free Q and K:")
    page.table(["d_k", "rank of log α", "dense weights", "a permutation"], rows)
    page.picture(draw(dense, one_hot, Q[1, :, :2], K[1, :, :2]), "key_width")
    left = dict(zip(DENSE, dense, strict=True))
    page.claim(
        "E5",
        "A hard dictionary needs two dimensions; a blend of m keys up to m - 1.",
        r"$rank\,(\log\alpha)\leq d_k$, but for a constant per row",
        f"a permutation of {KEYS} is off by {one_hot[1]:.4f} nats at 2 dimensions,"
        f" {one_hot[0]:.1f} at 1; dense weights by {left[8]:.2f}, {left[16]:.4f} and"
        f" {left[23]:.4f} at 8, 16 and 23",
        one_hot[0] > 1.5
        and one_hot[1] < 0.01
        and left[8] > 0.03
        and left[16] > 5 * left[23]
        and left[23] < 1e-3
        and ranks == [min(d, KEYS - 1) for d in DENSE],
        softmax,
    )
