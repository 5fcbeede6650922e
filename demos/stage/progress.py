"""Long work says how far it is: by a bar on a terminal, elsewhere by a line now and then."""

import sys

from tqdm import tqdm

SECONDS = 10  # between two lines
LINE = "{desc}{percentage:.0f} % of {total_fmt} {unit}, {elapsed} gone"
LINE += ", {remaining} left{postfix}"


class Lines:
    """Writes each state of a bar as a line of its own."""

    def write(self, text):
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self):
        sys.stderr.flush()


def progress(steps=None, **counts):
    """Return a tqdm bar over some steps, or over what `counts` tell it, on stderr, as all
    that is no result."""
    counts = {"unit": "steps", "unit_scale": True, **counts}
    if sys.stderr.isatty():
        return tqdm(steps, **counts, file=sys.stderr)
    rare = {"mininterval": SECONDS, "maxinterval": SECONDS, "miniters": 1}
    return tqdm(steps, **counts, **rare, file=Lines(), bar_format=LINE)
