# ruff: noqa: F401, I001     the imports stand in reading order
"""What is refused, and how it is said: the checks of input of every file, in one place.

Read this folder last. Other files are free of checks but for one line at most, a call of
something here. An error names the op or function, what it was given, and what to do
about it; it is raised before anything has changed.
"""

from .errors import ERRORS, explained, shown
from .arrays import (
    as_data,
    floats,
    index,
    integers,
    no_array,
    no_function,
    same_backend,
    shape,
    targets,
    LeftOperand,
)
from .ops import (
    argument_places,
    arity,
    axis,
    bound,
    enough_numbers,
    equal_part,
    no_generator,
    no_rule,
    one_each,
    one_number,
    reducible,
    rule_failed,
    some_axis,
    seed,
)
from .takes import (
    above,
    at_least,
    flag,
    function,
    integer,
    number,
    one_of,
    optional,
    takes,
)
from .models import fitting_gradients, leaves, same_state
