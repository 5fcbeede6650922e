"""How an error is said: the name of the op or function first, then what it was given."""

from numpy.exceptions import AxisError

ERRORS = ValueError, IndexError, TypeError, OverflowError, AttributeError
KINDS = AxisError, IndexError, TypeError, ValueError  # what they are passed on as


def explained(error, name, inputs=None, message=""):
    """Return the error with the name in front, and the shapes and dtypes given."""
    message = (message or str(error)).removeprefix(f"{name}() ")  # Python's own way
    if not message.startswith(f"{name}:"):
        if inputs is not None:
            message = f"{described(inputs)}: {message}"
        message = f"{name}: {message}"
    kinds = (k for k in KINDS if isinstance(error, k))
    kind = TypeError if isinstance(error, AttributeError) else next(kinds, ValueError)
    return kind(message)


def described(inputs):
    """Return text with the shape and dtype of each input, or what else it is."""
    return ", ".join(map(shown, inputs)) or "nothing"


def shown(x):
    """Return text that fits into a line: shape and dtype of an array, or what else."""
    return f"{x.shape} {x.dtype}" if getattr(x, "ndim", 0) else f"{x!r:.60}"
