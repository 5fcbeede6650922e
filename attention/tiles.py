"""The n × m scores of attention cut into tiles, and all cores at work on them.

Letters: n queries, m keys, d_k and d_v the widths of keys and values; b queries q and c
keys k with values v in a tile; … any axes in front, which broadcast.
"""

import contextlib
import itertools
import math
import os
import threading

from threadpoolctl import ThreadpoolController

from minigrad import backend as B
from minigrad.threads import in_threads

BLAS = ThreadpoolController().select(user_api="blas")  # who computes NumPy's products
BUSY = threading.RLock()  # held while BLAS is limited; again by a fork in there


class Tiles:
    """The scores of one call, (n, m) at each place in the batch, cut into tiles."""

    def __init__(self, Q, K, V, mask, causal, block):
        n, m = Q.shape[-2], K.shape[-2]
        front = [x.shape[:-2] for x in (Q, K, V, mask) if x is not None]
        self.front = front = B.xp.broadcast_shapes(*front)
        self.batch = list(itertools.product(*map(range, front)))  # (…) of each place
        self.Q, self.K, self.V = (  # (…, n, d_k), (…, m, d_k), (…, m, d_v)
            B.xp.broadcast_to(x, front + x.shape[-2:]) for x in (Q, K, V)
        )
        self.mask = None if mask is None else B.xp.broadcast_to(mask, (*front, n, m))
        self.causal, self.late = causal, m - n  # query i stands at key i + late
        self.scale = 1 / math.sqrt(max(Q.shape[-1], 1))
        self.rows = [slice(i, min(i + block, n)) for i in range(0, n, block)]
        self.keys = [slice(j, min(j + block, m)) for j in range(0, m, block)]
        # A smaller tile is done before a thread has woken up.
        self.large = min(block, n) * min(block, m) >= 2**16

    def keys_of(self, rows):
        """Return the keys that these rows meet, tile by tile; if causal, no later ones."""
        last = rows.stop - 1 + self.late
        return [keys for keys in self.keys if not self.causal or keys.start <= last]

    def allowed(self, at, rows, keys):
        """Return which pairs of a tile may meet, (b, c), or True for all, None for none.

        On a GPU this waits for the mask, if there is one.
        """
        allowed, late = True, self.late
        if self.causal and keys.stop - 1 > rows.start + late:
            b, c = rows.stop - rows.start, keys.stop - keys.start
            allowed = B.xp.tri(b, c, rows.start + late - keys.start, dtype=bool)
        if self.mask is not None:
            allowed = self.mask[at][rows, keys] & allowed  # (b, c)
            if not allowed.any():
                return None
            if allowed.all():
                return True
        return allowed

    def scores(self, at, rows, keys, allowed):
        """Return the scores of a tile, -inf where not allowed, and its q, k and v."""
        q = self.Q[at][rows] * self.scale  # (b, d_k)
        k, v = self.K[at][keys], self.V[at][keys]  # (c, d_k), (c, d_v)
        if allowed is True:
            return q @ k.T, q, k, v
        if self.mask is not None:  # as in `partners`: 0 · NaN is NaN
            asks, used = allowed.any(axis=1)[:, None], allowed.any(axis=0)[:, None]
            where = B.xp.where
            q, k, v = where(asks, q, 0.0), where(used, k, 0.0), where(used, v, 0.0)
        return B.xp.where(allowed, q @ k.T, -math.inf), q, k, v  # (b, c)


@contextlib.contextmanager
def workers(large=True):
    """Yield a function `run(f, calls)` that yields f(*args) for all args in calls.

    The calls are made in all cores at once. BLAS keeps to one thread meanwhile, or its
    threads and ours would fight for the cores. That setting holds for the whole
    process, so only one block `with workers()` at a time has threads.

    The calls are made one by one if they are not large, or if BLAS has one thread as it
    is (the user or another block limited it) or cannot be limited, and on a GPU, where
    each operation is parallel in itself.
    """
    limited = all(blas.num_threads == 1 for blas in BLAS.lib_controllers)
    if limited or not large or B.xp.__name__ != "numpy":
        yield itertools.starmap
        return
    with BUSY, BLAS.limit(limits=1):
        yield in_threads


# A fork waits until no tiles are computed, or its copy of the lock would stay locked,
# and its BLAS limited.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=BUSY.acquire,
        after_in_parent=BUSY.release,
        after_in_child=BUSY.release,
    )
