"""practice: functions of the source with their bodies taken out, to be written again.

`python -m demos.practice` lists the blanks, `python -m demos.practice NAME` writes one
into a file, and that file checks itself: right, or which mistake it is. In Python:

>>> from demos.practice import BLANKS, check
>>> BLANKS["softmax"].minutes
20
>>> check("softmax", lambda g, y, x, axis=-1, mask=None: g * y * (1 - y)).mistake
'diagonal_only'
"""

from .blanks import BLANKS  # noqa: F401
from .checking import check  # noqa: F401
from .desk import check_file, main  # noqa: F401
