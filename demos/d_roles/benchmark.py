"""Benchmark: how much longer attention takes than its matrix products.

Question. Milliseconds depend on the machine. How fast is attention as written here?

Guess. In Python, many times slower than the matrix products that it consists of.

Formula. There and back, attention has six matrix products,

    S = Q Kᵀ    Y = A V    dA = g Vᵀ    dV = Aᵀ g    dQ = dS K    dK = dSᵀ Q

which NumPy hands to the same tuned library whoever asks. They are the floor, and times
are given as multiples of it: what softmax, its gradient and the bookkeeping add. All
forms take turns in one process, and must arrive at the same gradients. (What minigrad
sets for NumPy's products holds for the whole process, and so serves the others too.)

What to look at. The columns "x floor". Then the growth: time is quadratic in n whatever
the form, memory need not be.

Letters: h heads, n positions, d = 64 their width. Numbers are float32.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
import threadpoolctl

from attention import attention, tiled_attention
from minigrad import backend as B

from ..stage import apart, peers
from ..stage.steps import chain, chain_by_hand, six_products, step_of
from ..stage.timing import peak, rows, seconds, slope, take_turns
from ..stage.words import small

D = 64
SIZES = (12, 128, 60), (8, 512, 20), (1, 1024, 40), (1, 4096, 6)  # h, n, rounds
LENGTH = 1000  # of the chain: 2,000 ops
GROWTH = {  # up to 8192 the matrices fit; from there on tiles take little of the peak
    "attention": (attention, (1024, 2048, 4096, 8192)),
    "tiled_attention": (tiled_attention, (8192, 16384, 32768)),
}
OVERTAKING = 32, 64, 128, 256, 512, 1024, 2048  # where a GPU may begin to pay


def normal(*shape):
    """Return random numbers on the host."""
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


def attention_steps(h, n):
    """Return {name: step}: ours, and on the host those of other libraries."""
    *inputs, g = normal(4, h, n, D)
    steps = {
        "attention": step_of(attention, inputs, g),
        "tiled": step_of(tiled_attention, inputs, g),
        "tiled, causal": step_of(tiled_attention, inputs, g, causal=True),
    }
    if B.xp is np:
        steps |= peers.attention_steps(*inputs, g)
    return {"six products": six_products(inputs, g), **steps}


def gap(steps):
    """Return the largest difference between gradients that should be the same."""
    results = {name: [B.to_numpy(x) for x in step()] for name, step in steps.items()}
    results.pop("six products")
    plain, causal = results["attention"], results["tiled, causal"]
    return max(
        float(abs(a - b).max())
        for name, got in results.items()
        for a, b in zip(got, causal if "causal" in name else plain, strict=True)
    )


def sizes(page):
    """Show every size as a table, and what a causal mask saves."""
    for h, n, rounds in SIZES:
        steps = attention_steps(h, n)
        page.say(
            f"h = {h}, n = {n}, medians and minima of {rounds} rounds; gradients differ "
            f"by {small(gap(steps))} at most."
        )
        columns = ["", "median / ms", "minimum", "x floor", "of minima"]
        times = take_turns(steps, rounds)
        page.table(columns, rows(times, "six products", 1e-3))
        tiled, causal = (np.median(times[name]) for name in ("tiled", "tiled, causal"))
        page.say(f"Tiled attention takes {causal / tiled:.2f} of its time when causal.")


def orders(page):
    """Show what the order of imports does to the threads of OpenBLAS."""
    page.say(
        "After a product the threads of OpenBLAS keep their cores busy for 2ⁿ ticks if"
        f" {apart.SPIN} is n. minigrad sets it, if it is imported before NumPy; if not,"
        " set it in the environment. Tiled attention, which has threads of its own, as a"
        f" multiple of its six products at n = {apart.N}:"
    )
    page.table(["imported first", "x floor"], apart.tiles_by_order().items())


def overhead(page):
    """Show what an op costs beyond its arithmetic: arrays of 4 have hardly any."""
    x, a, b, g = 1 + 1e-3 * normal(4, 4).astype(float)
    steps = {
        "bare arrays": chain_by_hand(*map(B.xp.asarray, (x, a, b, g)), LENGTH),
        "minigrad": step_of(chain, (x, a, b), g, length=LENGTH),
    }
    if B.xp is np:
        steps |= peers.chain_steps(x, a, b, g, LENGTH)
    page.say(f"{2 * LENGTH} ops, products and sums in turn, on arrays of 4 float64:")
    columns = ["", "median / µs per op", "minimum", "x bare", "of minima"]
    page.table(columns, rows(take_turns(steps, 40), "bare arrays", 2e-6 * LENGTH))


def language_model(page):
    """Show a training step of the language model, beside the same model in torch."""
    if B.xp is not np or not peers.library("torch"):
        return
    from ..stage.torch_twin import race  # which imports torch

    times, gradients, losses = race()
    page.say(
        "A training step of language_model, from batch to new weights, with learned"
        " positions; two ranks if mpiexec is here. Gradients differ by"
        f" {small(gradients)} of each array's largest, losses by {small(losses)}:"
    )
    columns = ["", "median / ms", "minimum", "x torch", "of minima"]
    page.table(columns, rows(times, "torch", 1e-3))


def growth(page):
    """Show time and memory over n, and how they grow."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.8))
    slopes = {}
    for name, (f, ns) in GROWTH.items():
        times, peaks = [], []
        for n in ns:
            *inputs, g = normal(4, n, D)
            step = step_of(f, inputs, g)
            times.append(min(seconds(step) for _ in range(3 if n <= 8192 else 1)))
            peaks.append((peak(step) + 4 * g.nbytes) / 2**20)  # with its inputs
        slopes[name] = slope(ns, times), slope(ns, peaks)
        page.table([name, "time / s", "peak / MiB"], zip(ns, times, peaks, strict=True))
        for ax, values, power in zip(axes, (times, peaks), slopes[name], strict=True):
            ax.loglog(ns, values, "o-", label=f"{name}, slope {power:.2f}")
    ticks = sorted({n for _, ns in GROWTH.values() for n in ns})
    for ax in axes:
        ax.set_xticks(ticks, ticks)
        ax.minorticks_off()
        ax.set(xlabel="positions n", ymargin=0.3)  # room for the legend
        ax.legend(loc="upper left")
    axes[0].set(ylabel="time there and back / s", title="Time grows like n²")
    axes[1].set(ylabel="peak memory / MiB", title="Memory need not")
    page.picture(figure, "benchmark")
    beyond = peaks[-1] - 8 * g.nbytes / 2**20  # inputs, g, output, gradients
    page.claim(
        "D2",
        "Full attention takes memory like n², the tiled form like n.",
        r"$O(n^2)$, $O(n)$",
        f"slopes {slopes['attention'][1]:.2f} and {slopes['tiled_attention'][1]:.2f}; at "
        f"n = {n} {beyond:.0f} MiB beyond inputs, output and gradients, where the matrix "
        f"of scores would take {n * n * 4 / 2**20:.0f}",
        abs(slopes["attention"][1] - 2) < 0.1
        and abs(slopes["tiled_attention"][1] - 1) < 0.1
        and beyond < 64,
        tiled_attention,
    )


def overtaking(page):
    """Show from which size on the GPU is faster than the host."""
    device, table = B.xp, []
    for n in OVERTAKING:
        *inputs, g = normal(4, n, D)
        pair = []
        for place in (np, device):
            B.use(place)
            step = step_of(attention, inputs, g)
            pair.append(float(np.median(take_turns({"": step}, 10)[""])) * 1e3)
        table.append([n, *pair, pair[0] / pair[1]])
    page.table(["n", "host / ms", f"{device.__name__} / ms", "ratio"], table)


def demo(page):
    for blas in threadpoolctl.threadpool_info():
        page.say(
            f"{blas['internal_api']} {blas['version']}, {blas['num_threads']} threads"
        )
    page.say(f"{apart.SPIN}={os.environ.get(apart.SPIN, 'unset')}")
    found = ", ".join(f"{name} {version}" for name, version in peers.versions().items())
    page.say(f"Arrays: {B.xp.__name__}. Others, if on the host: {found}.")
    sizes(page)
    overhead(page)
    if B.xp is np:
        orders(page)
    language_model(page)
    if B.xp is not np:
        overtaking(page)
    growth(page)
