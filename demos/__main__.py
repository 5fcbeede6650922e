"""`python -m demos`: the tour."""

from .stage.command import main

main()
