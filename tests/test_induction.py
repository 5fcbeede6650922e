"""Induction: the head that a model teaches itself."""

import functools
import math

import numpy as np

from demos.stage import copying
from minigrad import backend as B


@functools.cache
def induced():
    """Return the parameters of a model that has learned induction, and its history."""
    model, history = copying.trained(steps=300)
    return model.state_dict(), history


def test_a_model_learns_to_look_up_what_followed_last_time():
    used, _ = B.xp, B.use("numpy")
    state, history = induced()  # trained once, on NumPy, and judged on each backend
    B.use(used)
    model = copying.Model()
    ids, p = copying.draw(np.random.default_rng(5), 64)
    right, (before, found), _ = copying.evaluate(model, ids, p)
    assert max(right, before, found) < 0.25
    model.load_state_dict(state)
    right, (before, found), _ = copying.evaluate(model, ids, p)
    assert right > 0.95
    assert found > 0.9
    assert before > 0.7
    assert history[0, 0] > math.log(24) - 0.2


def test_the_stripes_are_read_where_they_should_be():
    ids, p = copying.draw(np.random.default_rng(5), 8)
    first, second = np.zeros((2, 8, copying.LENGTH - 1, copying.LENGTH - 1))
    for k, period in enumerate(p[:, 0]):
        for t in range(1, copying.LENGTH - 1):
            first[k, t, t - 1] = 1
        for t in range(copying.LENGTH - period, copying.LENGTH - 1):
            assert ids[k, t] == ids[k, t - period]
            second[k, t, t - period + 1] = 1  # the key of the letter that followed
    assert copying.stripes([first, second], p) == (1, 1)
    assert copying.stripes([second, first], p)[1] < 0.2
