"""CuPy's manners on a machine without a GPU: NumPy computes, but `xp` and its arrays
refuse what CuPy refuses.

Arrays of `xp` never turn into NumPy arrays by themselves, never mix with them, and stay
arrays when they have no axes. Names and keywords that CuPy lacks are missing. `reads`
counts the values that were copied back to the host, for which a GPU has to be waited.

Stricter than CuPy on purpose: any NumPy array given to `xp` or to one of its arrays
raises, even as an index, and so does an index out of range, which CuPy wraps."""

import functools
import operator
import types

import numpy
from numpy.lib.mixins import NDArrayOperatorsMixin


def words(text):
    return set(text.split())


# Public names of NumPy that CuPy 14.2 does not have, as far as they could be missed.
LACKS = words(
    """errstate seterr geterr einsum_path vecdot matvec vecmat block insert unstack
    frompyfunc nditer ndenumerate geomspace nanpercentile nanquantile spacing
    histogram_bin_edges True_ False_ longdouble normal permutation shuffle choice
    permuted multinomial multivariate_normal bytes spawn lognormal laplace matrix_norm
    vector_norm multi_dot svdvals ctypes setflags to_device"""
)
LACKS_KEYWORDS = {"where", "initial", "like", "device", "correction", "stable"}
LACKS_KEYWORDS_OF = {
    "take": {"mode"},
    "clip": {"min", "max"},
    "einsum": {"out"},
    "copyto": set(),
}
READING = words("nonzero flatnonzero argwhere unique compress item tolist")
ARRAYS_ONLY = words("concatenate stack where")  # not even Python numbers in their lists
DTYPES = "?bhilqBHILQefdFD"  # no text, no objects, no longdouble
reads = 0


def read(value):
    """Count a copy to the host."""
    global reads
    reads += 1
    return value


def host(x, mixing=False):
    """Return an argument on its way in: what NumPy is to compute with."""
    if type(x) is ndarray:
        return x._host
    if isinstance(x, numpy.ndarray) and not mixing:
        raise TypeError(f"Unsupported type {type(x)}")
    if type(x) in (list, tuple):
        return type(x)(host(i, mixing) for i in x)
    return getattr(x, "_host", x)


def device(x):
    """Return a result on its way out."""
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        return ndarray(numpy.asarray(x))
    return type(x)(map(device, x)) if type(x) in (list, tuple) else x


@functools.cache
def ufunc_on_device(ufunc, method):
    """Return a ufunc, or a method of it such as "reduce", as CuPy has it."""
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    return on_device(function, ufunc.__name__)


def on_device(function, name):
    """Return the function as CuPy has it: for arrays of `xp`, returning such arrays."""
    lacks = LACKS_KEYWORDS_OF.get(name, LACKS_KEYWORDS)
    elementwise = isinstance(function, numpy.ufunc)

    def call(*args, **kwargs):
        out = kwargs.get("out")
        if kwargs:
            if lacking := lacks & kwargs.keys():
                raise TypeError(f"cupy.{name} takes no {lacking}")
            kwargs = {key: host(value) for key, value in kwargs.items()}
        if name in ARRAYS_ONLY:
            arrays = args[:1] if name == "where" else args[0]
            if not all(isinstance(a, ndarray) for a in arrays):
                raise TypeError(f"cupy.{name}: only arrays of CuPy will do")
        if elementwise and not {list, tuple}.isdisjoint(map(type, args)):
            raise TypeError("Unsupported type <class 'list'>")
        result = function(*map(host, args), **kwargs)
        if name in READING or (name == "where" and len(args) == 1):
            read(result)
        if out is not None:
            return out[0] if isinstance(out, tuple) else out
        return result if name in ("item", "tolist") else device(result)

    if name == "add":
        call.at = on_device(numpy.add.at, "add.at")
    return call


class Proxy:
    """A NumPy module, generator or array, cut down to what its CuPy counterpart has."""

    def __init__(self, host, **extra):
        self.__dict__.update(_host=host, **extra)

    def __getattr__(self, name):
        if name in LACKS or name.startswith("_"):
            raise AttributeError(f"cupy has no {name!r}")
        value = getattr(self._host, name)
        if callable(value) and not isinstance(value, type):
            value = on_device(value, name)
            if isinstance(self._host, types.ModuleType):
                setattr(self, name, value)  # found at once the next time
            return value
        return device(value)


class ndarray(Proxy, NDArrayOperatorsMixin):
    shape, dtype, ndim, size = (
        property(operator.attrgetter(f"_host.{name}"))
        for name in ("shape", "dtype", "ndim", "size")
    )

    def __init__(self, host):
        self._host = host

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return ufunc_on_device(ufunc, method)(*args, **kwargs)

    def __array_function__(self, function, _, args, kwargs):
        return getattr(xp, function.__name__)(*args, **kwargs)

    def __getitem__(self, key):
        return device(self._host[self._key(key)])

    def __setitem__(self, key, value):
        self._host[self._key(key)] = host(value)

    def _key(self, key):
        """Return the index for NumPy, with ... added: x[0] of a vector stays a view."""
        key = key if isinstance(key, tuple) else (key,)
        if any(isinstance(k, ndarray) and k.dtype == bool for k in key):
            read(key)  # the True values of a mask are counted on the host
        return host(key if any(k is ... for k in key) else (*key, ...))

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __format__(self, spec):
        return format(self.get(), spec)

    def get(self):
        return read(self._host.copy())


for _type in (float, int, bool, complex, repr, str):
    setattr(
        ndarray,
        f"__{_type.__name__}__",
        lambda self, convert=_type: read(convert(self._host)),
    )


def array(a, dtype=None, copy=True):
    if not copy and isinstance(a, ndarray) and dtype in (None, a.dtype):
        return a
    result = numpy.array(host(a, mixing=True), dtype)
    if result.dtype.char not in DTYPES:
        raise ValueError(f"Unsupported dtype {result.dtype}")
    return device(result)


def asarray(a, dtype=None):
    return array(a, dtype, copy=False)


xp = Proxy(
    numpy,
    __name__="fakecupy",
    ndarray=ndarray,
    array=array,
    asarray=asarray,
    linalg=Proxy(numpy.linalg),
    asnumpy=lambda a: a.get() if isinstance(a, ndarray) else numpy.asarray(a),
    lib=types.SimpleNamespace(stride_tricks=Proxy(numpy.lib.stride_tricks)),
    random=types.SimpleNamespace(
        default_rng=lambda seed=None: Proxy(numpy.random.default_rng(seed))
    ),
)
