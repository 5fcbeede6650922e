"""The two gates between host and device, and the stand-in that plays the device."""

import inspect
import sys
import types

import fakecupy
import numpy as np
import pytest
from conftest import array, close, normal, same

from minigrad import Tensor, cross_entropy, gelu, getitem, softmax
from minigrad import backend as B

OTHER = fakecupy.xp


def test_arrays_come_from_the_module_in_use_at_the_call():
    B.use(OTHER)
    assert type((Tensor([1.0]) * 2).data) is fakecupy.ndarray
    B.use("numpy")
    assert type((Tensor([1.0]) * 2).data) is np.ndarray


def test_the_way_in_and_the_way_out(xp):
    x = Tensor(np.array([1.0, 2.0]))
    assert type(x.data) is xp.ndarray
    for inside in (x, x.data, [1.0, 2.0], np.array([1.0, 2.0])):
        assert type(B.to_numpy(inside)) is np.ndarray
        same(inside, np.array([1.0, 2.0]))
    same(3.0, np.array(3.0))


@pytest.mark.parametrize("name", ["jax", "np", "", "cupyx"])
def test_an_unknown_backend_is_refused_and_nothing_changes(xp, name):
    with pytest.raises(ValueError, match=f"backend.use: '{name}'"):
        B.use(name)
    assert B.xp is xp


def test_what_holds_no_arrays_is_no_backend(xp):
    with pytest.raises(TypeError, match="backend.use: None is no module of arrays"):
        B.use(None)
    assert B.xp is xp


def test_cupy_that_is_not_installed_is_an_import_error(xp, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match="backend.use: cupy is not installed; pip"):
        B.use("cupy")
    assert B.xp is xp


def test_cupy_without_a_gpu_is_a_runtime_error(xp, monkeypatch):
    cuda = types.SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(
        sys.modules, "cupy", types.SimpleNamespace(cuda=cuda, ndarray=object)
    )
    with pytest.raises(RuntimeError, match="backend.use: .* no CUDA GPU"):
        B.use("cupy")
    assert B.xp is xp


def trained(xp, steps=5):
    """Return the losses of a small network in float32, and how often it was read."""
    B.use(xp)
    x, w = array(normal(8, 3), "f4"), Tensor(normal(3, 4, seed=1).astype("f4"))
    table, ids = Tensor(normal(4, 4, seed=2).astype("f4")), array(np.arange(8) % 4)
    targets, reads, losses = array(np.arange(8) % 3), fakecupy.reads, []
    for _ in range(steps):
        h = softmax(gelu(x @ w)) + getitem(table, index=ids)
        loss = cross_entropy(h @ w.T, targets)
        w.grad = table.grad = None
        loss.backward()
        for p in (w, table):
            assert p.grad.dtype == "f4"
            p.data = p.data - 0.5 * p.grad
        losses.append(loss)
    assert fakecupy.reads == reads  # a step waits for nothing
    return [loss.item() for loss in losses], fakecupy.reads - reads


def test_training_is_the_same_on_every_backend_and_reads_nothing_but_losses(xp):
    losses, _ = trained(np)
    assert losses[-1] < losses[0]
    got, reads = trained(xp)
    if xp is OTHER:
        assert got == losses  # to the last bit
        assert reads == len(losses)
    else:
        close(got, losses, rtol=1e-4)


DEVICE, HOST = OTHER.asarray([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))
FAULTS = {
    "array + host array": lambda: DEVICE + HOST,
    "host array + array": lambda: HOST + DEVICE,
    "0-d host array": lambda: DEVICE * np.array(2.0),
    "function of a host array": lambda: OTHER.sum(HOST),
    "host array as an index": lambda: DEVICE[np.array([0])],
    "host array assigned": lambda: DEVICE.__setitem__(0, HOST[0]),
    "conversion": lambda: np.asarray(DEVICE),
    "conversion by assertion": lambda: np.testing.assert_allclose(DEVICE, HOST),
    "list as an operand": lambda: DEVICE + [1.0, 2.0],
    "list in a function": lambda: OTHER.exp([1.0]),
    "condition on the host": lambda: OTHER.where(True, DEVICE, 0.0),
    "number in concatenate": lambda: OTHER.stack([DEVICE[0, 0], 1.0]),
    "sum(initial=)": lambda: DEVICE.sum(initial=1.0),
    "exp(where=)": lambda: OTHER.exp(DEVICE, where=DEVICE > 1),
    "clip(min=)": lambda: OTHER.clip(DEVICE, min=0.0),
    "take(mode=)": lambda: OTHER.take(DEVICE, OTHER.asarray([0]), mode="clip"),
    "einsum(out=)": lambda: OTHER.einsum("ij->i", DEVICE, out=DEVICE[0]),
    "maximum.reduce": lambda: OTHER.maximum.reduce(DEVICE),
    "errstate": lambda: OTHER.errstate(),
    "rng.normal": lambda: OTHER.random.default_rng(0).normal(2),
    "index out of range": lambda: DEVICE[OTHER.asarray([2])],
    "as a Python index": lambda: [1, 2][DEVICE.argmax()],
    "round": lambda: round(DEVICE.sum()),
    "dictionary key": lambda: {DEVICE.sum(): 1},
    "text": lambda: OTHER.asarray("a"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_stand_in_refuses(fault):
    with pytest.raises((TypeError, AttributeError, IndexError, ValueError)):
        FAULTS[fault]()


def test_the_stand_in_keeps_arrays_without_axes_and_views_of_them():
    x = OTHER.array(DEVICE)
    entry, total = x[0, 0], x.sum()
    assert type(entry) is type(total) is fakecupy.ndarray
    entry += 10.0
    assert (float(x[0, 0]), float(DEVICE[0, 0]), float(total)) == (11.0, 1.0, 10.0)


READINGS = [float, bool, int, str, "{:.1f}".format, lambda s: s.item(), OTHER.asnumpy]


@pytest.mark.parametrize("reading", READINGS)
def test_the_stand_in_counts_what_a_gpu_would_wait_for(reading):
    before, total = fakecupy.reads, DEVICE.sum()
    assert fakecupy.reads == before
    reading(total)
    assert fakecupy.reads == before + 1
    DEVICE[DEVICE > 1]
    assert fakecupy.reads == before + 2


def test_what_the_stand_in_lacks_cupy_lacks():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    places = [cupy, cupy.ndarray, cupy.linalg, cupy.random.Generator]
    for name in fakecupy.LACKS:
        assert not any(hasattr(place, name) for place in places), name
    for name, keywords in fakecupy.LACKS_KEYWORDS_OF.items():
        if not isinstance(getattr(cupy, name), cupy.ufunc):
            assert (
                not keywords & inspect.signature(getattr(cupy, name)).parameters.keys()
            )
