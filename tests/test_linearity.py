"""Products, indexing, moves and reductions, for every shape, size 0 and 1 among them.

All of them are linear in each input, so their gradients are checked exactly: by the
definition of the adjoint instead of differences."""

import numpy as np
from conftest import array, close, normal, same
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad as mg
from minigrad import Tensor
from minigrad import backend as B

SEEDS = st.integers(0, 999)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def pull(y, *leaves, seed=7):
    """Return a random g and the gradients of the leaves for it."""
    g = normal(*y.shape, seed=seed).astype(y.dtype)
    y.backward(array(g))
    return g, *(B.to_numpy(x.grad) for x in leaves)


def adjoint(f, *values):
    """Assert <g, f(x')> = <dL/dx, x'> for random x', f linear in each of its inputs.

    That is what being the gradient of a linear function means."""
    leaves = [Tensor(a) for a in values]
    g, *gradients = pull(f(*leaves), *leaves)
    for k, gradient in enumerate(gradients):
        assert gradient.shape == values[k].shape
        other = normal(*values[k].shape, seed=8)
        moved = B.to_numpy(f(*map(array, (*values[:k], other, *values[k + 1 :]))))
        close((g * moved).sum(), (gradient * other).sum(), rtol=1e-9, atol=1e-9)


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, min_side=0), SEEDS)
def test_the_gradient_of_a_broadcast_operand_sums_over_its_copies(shapes, seed):
    values = [
        normal(*shape, seed=seed + k) for k, shape in enumerate(shapes.input_shapes)
    ]
    a, b, c = map(Tensor, values)
    g, *gradients = pull(a * b + c, a, b, c)
    assert g.shape == shapes.result_shape
    for k, factor in enumerate([values[1], values[0], 1.0]):
        copies = np.arange(values[k].size).reshape(values[k].shape)
        copies = np.broadcast_to(copies, g.shape).ravel()
        weights = (g * factor).ravel()
        expected = np.bincount(copies, weights, minlength=values[k].size)
        close(gradients[k], expected.reshape(values[k].shape), atol=1e-12)


PRODUCTS = hnp.mutually_broadcastable_shapes(
    signature="(n?,k),(k,p?)->(n?,p?)", max_dims=3, min_side=0, max_side=3
)


@given(PRODUCTS, SEEDS)
def test_matmul_is_that_of_numpy_for_vectors_matrices_and_batches(shapes, seed):
    a, b = (
        normal(*shape, seed=seed + k) for k, shape in enumerate(shapes.input_shapes)
    )
    close(mg.matmul(Tensor(a), Tensor(b)).data, np.asarray(a @ b), atol=1e-12)
    adjoint(mg.matmul, a, b)


@st.composite
def einsums(draw):
    """Draw subscripts and operands that fit them."""
    sizes = {c: draw(st.integers(0, 3)) for c in "abcd"}
    front = draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=2))
    terms, operands = [], []
    for k in range(draw(st.integers(1, 3))):
        letters = draw(st.permutations("abcd"))[: draw(st.integers(0, 3))]
        dots = (
            front[draw(st.integers(0, len(front))) :] if draw(st.booleans()) else None
        )
        shape = (*(dots or ()), *(sizes[c] for c in letters))
        terms.append(("..." if dots is not None else "") + "".join(letters))
        operands.append(normal(*shape, seed=draw(SEEDS) + k))
    known = sorted(set("".join(terms)) - {"."})
    out = draw(st.permutations(known))[: draw(st.integers(0, len(known)))]
    arrow = "->" + ("..." if "..." in "".join(terms) else "") + "".join(out)
    return ",".join(terms) + (arrow if draw(st.booleans()) else ""), operands


@given(einsums())
def test_einsum_is_that_of_numpy_and_linear_in_every_operand(given):
    subscripts, operands = given
    expected = np.asarray(np.einsum(subscripts, *operands))
    close(mg.einsum(subscripts, *map(Tensor, operands)).data, expected, atol=1e-12)
    adjoint(lambda *t: mg.einsum(subscripts, *t), *operands)


@st.composite
def indexed(draw):
    """Draw an array and an index of it: basic, of integers, of booleans, or mixed."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    basic = hnp.basic_indices(shape, allow_newaxis=True)
    repeated = hnp.integer_array_indices(shape, result_shape=SHAPES.filter(len))
    mask = hnp.arrays(bool, st.integers(1, len(shape)).map(lambda n: shape[:n]))
    some = st.lists(st.integers(-shape[0], shape[0] - 1), max_size=5)
    mixed = st.tuples(some, st.just(...))
    return draw(SHAPES.map(lambda s: normal(*shape, seed=len(s)))), draw(
        st.one_of(basic, repeated, mask, some, mixed)
    )


@given(indexed())
def test_indexing_reads_as_numpy_does_and_its_gradient_counts_every_reading(given):
    values, index = given
    x = Tensor(values)
    y = x[index]
    expected = np.asarray(values[index])
    same(y.data, expected)
    g, gradient = pull(y, x)
    readings = np.zeros(values.shape)
    np.add.at(readings, index, g)
    close(gradient, readings, atol=1e-14)


@given(SHAPES, SEEDS, st.data())
def test_moving_numbers_around_is_linear_and_loses_none(shape, seed, data):
    x = normal(*shape, seed=seed)
    axes = data.draw(st.permutations(range(x.ndim)))
    same(mg.transpose(Tensor(x), axes).data, x.transpose(axes))
    adjoint(lambda t: mg.transpose(t, axes), x)
    adjoint(lambda t: mg.reshape(t, shape=(x.size,)), x)
    adjoint(lambda t: mg.broadcast_to(t, shape=(2, *shape)), x)
    adjoint(lambda t: mg.stack([t, 2 * t], axis=-1), x)
    assume(x.ndim)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    adjoint(lambda t: mg.concatenate([t, 3 * t, t], axis), x)
    for sections in ([1, 2], [], 1, max(x.shape[axis], 1), np.int64(1)):
        parts = mg.split(Tensor(x), sections, axis)
        for part, expected in zip(parts, np.split(x, sections, axis), strict=True):
            same(part.data, expected)
    adjoint(lambda t: mg.concatenate(mg.split(t, [1, 2], axis)[::-1], axis), x)


@given(hnp.array_shapes(min_dims=0, max_dims=3, max_side=4), SEEDS, st.data())
def test_reductions_over_any_axes_are_those_of_numpy(shape, seed, data):
    x = normal(*shape, seed=seed)
    some = st.lists(st.sampled_from(range(-x.ndim, x.ndim) or [0]), max_size=3)
    axis = tuple(data.draw(some)) if x.ndim else None
    assume(axis is None or len({a % x.ndim for a in axis}) == len(axis))
    p = {
        "axis": data.draw(st.sampled_from([axis, None])),
        "keepdims": data.draw(st.booleans()),
    }
    for name in ("sum", "mean", "max", "min", "var"):
        f = getattr(mg, name)
        close(f(Tensor(x), **p).data, np.asarray(getattr(x, name)(**p)), atol=1e-13)
        if name in ("sum", "mean"):
            adjoint(lambda t, f=f: f(t, **p), x)
        else:
            assert mg.gradcheck(lambda t, f=f: f(t, **p), x) < 1e-6
    close(mg.norm(Tensor(x), **p).data, np.asarray(np.sqrt((x * x).sum(**p))))
