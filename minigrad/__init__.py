# ruff: noqa: F401, I001     the imports stand in reading order
"""minigrad: reverse-mode automatic differentiation, small enough to read in a sitting.

Read the files in the order of these imports; each uses only those before it, Tensor's
methods, which ops/ attach, and what comes last: the checks and the platform.
"""

from .tensor import Tensor
from .primitive import PRIMITIVES, no_grad, primitive
from . import backward
from .grad import grad, value_and_grad
from .ops.arithmetic import add, divide, multiply, negative, positive, subtract
from .ops.elementwise import (
    abs,
    clip,
    cos,
    exp,
    log,
    maximum,
    minimum,
    power,
    sin,
    sqrt,
    where,
)
from .ops.activations import gelu, relu, sigmoid, tanh
from .ops.shapes import (
    astype,
    broadcast_to,
    concatenate,
    reshape,
    split,
    stack,
    swapaxes,
    transpose,
)
from .ops.indexing import getitem, scatter, take
from .ops.reductions import max, mean, min, norm, std, sum, var
from .ops.matmul import matmul
from .ops.einsum import einsum
from .ops.softmax import cross_entropy, log_softmax, logsumexp, softmax
from .ops.layernorm import center, rms_norm
from . import graph
from .gradcheck import GradcheckError, gradcheck
from . import module, nn, optim
from .checkpoint import load, save
from . import checks, backend

# `from minigrad import *` leaves Python's own functions alone, as NumPy's does
__all__ = [n for n in dir() if n[0] != "_" and n not in ("abs", "max", "min", "sum")]
