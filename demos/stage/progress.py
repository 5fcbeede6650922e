"""Long work says how far it is: by a bar on a terminal, elsewhere by a line now and then."""

import sys

from tqdm import tqdm

SECONDS = 10  # between two lines
LINE = (
    "{desc}{percentage:.0f} % of {total_fmt} {unit}, {elapsed} gone, {remaining} left"
)


class Lines:
    """Writes each state of a bar as a line of its own."""

    def write(self, text):
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self):
        sys.stderr.flush()


def progress(total, unit, done=0):
    """Return a tqdm bar that counts to a total, on stderr as all that is no result."""
    counts = {"total": total, "unit": unit, "initial": done, "unit_scale": True}
    if sys.stderr.isatty():
        return tqdm(**counts, file=sys.stderr)
    line = LINE + "{postfix}"
    rare = {"mininterval": SECONDS, "maxinterval": SECONDS, "miniters": 1}
    return tqdm(**counts, **rare, file=Lines(), bar_format=line)
