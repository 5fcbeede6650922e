# ruff: noqa: F401, I001     the imports stand in reading order
"""The recorded graph: counted, measured, followed by the gradient, and drawn."""

from .paths import count, inputs, label, nodes, path_lengths, to_dot
from .flow import flow
from .picture import draw
