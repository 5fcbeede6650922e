"""A batch shared among processes: those that mpiexec starts, which MPI calls ranks.

    mpiexec -n 2 python -m demos language_model

The loss of a batch is the mean over its texts. So with nᵣ of the n texts at rank r,

    L = Σ nᵣ / n Lᵣ             dL/dθ = Σ nᵣ / n dLᵣ/dθ

and each rank does its part alone. Then all gradients are added up (Allreduce), and every
rank makes the same step from the same weights: data parallelism. Rank 0 alone prints,
draws and saves.

Why processes? Of threads only one at a time may run Python, and between any two of
NumPy's calls each may have to wait for the other.
"""

import os
import sys
import traceback

import numpy as np

from minigrad import backend as B

LAUNCHERS = ("PMI", "OMPI_COMM_WORLD")  # MPICH and its kin, Open MPI


def started(what):
    """Return the RANK or SIZE that mpiexec has put into the environment, or None."""
    found = [os.environ.get(f"{name}_{what}") for name in LAUNCHERS]
    return next((int(number) for number in found if number), None)


RANK, SIZE = started("RANK") or 0, started("SIZE") or 1
world = None  # the communicator of all ranks, if they are more than one


def connect():
    """Meet the other ranks, and silence this one unless it is rank 0.

    From here on an error that only one rank has ends them all: the others would wait
    for it for ever. Leaves with exit code 2 if they were started with different words.
    """
    global world
    if SIZE == 1:
        return
    if RANK:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        sys.exit(f"demos: mpiexec: {error}; pip install -e '.[mpi]'")
    if MPI.COMM_WORLD.size != SIZE:
        sys.exit(
            f"demos: mpiexec started {SIZE} processes, but mpi4py sees "
            f"{MPI.COMM_WORLD.size}: it has another MPI than this mpiexec"
        )
    world = MPI.COMM_WORLD
    sys.excepthook = lambda *error: leave("".join(traceback.format_exception(*error)))
    try:
        agree(lambda: sys.argv[1:], lambda words: {"command line": words})
    except ValueError as error:
        print(f"demos: {error}", file=sys.stderr)
        sys.exit(2)


def leave(message):
    """End all ranks with exit code 1, for an error that this one may be alone with."""
    if SIZE == 1:
        sys.exit(message)
    who = f"rank {RANK}: " if RANK else ""
    print(who + message, file=sys.__stderr__, flush=True)
    world.Abort(1)


def agree(make, notes):
    """Return make(), once every rank has made its own, and has the same notes of it.

    Notes are a dict from names to what must be equal. Raises: ValueError, on all ranks,
    naming what differs, or an error that one of them had."""
    try:
        own = make()
        message = None, notes(own)
    except (OSError, TypeError, ValueError) as error:
        if SIZE == 1:
            raise
        message = str(error), {}
    messages = world.allgather(message) if SIZE > 1 else [message]
    for rank, (error, _) in enumerate(messages):
        if error:
            raise ValueError(f"rank {rank}: {error}" if rank else error)
    expected = messages[0][1]
    for rank, (_, found) in enumerate(messages):
        if differ := [name for name in expected if found[name] != expected[name]]:
            raise ValueError(f"rank {rank} has another {differ[0]} than rank 0")
    return own


def part_of(batch):
    """Return the part of a batch, an array with texts as rows, that this rank does.

    Raises: ValueError, on all ranks, when there is not a text for each."""
    if len(batch) < SIZE:
        raise ValueError(
            f"mpiexec: {SIZE} ranks share a batch of {len(batch)}; start at most "
            f"{len(batch)}"
        )
    return np.array_split(batch, SIZE)[RANK]


def add_up(parameters, *numbers):
    """Add the gradients of all ranks up, in place of each, and return the sums of the
    numbers.

    They travel as one flat array. The ranks meet at every Allreduce, and wait for the
    last of them: once a step instead of once for each array.
    """
    if SIZE == 1:
        return numbers
    gradients = [B.to_numpy(p.grad) for p in parameters]
    own = np.concatenate([g.ravel() for g in gradients] + [np.float32(numbers)])
    sums = np.empty_like(own)
    world.Allreduce(own, sums)
    *sums, numbers = np.split(sums, np.cumsum([g.size for g in gradients]))
    for p, g in zip(parameters, sums, strict=True):
        p.grad = B.xp.asarray(g.reshape(p.shape))
    return numbers.tolist()


def total(number):
    """Return the sum of a number of each rank."""
    return world.allreduce(number) if SIZE > 1 else number
