"""Every test runs on NumPy, on the strict stand-in for CuPy, and on CuPy where there is
a GPU. What tests of all files need is here too: arrays of the backend in use, and
comparisons that look at shape, dtype and every value."""

import importlib.util
import os

import fakecupy
import numpy as np
import pytest
from hypothesis import settings

from minigrad import backend as B

os.environ["MPLBACKEND"] = "agg"  # whatever a notebook sets

# The same examples in each run, and nothing kept in between.
settings.register_profile(
    "tests",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    max_examples=40,
)
settings.load_profile("tests")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Where pytest-xdist is installed all cores share the whole suite, the names of a
    few tests run in one process; `-n` decides otherwise."""
    option, whole = config.option, config.args_source == config.ArgsSource.TESTPATHS
    first = "PYTEST_XDIST_WORKER" not in os.environ  # not one of those that share it
    if first and whole and getattr(option, "numprocesses", 0) is None:
        option.numprocesses, option.dist = "auto", "worksteal"
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each has one core


def missing():
    """Return why CuPy itself cannot be tested here, or None."""
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    return None if cupy.is_available() else "CuPy finds no GPU"


BACKENDS = ["numpy", "fakecupy", *([] if missing() else ["cupy"])]


def pytest_report_header():
    return f"backends: {', '.join(BACKENDS)}" + (f" ({missing()})" * bool(missing()))


@pytest.fixture
def three_threads(monkeypatch, xp):
    """Let three threads share what `backend.in_threads` is given, on any machine."""
    monkeypatch.setattr(B, "cores", lambda: 3)
    with B.blas().limit(limits=2):
        yield


@pytest.fixture(autouse=True, params=BACKENDS)
def xp(request):
    """Run every test on each backend; return its module of functions."""
    B.use(fakecupy.xp if request.param == "fakecupy" else request.param)
    yield B.xp
    B.use("numpy")


# For what trains, draws, or runs a program: it computes with the same ops either way,
# and those run everywhere in tests of their own.
numpy_only = pytest.mark.parametrize("xp", ["numpy"], indirect=True)


def array(values, dtype=None):
    """Return an array of the backend with the values of something on the host."""
    return B.xp.asarray(np.asarray(values, dtype))


def normal(*shape, seed=0):
    """Return standard normal numbers on the host."""
    return np.random.default_rng(seed).standard_normal(shape)


def same(got, expected):
    """Assert equal shapes, and equal values to the last bit (NaN equals NaN)."""
    got, expected = B.to_numpy(got), B.to_numpy(expected)
    assert got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)


def close(got, expected, rtol=1e-12, atol=0.0):
    """Assert equal shapes, and equal values up to a relative or absolute error."""
    got, expected = B.to_numpy(got), B.to_numpy(expected)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)
