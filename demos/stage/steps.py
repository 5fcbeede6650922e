"""What the benchmark times: ours, and the floors, which are arrays and nothing else.

A step takes nothing, computes forwards and backwards, and returns the gradients.

Letters: h heads, n positions, d the width; Q, K, V and g = dL/dY are (h, n, d).
"""

from minigrad import Tensor
from minigrad import backend as B


def step_of(f, inputs, g, **options):
    """Return the step that computes f and the gradients of its inputs."""
    leaves, g = [Tensor(x) for x in inputs], B.xp.asarray(g)

    def step():
        for x in leaves:
            x.grad = None
        f(*leaves, **options).backward(g)
        return [x.grad for x in leaves]

    return step


def six_products(inputs, g):
    """Return the floor as a step; A and dS are there, whose numbers make no difference."""
    Q, K, V, g = map(B.xp.asarray, (*inputs, g))
    A, dS = Q @ K.swapaxes(-1, -2), g @ V.swapaxes(-1, -2)  # (h, n, n)

    def step():
        S, Y = Q @ K.swapaxes(-1, -2), A @ V  # (h, n, n), (h, n, d)
        dA, dV = g @ V.swapaxes(-1, -2), A.swapaxes(-1, -2) @ g  # (h, n, n), (h, n, d)
        dQ, dK = dS @ K, dS.swapaxes(-1, -2) @ Q  # (h, n, d), (h, n, d)
        return S, Y, dA, dV, dQ, dK

    return step


def chain(x, a, b, length):
    """Return x after `length` times x ← x a + b."""
    for _ in range(length):
        x = x * a + b
    return x


def chain_by_hand(x, a, b, g, length):
    """Return the step that computes the chain and its gradients in bare arrays."""

    def step():
        states, y = [], x
        for _ in range(length):
            states.append(y)
            y = y * a
            y = y + b
        dx, da, db = g, 0, 0
        while states:
            db = db + dx
            da = da + dx * states.pop()
            dx = dx * a
        return dx, da, db

    return step
