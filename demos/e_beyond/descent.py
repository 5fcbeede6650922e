"""How the small models beyond the chapter are trained: by Adam, at one BLAS thread.

Their products are too small for two threads to gain anything, and on a busy machine
threads that wait for each other have taken 40 times as long.
"""

from threadpoolctl import threadpool_limits

from minigrad.optim import Adam

from ..stage.progress import progress


@threadpool_limits.wrap(limits=1)
def minimise(loss, params, steps, lr, name):
    """Take steps down loss(), which computes it anew each time; the bar has a name."""
    optimizer = Adam(params, lr)
    for _ in progress(range(steps), desc=f"{name}: "):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
