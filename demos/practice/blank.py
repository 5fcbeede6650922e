"""What a blank is: a function of the source, what is asked of it, and what goes wrong.

A mistake is a function too: it answers as one does who makes it. An answer that gives
the same numbers in every case has made that mistake.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy


@dataclass(frozen=True)
class Case:
    """A name, as in "wrong at NAME", and what the op or the function is called with."""

    name: str
    inputs: tuple
    params: dict = field(default_factory=dict)


class Mistake(NamedTuple):
    """A short id, the function that makes the mistake, and what is then said of it."""

    id: str
    answer: Callable
    text: str


class Term(NamedTuple):
    """One of the terms that the right answer is a sum of, and how often it is in there."""

    name: str
    value: Callable  # takes what the rule takes
    coefficient: float


class Blank(NamedTuple):
    """A function to write, which stands in the source with its body.

    `source` is the name of the function, with its module; or of an op, whose rule is
    taken out, if it ends in ".rule".
    """

    name: str
    source: str
    teaches: str
    minutes: int
    ask: str
    offers: str  # lines of the file that import what may be of use
    hints: str  # three paragraphs: a question, what follows, the step before the last
    cases: Callable  # takes a Generator; the first two are tried in float32 as well
    mistakes: list
    terms: tuple = ()

    @property
    def is_rule(self):
        """Whether a rule is asked for, (g, y, *inputs, **params), or else a forward."""
        return self.source.endswith(".rule")

    @property
    def module(self):
        """The module of the source in which the function stands."""
        name = self.source.removesuffix(".rule").rpartition(".")[0]
        return importlib.import_module(name)

    @property
    def function(self):
        """The op whose rule is asked for, or the function itself."""
        return getattr(
            self.module, self.source.removesuffix(".rule").rpartition(".")[2]
        )

    @property
    def original(self):
        """What stands in the source: the rule, or the function."""
        return self.function.vjp if self.is_rule else self.function


class Verdict(NamedTuple):
    """Whether an answer is right; the id of the mistake if it is sure, or None; and what
    there is to say."""

    right: bool
    mistake: str | None
    message: str


def total(a, axis=-1):
    """Return the sum along an axis, which stays with length 1."""
    return a.sum(axis=axis, keepdims=True)


def average(a, axis=-1):
    """Return the mean along an axis, which stays with length 1."""
    return a.mean(axis=axis, keepdims=True)


def reduced(g, x, reduce=numpy.sum):
    """Return g in the shape of x, which was broadcast to its shape, by a reduction over
    the copies; the sum is right, all others are mistakes."""
    extra = g.ndim - x.ndim
    stretched = (extra + i for i, n in enumerate(x.shape) if n == 1)
    return reduce(g, axis=(*range(extra), *stretched), keepdims=True).reshape(x.shape)


def first_copy(g, axis, keepdims):
    """Return the first number along each axis, in the place of a reduction."""
    return g[tuple(slice(1) if i in axis else slice(None) for i in range(g.ndim))]
