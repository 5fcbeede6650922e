"""`python -m demos`: the tour."""

from .run import main

main()
