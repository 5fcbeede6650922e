"""What the benchmark measures in processes of their own, since it depends on how a process
is started: which package is imported first, and how many ranks share a training step."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from attention import tiled_attention
from minigrad import nn

from . import ranks
from .steps import six_products, step_of
from .timing import seconds, take_turns

WARM, TIMED = 4, 20  # training steps of a turn; the first do not count
N, ROUNDS = 2048, 5  # of tiled attention
SPIN = "OPENBLAS_THREAD_TIMEOUT"


def called(code, *launcher, **setting):
    """Return what the code prints, read as JSON, from a process of its own."""
    env = {k: v for k, v in os.environ.items() if k != SPIN} | setting
    words = [*launcher, sys.executable, "-c", code]
    here = {"env": env, "cwd": Path(__file__).parents[2]}
    done = subprocess.run(words, **here, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def mpiexec():
    """Return the path of mpiexec, beside this Python or where commands are; or None."""
    if not find_spec("mpi4py"):
        return None
    beside = os.path.dirname(sys.executable)
    return shutil.which("mpiexec", path=f"{beside}{os.pathsep}{os.environ['PATH']}")


def two_ranks():
    """Return the seconds of each of TIMED training steps of two ranks."""
    code = "from demos.stage import apart; apart.print_steps()"
    return called(code, mpiexec(), "-n", "2")


def print_steps():
    """Print, as rank 0, the seconds of training steps of `language_model`."""
    ranks.connect()
    from .training import Training, one_core_each

    nn.seed(0)
    text = "".join(map(chr, range(65))) * 100  # for the sizes, whatever it says
    training = Training(text, WARM + TIMED, "learned")
    with one_core_each():
        times = [seconds(training.advance) for _ in range(WARM + TIMED)]
    print(json.dumps(times[WARM:]))


def tiles_by_order():
    """Return {what comes first: how many times as long as its six products tiled
    attention takes}."""
    code = f"from demos.stage import apart; apart.print_tiles({N}, {ROUNDS})"
    return {
        "minigrad": called(code),
        "NumPy": called("import numpy; " + code),
        f"NumPy, with {SPIN}=20": called("import numpy; " + code, **{SPIN: "20"}),
    }


def print_tiles(n, rounds):
    """Print the time of tiled attention over that of its six products, as medians."""
    *inputs, g = np.random.default_rng(0).standard_normal((4, n, 64), dtype="float32")
    steps = {"tiled": step_of(tiled_attention, inputs, g), "": six_products(inputs, g)}
    times = take_turns(steps, rounds)
    print(json.dumps(float(np.median(times["tiled"]) / np.median(times[""]))))
