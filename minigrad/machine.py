"""Two settings of the machine beneath NumPy, for speed; no number depends on them.

Skip this file on a first reading. The settings hold for the whole process, and the
first only if minigrad is imported before NumPy; one that the user made stays.
"""

import os

# Between two products the threads of OpenBLAS wait by spinning, for 0.1 s, and so take
# the cores from all else. 2²² ticks, about 2 ms, serve the products as well and make
# tiled attention 1.4 to 1.8 times as fast. This is read when NumPy is first imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "22")

import numpy

# On Linux a large array that is freed goes back to the system, unless one as large was
# freed before, and each page of the next array is a fault again. So free one of 32 MiB,
# the largest that malloc learns from; never written to, it takes no memory. Attention
# with 1024 positions takes 15 % less time.
numpy.empty(2**25 - 2**14, "uint8")
