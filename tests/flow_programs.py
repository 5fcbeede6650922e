"""Random programs for tests of the gradient's way."""

import numpy as np
from conftest import array, normal

import minigrad as mg
from minigrad import Tensor
from minigrad import backend as B

SHAPES = [(), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3)]
JOINS = [
    mg.add,
    mg.subtract,
    mg.multiply,
    lambda a, b: a / (2 + b * b),
    lambda a, b: mg.maximum(a, b) + 0.1 * a * b,  # or the smaller one gets nothing
]
STEPS = [
    mg.tanh,
    mg.sigmoid,
    lambda a: a * a,
    lambda a: mg.exp(0.1 * a),
    lambda a: mg.softmax(mg.stack([a, mg.tanh(a)]), axis=0)[0],
    lambda a: mg.stack([a, mg.tanh(a), a]).sum(axis=0),
    lambda a: a.reshape(1, -1)[:, ::-1] @ array(normal(a.size, 3)),
    lambda a: a.reshape(-1, 1).mean(axis=0),
]
LINEAR = [
    lambda a: 0.7 * a,
    lambda a: a.reshape(-1)[::-1].reshape(a.shape),
    lambda a: mg.stack([a, 2 * a]).mean(axis=0),
    lambda a: a + array(normal(*a.shape)),
]


def seeds():
    """Return those of 30 programs, or of 3 where arrays are slow."""
    return range(30 if B.xp is np else 3)


def program(seed, dtype=None, joins=JOINS, steps=STEPS, plant=None):
    """Return what 8 random steps make of each other and of leaves, as one number.

    All of them have a share in it, so none is without a gradient. With `plant` later
    ones may use plant(t) of some t, which is returned too."""
    rng = np.random.default_rng(seed)
    made = [Tensor(rng.normal(size=shape), dtype) for shape in SHAPES]
    planted = None
    for n in range(8):
        a, b = (made[i] for i in rng.choice(len(made), size=2, replace=False))
        t = steps[rng.integers(len(steps))](a)
        try:
            np.broadcast_shapes(t.shape, b.shape)
            made.append(joins[rng.integers(len(joins))](t, b))
        except ValueError:
            made.append(t)
        if plant and n == 4:
            planted = plant(made[-1])
            made.append(planted)
    y = sum((share * t).sum() for t, share in zip(made, rng.normal(size=99)))
    return (y, planted) if plant else y
