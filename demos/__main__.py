"""`python -m demos`: what must be set before anything else is imported, then the demos."""

import os
import sys


def start():
    if "--interactive" not in sys.argv:
        os.environ["MPLBACKEND"] = "agg"  # files only, whatever else may be set there
    from .stage import ranks

    ranks.connect()  # before an error can leave one rank without the others
    try:
        from .stage.command import main

        main()
    except KeyboardInterrupt:
        ranks.leave("demos: interrupted")


start()
