"""What an answer does to the engine is undone."""

import random
import sys

import numpy as np
import pytest
from conftest import numpy_only
from practice_answers import EMPTY

import minigrad
from demos.practice import BLANKS, check
from demos.practice.sheet import sheet
from minigrad import Tensor, backend, backward
from minigrad.primitive import recording

pytestmark = numpy_only


def meddle():
    """Do to the engine what an answer should not."""
    minigrad.softmax.vjp = minigrad.softmax.rule(print)
    minigrad.exp.rule(lambda g, y, x: g)
    minigrad.sum = minigrad.backward.fit = None
    minigrad.primitive_of_mine = 3
    Tensor.__add__ = Tensor.extra = None
    minigrad.PRIMITIVES.pop("exp")
    recording.paused += 1
    sys.path.insert(0, "somewhere")
    backend.xp = None
    np.seterr(all="raise")
    np.random.seed(1)
    random.seed(1)


def state():
    """Return what a check must leave as it was."""
    return (
        [(name, op, op.vjp) for name, op in minigrad.PRIMITIVES.items()],
        [dict(vars(x)) for x in (minigrad, backward, backend, Tensor)],
        (recording.paused, list(sys.path), np.geterr(), random.getstate()),
        np.random.get_state()[1].tolist(),
    )


@pytest.mark.parametrize("end", [None, ValueError("no"), SystemExit(1)])
def test_what_an_answer_does_to_the_engine_is_undone(end):
    def rule(g, y, x, axis=-1, mask=None):
        meddle()
        if end:
            raise end
        return g

    before = state()
    assert not check("softmax", rule).right
    assert state() == before


def test_each_call_finds_the_engine_as_it_was():
    def rule(g, y, x, axis=-1, mask=None):
        assert backend.xp is np
        gx = minigrad.softmax.vjp(g, y, x, axis=axis)
        meddle()
        return gx

    assert check("softmax", rule).right


def test_ctrl_c_ends_a_check_and_is_undone_too():
    def rule(g, y, x, **_):
        meddle()
        raise KeyboardInterrupt

    before = state()
    with pytest.raises(KeyboardInterrupt):
        check("softmax", rule)
    assert state() == before


def test_a_check_computes_on_numpy_and_records_nothing_of_a_pause():
    rule = minigrad.softmax.vjp
    with minigrad.no_grad():
        assert check("softmax", rule).right
        assert recording.paused == 1
    assert EMPTY in sheet(BLANKS["softmax"])
