"""The command line of the demos: which ones, on which arrays, into which folder."""

import argparse
import difflib
import importlib
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from minigrad import backend

from .. import DEMOS
from . import ranks
from .files import make_writable, until_closed
from .page import Claim, Page, Picture
from .report import write_report
from .window import open_window
from .words import WIDTH

# matplotlib's own settings, then ours: none of a matplotlibrc
STYLE = "default", Path(__file__).with_name("figures.mplstyle")
SHARED = ["language_model"]  # what mpiexec can run


def main():
    """Run the demos that the command line asks for.

    Leaves with exit code 2 for a wrong command line, and 1 when a demo cannot run or a
    claim fails. A wrong name, backend or folder is found before anything is written.
    """
    with until_closed():
        run_all(parse())


def run_all(options):
    """Run the demos in `options.demos`, write their page, and say what holds."""
    if hasattr(sys.stdout, "reconfigure"):
        # a terminal without Greek letters; a pipe, which shows each line at once
        sys.stdout.reconfigure(errors="replace", line_buffering=True)
    out = options.out
    try:
        if options.backend:
            backend.use(options.backend)
        if options.interactive:
            with plt.style.context(STYLE):
                return open_window(importlib.import_module(options.demos[0].module))
        ranks.agree(lambda: ranks.RANK or make_writable(out), lambda _: {})
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        sys.exit(f"demos: {error}")
    matplotlib.use("agg")  # files only, whatever display there is

    pages = {}
    for demo in options.demos:
        try:
            pages[demo] = run(demo, out, **own_options(demo, options))
        except BrokenPipeError:
            raise
        except OSError as error:  # such as a data file that is missing
            ranks.leave(f"demos: {demo.name}: {error}")
        except KeyboardInterrupt:
            ranks.leave(f"demos: {demo.name}: interrupted")
    if ranks.RANK:
        return
    with plt.style.context(STYLE):
        path = write_report(pages, out / "index.html")
    failed = summarise([item for page in pages.values() for item in page.items], out)
    print(f"page: {path}", flush=True)
    if failed:
        sys.exit(f"demos: {', '.join(failed)} failed")


def parse():
    """Return the options of the command line, with the demos it names in `demos`."""
    parser = argparse.ArgumentParser(
        "python -m demos",
        description="Run demos: each prints, draws and checks what it shows.",
        epilog="A demo may have options of its own: `python -m demos NAME --help`.",
        conflict_handler="resolve",
    )
    option = parser.add_argument
    option("names", nargs="*", metavar="NAME", help="which demos (default: the tour)")
    option("--list", action="store_true", help="list the demos and end")
    option("--beyond", action="store_true", help="the second tour, beyond the chapter")
    option("--all", action="store_true", help="the slow demos too")
    option(
        "--out",
        default="figures",
        metavar="DIR",
        help="folder for the pictures and"
        " their page, index.html; made if need be (default: %(default)s)",
    )
    option(
        "--backend",
        choices=["numpy", "cupy"],
        help="which arrays to compute with: in memory, or on a GPU (default: numpy)",
    )
    option("--interactive", action="store_true", help="open a window (lookup only)")
    option("--report", action="store_true", help="write the page, as every run does")
    known = {demo.name: demo for demo in DEMOS}
    for word in sys.argv[1:]:
        if word in known:
            add_own_options(known[word], parser)
    options = parser.parse_args()
    if options.list:
        print(listing())
        parser.exit()
    if unknown := [name for name in options.names if name not in known]:
        parser.exit(2, "\n".join([*map(not_known, unknown), "", listing(), ""]))
    if not options.out:
        parser.exit(2, "demos: --out is empty; give the name of a folder\n")
    options.out = Path(options.out)
    if options.interactive and options.names != ["lookup"]:
        parser.error("--interactive opens a window for lookup, and for nothing else")
    if ranks.SIZE > 1 and options.names != SHARED:
        parser.exit(2, f"demos: mpiexec is for {SHARED[0]}, and for nothing else\n")
    options.demos = [known[name] for name in options.names] or [
        demo
        for demo in DEMOS
        if demo.beyond == options.beyond and (options.all or not demo.slow)
    ]
    return options


def not_known(name):
    """Return a line that says so, with the nearest name there is."""
    likely = name.lower().replace("-", "_")
    nearest = difflib.get_close_matches(likely, [demo.name for demo in DEMOS], n=1)
    return f"no demo named {name}" + "".join(f"; did you mean {x}?" for x in nearest)


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
    """Return the table of demos as text, in two parts."""
    width = max(len(demo.name) for demo in DEMOS)
    lines = {False: ["The chapter:"], True: ["Beyond the chapter (--beyond):"]}
    for demo in DEMOS:
        slow = " (slow)" if demo.slow else ""
        lines[demo.beyond].append(f"  {demo.name:{width}}  {demo.summary}{slow}")
    return "\n".join([*lines[False], "", *lines[True]])


def run(demo, out, **options):
    """Run one demo with pictures into the folder `out`; return its Page."""
    title = f"{demo.name}: {demo.summary}"
    print(title, "=" * min(len(title), WIDTH), "", sep="\n")
    page = Page(out)
    with plt.style.context(STYLE):
        importlib.import_module(demo.module).demo(page, **options)
    return page


def summarise(items, out):
    """Print how many pictures and claims there are; return the claims that failed."""
    pictures = [item for item in items if isinstance(item, Picture)]
    claims = [item for item in items if isinstance(item, Claim)]
    failed = [claim.number for claim in claims if not claim.holds]
    print(f"pictures: {len(pictures)}, in {out}")
    if claims:
        print(f"claims that hold: {len(claims) - len(failed)} of {len(claims)}")
    return failed
