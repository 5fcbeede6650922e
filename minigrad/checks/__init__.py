# ruff: noqa: I001     the imports stand in reading order
"""What is refused, and how it is said: the checks of input of most files, in one place.

Read this folder last. Other files have a line for it, a call of something here; only
`einsum`, `backend` and gradcheck say more themselves. An error names the op or
function, what it was given, and what to do about it, before anything has changed.
"""

from .errors import *
from .arrays import *
from .ops import *
from .takes import *
from .models import *
