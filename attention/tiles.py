"""The n × m scores of attention cut into tiles.

Letters: n queries, m keys, d_k and d_v the widths of keys and values; b queries q and c
keys k with values v in a tile; … any axes in front, which broadcast.
"""

import itertools
import math

from minigrad import backend


class Tiles:
    """The scores of one call, (n, m) at each place in the batch, cut into tiles."""

    def __init__(self, Q, K, V, mask, causal, block):
        n, m = Q.shape[-2], K.shape[-2]
        front = [x.shape[:-2] for x in (Q, K, V, mask) if x is not None]
        self.front = front = backend.xp.broadcast_shapes(*front)
        self.batch = list(itertools.product(*map(range, front)))  # (…) of each place
        self.Q, self.K, self.V = (  # (…, n, d_k), (…, m, d_k), (…, m, d_v)
            backend.xp.broadcast_to(x, front + x.shape[-2:])
            for x in map(backend.widened, (Q, K, V))  # float16 holds no sum of 70,000
        )
        self.mask = (
            None if mask is None else backend.xp.broadcast_to(mask, (*front, n, m))
        )
        self.causal, self.late = causal, m - n  # query i stands at key i + late
        self.scale = 1 / math.sqrt(max(Q.shape[-1], 1))
        # If causal, half of the tile at the diagonal is computed for nothing, so low
        # tiles waste less.
        height = -(-block // 2) if causal else block
        self.rows = [slice(i, min(i + height, n)) for i in range(0, n, height)]
        self.m, self.block = m, block
        # A smaller tile is done before a thread has woken up.
        self.large = min(height, n) * min(block, m) >= 2**16

    def run(self, f, calls):
        """Yield f(*args) for all args in calls; in all cores if that is worth it."""
        threads = self.large and len(calls) > 1
        return backend.in_threads(f, calls) if threads else itertools.starmap(f, calls)

    def keys_of(self, rows):
        """Return the keys that these rows meet, tile by tile; if causal, no later ones."""
        end = min(self.m, rows.stop + self.late) if self.causal else self.m
        starts = range(0, end, self.block)
        return [slice(j, min(j + self.block, end)) for j in starts]

    def allowed(self, place, rows, keys):
        """Return which pairs of a tile may meet, (b, c), or True for all, None for none.

        On a GPU this waits for the mask, if there is one.
        """
        allowed, late = True, self.late
        if self.causal and keys.stop - 1 > rows.start + late:
            b, c = rows.stop - rows.start, keys.stop - keys.start
            allowed = backend.xp.tri(b, c, rows.start + late - keys.start, dtype=bool)
        if self.mask is not None:
            allowed = self.mask[place][rows, keys] & allowed  # (b, c)
            if not allowed.any():
                return None
            if allowed.all():
                return True
        return allowed

    def scores(self, place, rows, keys, allowed):
        """Return the scores of a tile, -inf where not allowed, and its q, k and v."""
        q = self.Q[place][rows] * self.scale  # (b, d_k)
        k, v = self.K[place][keys], self.V[place][keys]  # (c, d_k), (c, d_v)
        if allowed is True:
            return q @ k.T, q, k, v
        if self.mask is not None:  # as in `partners`: 0 · NaN is NaN
            asks, used = allowed.any(axis=1)[:, None], allowed.any(axis=0)[:, None]
            where = backend.xp.where
            q, k, v = where(asks, q, 0.0), where(used, k, 0.0), where(used, v, 0.0)
        return backend.xp.where(allowed, q @ k.T, -math.inf), q, k, v  # (b, c)
