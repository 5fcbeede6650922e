"""The gradient of a batch in several processes, each with a replica of the model.

The loss of a batch is the mean over its texts. So with nᵢ of the n texts in part i,

    L = Σ nᵢ / n Lᵢ             dL/dθ = Σ nᵢ / n dLᵢ/dθ

and each replica can do one part alone; then their gradients are added up. This is called
data parallelism.

Why not threads? Only one at a time may run Python, so between any two of NumPy's calls
each may have to wait for the other, and most of the gain is lost. (minigrad/threads.py
shares calls that take long; these do not.) Processes do not wait,
but they share no memory, except where it is asked for: here the weights, and a gradient
for each replica."""

import itertools
import multiprocessing
import signal
from contextlib import contextmanager, nullcontext, suppress

import numpy as np

from attention.tiles import BLAS
from minigrad import backend as B
from minigrad.threads import THREADS

MOST = 4  # processes in all: each has one more gradient to add up


class Replicas:
    """A model that has replicas in other processes, as long as a `with` block lasts.

    With this process they are as many as there are cores, up to MOST; on a GPU one is
    enough. `loss(model, batch)` must depend on every parameter, and stand at the top of
    a module, which those processes import; so a script needs `if __name__ ==
    "__main__":` around what it does. All replicas would draw the same for a Dropout.

    Enter the block in the main thread. Raises: TypeError for parameters that are not
    float32."""

    def __init__(self, model, loss):
        self.model, self.loss = model, loss
        self.parameters = model.parameters()
        self.others = []  # (process, the pipe to it, its gradients) of each

    def __enter__(self):
        if dtypes := {str(p.dtype) for p in self.parameters} - {"float32"}:
            raise TypeError(f"Replicas: parameters of {dtypes}, only float32 is shared")
        # not forked: a fork copies locks that other threads may hold
        fresh = multiprocessing.get_context("spawn")
        size = sum(p.size for p in self.parameters)
        weights = fresh.RawArray("f", size)
        self.weights = pieces(weights, self.parameters)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which they inherit
        try:
            for _ in range(min(THREADS, MOST) - 1 if B.xp is np else 0):
                gradients, (here, there) = fresh.RawArray("f", size), fresh.Pipe()
                given = there, weights, gradients
                process = fresh.Process(target=serve, args=given, daemon=True)
                process.start()
                there.close()  # now only the process has it: if that ends, we hear of it
                self.others.append((process, here, pieces(gradients, self.parameters)))
        except BaseException:
            self.__exit__()
            raise
        finally:
            signal.signal(signal.SIGINT, before)
        with self.ending_on_errors():
            for _, pipe, _ in self.others:
                pipe.send((self.model, self.loss))
        return self

    def __exit__(self, *_):
        for _, pipe, _ in self.others:
            pipe.close()
        for process, *_ in self.others:
            process.join()
        self.others = []

    def backward(self, batch):
        """Set the `grad` of each parameter, and return the loss as a number.

        Raises: ValueError for an empty batch, RuntimeError when one of the processes has
        ended. After any error the model goes on alone."""
        if not len(batch):
            raise ValueError("Replicas: the batch is empty")
        own, *parts = np.array_split(batch, min(len(batch), 1 + len(self.others)))
        at_work = self.others[: len(parts)]
        if at_work:
            copy(self.weights, (p.data for p in self.parameters))
        with self.ending_on_errors():
            for part, (_, pipe, _) in zip(parts, at_work, strict=True):
                pipe.send((part, len(part) / len(batch)))
            with BLAS.limit(limits=1) if at_work else nullcontext():
                share = len(own) / len(batch)
                loss = backward_of(own, share, self.model, self.loss)
            for _, pipe, gradients in at_work:
                loss += pipe.recv()
                for p, g in zip(self.parameters, gradients, strict=True):
                    p.grad = p.grad + g
        return loss

    @contextmanager
    def ending_on_errors(self):
        """End all processes after an error: an answer that still comes would be taken
        for one to the next batch."""
        processes = [process for process, *_ in self.others]
        try:
            yield
        except (EOFError, ConnectionError) as error:
            self.__exit__()
            codes = {process.exitcode for process in processes} - {0}
            raise RuntimeError(
                f"Replicas: a process ended with exit code {str(codes)[1:-1]}; what it "
                'had to say stands above (a script needs `if __name__ == "__main__":`)'
            ) from error
        except BaseException:
            self.__exit__()
            raise


def serve(pipe, weights, gradients):
    """Take a model from the pipe, then do each part that comes, until it is closed."""
    with BLAS.limit(limits=1), suppress(EOFError, ConnectionError):
        model, loss = pipe.recv()
        parameters = model.parameters()
        weights, gradients = pieces(weights, parameters), pieces(gradients, parameters)
        for p, x in zip(parameters, weights, strict=True):
            p.data = x
        while True:
            value = backward_of(*pipe.recv(), model, loss)
            copy(gradients, (p.grad for p in parameters))
            pipe.send(value)


def backward_of(part, share, model, loss):
    """Set the gradients of this share of the loss, and return it as a number."""
    for p in model.parameters():
        p.grad = None
    L = loss(model, part) * share
    L.backward()
    return L.item()


def copy(places, arrays):
    """Write each array into its place in the shared memory."""
    for place, x in zip(places, arrays, strict=True):
        place[...] = x


def pieces(memory, parameters):
    """Return the shared memory as arrays in the shapes of the parameters."""
    ends = itertools.accumulate(p.size for p in parameters)
    vectors = np.split(np.frombuffer(memory, "float32"), list(ends)[:-1])
    return [x.reshape(p.shape) for x, p in zip(vectors, parameters, strict=True)]
