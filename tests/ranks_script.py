"""What the ranks of test_ranks.py run: a small training, with a fault if one is named.

    mpiexec -n 2 python ranks_script.py FOLDER STEPS [FAULT]

FAULT is what happens to rank 1 before step 5. The rest is for the command line."""

import os
import signal
import sys
from pathlib import Path

from demos.stage import ranks

ranks.connect()

from demos.stage import training

TEXT = "".join(f"{n} times {n} is {n * n}; " for n in range(120))
SMALL = {
    "CONTEXT": 16,
    "BATCH": 4,
    "SIZES": {"context": 16, "d_model": 16, "heads": 2, "layers": 2},
    "EVERY": 8,
}


def shrink(module):
    for name, value in SMALL.items():
        setattr(module, name, value)


def fail(how):
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "interrupted":
        os.kill(os.getpid(), signal.SIGINT)
    if how == "error":
        raise ValueError("what it had to say")


def main(folder, steps, fault=""):
    run = training.Training(TEXT, int(steps))
    advance = run.advance

    def advance_or_fail(interrupted):
        if ranks.RANK == 1 and run.step == 5:
            fail(fault)
        return advance(interrupted)

    run.advance = advance_or_fail
    if fault == "alone":
        ranks.add_up = lambda parameters, *numbers: numbers
    path = Path(folder) / "run.npz"
    if path.exists():
        run.resume(path)
    if ranks.RANK:  # which needs no place to write
        path = Path(__file__) / "no folder" / "run.npz"
    run.run(path)
    print(run.losses.tolist(), run.tests.tolist())


if __name__ == "__main__":
    shrink(training)
    if sys.argv[1] == "language_model":
        from demos.stage import command

        training.BATCH = 1  # so that two ranks are too many
        command.main()
    else:
        main(*sys.argv[1:])
