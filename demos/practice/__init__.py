"""practice: functions of the source with their bodies taken out, to be written again.

`python -m demos.practice` lists the blanks, `python -m demos.practice NAME` writes one
into a file, and that file checks itself: right, or which mistake it is. In Python:

>>> from demos.practice import BLANKS, check
>>> BLANKS["softmax"].minutes
20
>>> check("softmax", lambda g, y, x, axis=-1, mask=None: g * y * (1 - y)).mistake
'diagonal_only'
"""

import sys
from pathlib import Path

# Python may look for `attention` in the folder of a learner's files first, and find the
# blank of that name: so it is imported here, from where this package is, before that.
ROOT = str(Path(__file__).parents[2])
sys.path.insert(0, ROOT)
import attention  # noqa: F401

sys.path.remove(ROOT)

from .blanks import BLANKS  # noqa: F401
from .checking import check  # noqa: F401
from .desk import check_file, main  # noqa: F401
