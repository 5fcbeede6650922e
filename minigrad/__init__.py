# ruff: noqa: F401, I001     the imports stand in reading order
"""minigrad: reverse-mode automatic differentiation, small enough to read in a sitting.

Read the files in the order of these imports; each uses only those before it.
"""

from . import machine, backend
from .tensor import Tensor
from .primitive import PRIMITIVES, no_grad, primitive
from .backward import grad
from .arithmetic import add, divide, multiply, negative, positive, subtract
from .elementwise import (
    abs,
    exp,
    log,
    maximum,
    minimum,
    power,
    relu,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from .gelu import gelu
from .shapes import (
    astype,
    broadcast_to,
    concatenate,
    reshape,
    split,
    stack,
    swapaxes,
    transpose,
)
from .indexing import getitem, scatter, take
from .reductions import max, mean, min, norm, sum, var
from .matmul import matmul
from .einsum import einsum
from . import threads
from .softmax import cross_entropy, log_softmax, logsumexp, softmax
from .layernorm import center, layer_norm, rms_norm
from . import flow, picture, graph
from .gradcheck import GradcheckError, gradcheck
from . import module, nn, optim
from .checkpoint import load, save
