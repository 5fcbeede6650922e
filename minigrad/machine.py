"""Two settings of the machine beneath NumPy, for speed; no number depends on them.

Skip this file on a first reading. The settings hold for the whole process, and the
first only if minigrad is imported before NumPy, and if the user has not set it.
"""

import os

# Between two products the threads of OpenBLAS wait by spinning, 2²⁶ ticks or 30 ms long,
# and so take the cores from ours (threads.py). After 2²⁰, about half a millisecond, they
# sleep. Attention with 1024 positions then takes 15 % less time, in tiles a third less;
# small products one after another, as in a GPT in one process, take up to 10 % more.
# Compare with `OPENBLAS_THREAD_TIMEOUT=26 python -m demos benchmark`. OpenBLAS looks once,
# when NumPy is imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

import numpy

# On Linux a large array that is freed goes back to the system, unless one as large was
# freed before, and each page of the next array is a fault again. So free one of 32 MiB,
# the largest that malloc learns from; never written to, it takes no memory. Attention
# with 1024 positions takes at least 20 % less time; leave this line out to compare.
numpy.empty(2**25 - 2**14, "uint8")  # malloc adds a header, and rounds up to pages
