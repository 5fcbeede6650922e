"""Arithmetic: + - * / element by element, with NumPy's broadcasting.

Each op stands under its equation and the gradients that follow from it; g is dL/dy and
has the shape of y. Rules ignore broadcasting: `backward.fit` undoes it for all of them.
"""

from ..primitive import primitive
from ..tensor import Tensor


# y = a + b          dL/da = g              dL/db = g
@primitive
def add(a, b, /):
    """Return a + b."""
    return a + b


@add.rule
def _(g, y, a, b):
    return g, g


# y = a - b          dL/da = g              dL/db = -g
@primitive
def subtract(a, b, /):
    """Return a - b."""
    return a - b


@subtract.rule
def _(g, y, a, b):
    return g, -g


# y = a b            dL/da = g b            dL/db = g a
@primitive
def multiply(a, b, /):
    """Return a b, number by number; `matmul` is the product of matrices."""
    return a * b


@multiply.rule
def _(g, y, a, b):
    return g * b, g * a


# y = a / b          dL/da = g / b          dL/db = -g a / b² = -(g / b) y
@primitive
def divide(a, b, /):
    """Return a / b."""
    return a / b


@divide.rule
def _(g, y, a, b):
    ga = g / b
    return ga, -ga * y


# y = -x             dL/dx = -g
@primitive
def negative(x, /):
    """Return -x."""
    return -x


@negative.rule
def _(g, y, x):
    return -g


# y = x              dL/dx = g              a new Tensor with the same values
@primitive
def positive(x, /):
    """Return x as a new Tensor."""
    return +x


@positive.rule
def _(g, y, x):
    return g


Tensor.__add__, Tensor.__radd__ = add, lambda b, a: add(a, b)
Tensor.__sub__, Tensor.__rsub__ = subtract, lambda b, a: subtract(a, b)
Tensor.__mul__, Tensor.__rmul__ = multiply, lambda b, a: multiply(a, b)
Tensor.__truediv__, Tensor.__rtruediv__ = divide, lambda b, a: divide(a, b)
Tensor.__neg__ = negative
Tensor.__pos__ = positive
