# ruff: noqa: F401     the imports stand in reading order
"""Gradients compared with finite differences, entry by entry.

Begin with differences.py. The others are what it leans on: where a difference says
nothing, what a wrong gradient tells about the mistake, and what cannot be checked.
"""

from . import kinks, mistakes, refusals
from .differences import GradcheckError, gradcheck
