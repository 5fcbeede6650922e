"""The command line of the demos: which ones, on which arrays, into which folder."""

import argparse
import importlib
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from minigrad import backend

from .. import DEMOS
from .page import Claim, Page, Picture, make_writable
from .report import write_report

STYLE = Path(__file__).with_name("figures.mplstyle")


def main():
    """Run the demos that the command line asks for.

    Leaves with exit code 2 for a wrong command line, and 1 when a demo cannot run or a
    claim fails. A wrong name, backend or folder is found before anything is written.
    """
    options = parse()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Greek letters
    try:
        if options.backend:
            backend.use(options.backend)
        if options.interactive:
            return open_window()
        make_writable(options.out)
    except (ImportError, OSError, RuntimeError) as error:
        sys.exit(f"demos: {error}")
    matplotlib.use("agg")  # files only, whatever display there is

    pages = {}
    for demo in options.demos:
        try:
            pages[demo] = run(demo, options.out, **own_options(demo, options))
        except OSError as error:  # such as a data file that is missing
            sys.exit(f"demos: {demo.name}: {error}")
        except KeyboardInterrupt:
            sys.exit(f"demos: {demo.name}: interrupted")
    if options.report:
        with plt.style.context(STYLE):
            print(f"wrote {write_report(pages, options.out / 'index.html')}")
    summarise([item for page in pages.values() for item in page.items], options.out)


def parse():
    """Return the options of the command line, with the demos it names in `demos`."""
    parser = argparse.ArgumentParser("python -m demos", description="Run the demos.")
    option = parser.add_argument
    option("--out", type=Path, default="figures", help="folder for the pictures")
    option("--backend", choices=["numpy", "cupy"], help="which arrays to compute with")
    option("--interactive", action="store_true", help="open a window (lookup only)")
    option("--report", action="store_true", help="also write all claims as one page")
    option("names", nargs="*", metavar="NAME", help="which demos (default: the tour)")
    option("--list", action="store_true", help="list the demos")
    option("--all", action="store_true", help="run all demos, the slow ones too")
    known = {demo.name: demo for demo in DEMOS}
    named = [word for word in sys.argv[1:] if word in known]
    if len(named) == 1:
        add_own_options(known[named[0]], parser)
    options = parser.parse_args()
    if options.interactive and options.names != ["lookup"]:
        parser.error("--interactive opens a window for lookup, and for nothing else")
    if options.list:
        print(listing())
        parser.exit()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.exit(2, f"no demo named {', '.join(unknown)}; there are\n{listing()}\n")
    tour = [demo for demo in DEMOS if not demo.slow]
    options.demos = [known[name] for name in options.names]
    options.demos = options.demos or (DEMOS if options.all else tour)
    return options


def add_own_options(demo, parser):
    """Add the options that a demo alone has, by its function `add_options`, if any."""
    module = importlib.import_module(demo.module)
    getattr(module, "add_options", lambda parser: None)(parser)


def own_options(demo, options):
    """Return the options that a demo alone has as a dict, if they were added."""
    parser = argparse.ArgumentParser()
    add_own_options(demo, parser)
    added = vars(options)
    return {key: added[key] for key in vars(parser.parse_args([])) if key in added}


def listing():
    """Return the table of demos as text."""
    width = max(len(demo.name) for demo in DEMOS)
    return "\n".join(
        f"{demo.name:{width}}  {demo.summary}{' (slow)' if demo.slow else ''}"
        for demo in DEMOS
    )


def open_window():
    """Run lookup with sliders; leave with exit code 2 where no window can be opened."""
    try:
        with plt.style.context(STYLE):
            importlib.import_module("demos.a_lookup.lookup").interactive()
    except ImportError as error:  # a matplotlib backend that needs a display
        print(f"demos: lookup --interactive: {error}", file=sys.stderr)
        sys.exit(2)


def run(demo, out, **options):
    """Run one demo with pictures into the folder `out`; return its Page."""
    title = f"{demo.name}: {demo.summary}"
    print(title, "=" * len(title), "", sep="\n")
    page = Page(out)
    with plt.style.context(STYLE):
        importlib.import_module(demo.module).demo(page, **options)
    return page


def summarise(items, out):
    """Print how many pictures and claims there were; leave with 1 if a claim failed."""
    pictures = [item for item in items if isinstance(item, Picture)]
    claims = [item for item in items if isinstance(item, Claim)]
    failed = [claim.number for claim in claims if not claim.holds]
    print(f"pictures: {len(pictures)}, in {out}")
    if claims:
        print(f"claims that hold: {len(claims) - len(failed)} of {len(claims)}")
    if failed:
        sys.exit(f"demos: {', '.join(failed)} failed")
