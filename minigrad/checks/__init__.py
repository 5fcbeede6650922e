# ruff: noqa: I001     the imports stand in reading order
"""What is refused, and how it is said: the checks of input of every file, in one place.

Read this folder last. Other files are free of checks but for a line, a call of something
here. An error names the op or function, what it was given, and what to do about it; it
is raised before anything has changed.
"""

from .errors import *
from .arrays import *
from .ops import *
from .takes import *
from .models import *
