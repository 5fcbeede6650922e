"""Why a hard lookup cannot learn: it stays, then it jumps.

Question. Walk a query from the vector of "paris" to that of "london" and look up the
latitude of the country at each step. How does the answer change with the query?

Guess. Bit by bit, as the query does, so that one could feel which way to go.

Formula. With q(t) = (1 - t) k_paris + t k_london, three lookups of the same values:

    hard           v of the key that equals q, else nothing
    nearest        v of the key with the highest score q · k
    soft           Σᵢ αᵢ vᵢ,   α = softmax(q · k / T)

What to look at. The first two are flat wherever they are defined, so their slope, below,
says nothing about which way the answer lies, and descent along it goes nowhere. The soft
one has a slope all the way, and the engine's gradient is that slope. A lower T makes it
more like the nearest key: steeper in the middle, flatter at the ends.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from attention import dot, hard_lookup, soft_lookup
from minigrad import Tensor, backend

from ..stage import datasets
from ..stage.drawing import KEY, VALUE
from ..stage.words import number, small

STEPS = 200
TEMPERATURES = (0.02, 0.05)


def walk(data, temperature, start="paris", end="london"):
    """Return t and, at each, the latitude by the hard lookup (NaN for a miss), of the
    nearest key, and by the soft lookup, and d soft / dt by the engine: (STEPS + 1,)."""
    xp, names = backend.xp, data["key_text"].tolist()
    keys, values = xp.asarray(data["keys"]), xp.asarray(data["value_numbers"][:, :1])
    a, b = keys[names.index(start)], keys[names.index(end)]
    rows = []
    for t in map(Tensor, np.linspace(0.0, 1.0, STEPS + 1)):
        q = (1 - t) * a + t * b
        soft = soft_lookup(q, keys, values, temperature)[0]
        soft.backward()
        q = q.detach()
        hard = hard_lookup(q, keys, values[:, 0], default=math.nan)
        best = int(dot(q[None], keys)[0].argmax())
        rows.append([float(x) for x in (t, hard, values[best, 0], soft, t.grad)])
    return np.array(rows).T


def draw(walks):
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(6.8, 5.2), sharex=True, height_ratios=(3, 2)
    )
    for temperature, style in zip(TEMPERATURES, ("--", "-"), strict=True):
        t, hard, nearest, soft, slope = walks[temperature]
        look = {"color": VALUE, "linestyle": style, "label": f"soft, T = {temperature}"}
        above.plot(t, soft, **look)
        below.plot(t, slope, **look)
    stays = np.where(np.diff(nearest, append=nearest[-1]) == 0, nearest, np.nan)
    look = {"color": KEY, "linewidth": 3.5, "alpha": 0.7, "label": "nearest key"}
    above.plot(t, stays, **look)
    below.plot(t, 0 * stays, **look)
    above.plot(t, hard, "o", color="black", label="hard: an equal key, or nothing")
    jump = t[np.isnan(stays)].mean()
    below.annotate(
        "here it jumps:\nno slope at all",
        (jump, 0),
        (0.68, 34),
        arrowprops={"arrowstyle": "->", "color": KEY},
        color=KEY,
    )
    above.set_ylabel("latitude of the answer\n/ degrees north")
    above.set_title("Hard answers stay or jump; the soft one slides")
    above.legend()
    below.set_title("Only the soft one has a slope to learn from")
    below.set_ylabel("slope / degrees\nfor the whole way")
    below.set(xlabel='way of the query from "paris" to "london"')
    return figure


def demo(page):
    data = datasets.capitals()
    walks = {T: walk(data, T) for T in TEMPERATURES}
    page.picture(draw(walks), "jump")

    t, hard, nearest, soft, slope = walks[0.05]
    moved = np.diff(nearest) != 0
    page.claim(
        "A1",
        "A hard lookup finds the equal key or nothing, and its slope is 0 wherever"
        " there is one.",
        r"$i^\star=\arg\max_i\,1[k_i=q],\quad\partial v_{i^\star}/\partial q=0$",
        f"an answer at {np.isfinite(hard).sum()} of {len(t)} points; the nearest key's"
        f" stays for {(~moved).sum()} steps and jumps by"
        f" {np.abs(np.diff(nearest)).sum():.0f}° at {moved.sum()}",
        np.isfinite(hard).sum() == 2 and moved.sum() == 1,
        hard_lookup,
    )
    differences = (soft[2:] - soft[:-2]) / (t[2:] - t[:-2])
    off = np.abs(differences - slope[1:-1]).max() / np.abs(slope).max()
    page.claim(
        "A1",
        "The soft lookup is smooth, and the engine finds its slope at every step.",
        r"$\partial\,attn/\partial q$",
        f"slope {number(round(slope.min(), 2))} to {slope.max():.1f}° for the whole way;"
        f" finite differences agree to {small(off)} of the largest",
        off < 1e-3 and (slope != 0).all(),
        soft_lookup,
    )
