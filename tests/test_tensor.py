"""What a Tensor accepts, what it tells about itself, and its operators."""

import copy
import operator
import pickle

import numpy as np
import pytest
from conftest import array, close, normal, numpy_only, same

from minigrad import Tensor, add, cross_entropy, no_grad, split, take


@pytest.mark.parametrize("given", [2, 2.0, [1, 2], [1.0, 2.5], [], [[1], [2]]])
def test_python_numbers_and_lists_become_float64(given):
    x = Tensor(given)
    assert x.dtype == "f8"
    same(x.data, np.array(given, float))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_arrays_keep_their_float_type(dtype):
    assert Tensor(array([1.0, 2.0], dtype)).dtype == dtype
    assert Tensor(np.dtype(dtype).type(2)).dtype == dtype
    same(Tensor(array([1, 2]), dtype=dtype).data, np.array([1, 2], dtype))
    assert Tensor([1, 2], dtype=dtype).dtype == dtype


@pytest.mark.parametrize("on_host", [True, False])
def test_data_is_copied(on_host):
    given = np.array([1.0, 2.0]) if on_host else array([1.0, 2.0])
    x = Tensor(given)
    given[0] = 9.0
    same(x.data, np.array([1.0, 2.0]))


def test_a_tensor_describes_itself():
    x = Tensor(normal(2, 3).astype("f4"))
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((2, 3), 2, 6, "f4", 2)
    assert x.grad is None
    assert x.detach() is x.data
    assert repr(Tensor([1.0, 2.0])) == "Tensor([1. 2.], dtype=float64)"
    assert repr(Tensor([1.0]) * 2) == "Tensor([2.], dtype=float64, op=multiply)"


def test_numpy_gives_a_copy_on_the_host():
    x = Tensor([1.0, 2.0])
    values = x.numpy()
    assert type(values) is np.ndarray
    values[0] = 9.0
    same(x.data, np.array([1.0, 2.0]))


def test_a_single_number_acts_as_one():
    x = Tensor(2.567)
    assert type(x.item()) is type(Tensor([[2.0]]).item()) is float
    assert (x.item(), float(x), int(x), round(x, 2)) == (2.567, 2.567, 2, 2.57)
    assert f"{x:.1f} {x}" == "2.6 Tensor(2.567, dtype=float64)"
    assert ["no", "yes"][int(x > 2)] == "yes"
    assert bool(Tensor(0.5)) and not Tensor(0.0)


def test_rows_can_be_unpacked_and_get_gradients():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    first, second = x
    (first * second).sum().backward()
    same(x.grad, np.array([[3.0, 4.0], [1.0, 2.0]]))


COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("compare", [*COMPARISONS, operator.eq, operator.ne])
def test_comparisons_give_plain_boolean_arrays(compare):
    a, b = np.array([1.0, 2.0, np.nan]), np.array([2.0, 2.0, 2.0])
    for left, right in [(Tensor(a), Tensor(b)), (Tensor(a), array(b)), (Tensor(a), 2)]:
        assert not isinstance(compare(left, right), Tensor)
        same(compare(left, right), compare(a, b))
    same(compare(array(a), Tensor(b)), compare(a, b))


def test_tensors_hash_by_identity():
    x, y = Tensor([1.0, 2.0]), Tensor([1.0, 2.0])
    assert {x: "x", y: "y"}[x] == "x"
    assert x in [x]


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_operators_take_arrays_and_numbers_on_both_sides(op, dtype):
    a, b = np.array([1.5, 2.0], dtype), np.array([0.5, 3.0], dtype)
    for left, right in [(Tensor(a), Tensor(b)), (Tensor(a), array(b))]:
        same(op(left, right).data, op(a, b))
    same(op(array(a), Tensor(b)).data, op(a, b))
    for number in (2, 2.0, np.float64(2), np.int64(2), np.array(2.0), np.float32(2)):
        got = op(number, Tensor(a)), op(Tensor(a), number)
        assert all(type(y) is Tensor and y.dtype == dtype for y in got)
        close(got[0], op(2.0, a), rtol=1e-6)
        close(got[1], op(a, 2.0), rtol=1e-6)


def test_unlike_float_types_meet_in_the_wider_one_and_gradients_come_back():
    a, b = Tensor(array([1.0, 2.0], "f2")), Tensor(array([3.0, 4.0], "f4"))
    y = a * b * array([1.0, 10.0], "f8")
    y.sum().backward()
    assert (y.dtype, a.grad.dtype, b.grad.dtype) == ("f8", "f2", "f4")
    same(a.grad, np.array([3.0, 40.0]))
    same(b.grad, np.array([1.0, 20.0]))


def test_unary_operators_and_transpose():
    x = normal(2, 3)
    same((-Tensor(x)).data, -x)
    same((+Tensor(x)).data, x)
    same(abs(Tensor(x)).data, abs(x))
    same(Tensor(x).T.data, x.T)


@pytest.mark.parametrize("shapes", [((2,), (2, 3)), ((4, 2), (2,)), ((2, 1), (1, 2))])
def test_matrix_products_take_arrays_on_both_sides(shapes):
    a, b = (normal(*shape) for shape in shapes)
    for left, right in [(Tensor(a), Tensor(b)), (array(a), Tensor(b)), (Tensor(a), b)]:
        right = array(right) if isinstance(right, np.ndarray) else right
        same((left @ right).data, a @ b)


def test_augmented_assignment_makes_a_new_tensor():
    x = Tensor([1.0])
    y = x
    y += 1
    y *= 3
    y.backward()
    assert (x.item(), y.item(), x.grad.item()) == (1.0, 6.0, 3.0)


METHODS = {
    "reshape": [((3, 2),), (3, 2), (-1,)],
    "transpose": [(), (None,), (1, 0), ((-1, 0),)],
    "swapaxes": [(0, 1), (-1, -2)],
    "sum": [(), (0,), ((0, 1),)],
    "mean": [(), (-1,)],
    "max": [(), (1,)],
    "min": [(), (-2,)],
    "var": [(), (0,)],
    "take": [([1, 0, 1], 0), (-1, 1)],
    "astype": [("f4",)],
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_those_of_numpy_arrays(name):
    x = normal(2, 3)
    for args in METHODS[name]:
        expected = getattr(x, name)(*args)
        got = getattr(Tensor(x), name)(*args)
        assert type(got) is Tensor
        close(got, np.asarray(expected))
        assert got.dtype == expected.dtype


def test_a_vector_transposed_by_its_only_axis_has_a_gradient():
    x = Tensor([1.0, 2.0])
    (x.transpose(0) * array([3.0, 4.0])).sum().backward()
    same(x.grad, np.array([3.0, 4.0]))


def test_ops_given_no_tensor_return_plain_arrays(xp):
    for a in (array([1.0, 2.0]), [1.0, 2.0], 1.0):
        assert type(add(a, 1)) is xp.ndarray
    assert type(take([1.0, 2.0], [0])) is type(split([1.0], 1)[0]) is xp.ndarray
    assert type(cross_entropy([1.0, 2.0], 0)) is xp.ndarray
    x = Tensor([1.0])
    with no_grad():
        assert type(x * 2) is type(x.sum()) is type(x[0]) is type(x.T) is xp.ndarray


def test_data_may_be_assigned():
    x = Tensor([1.0, 2.0])
    x.data = x.data - 1
    (x * x).sum().backward()
    same(x.grad, np.array([0.0, 2.0]))


@numpy_only  # arrays of the stand-in are not made to be copied
def test_a_leaf_survives_pickle_and_deepcopy():
    x = Tensor([1.0, 2.0])
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        same(y.data, x.data)
        assert not np.shares_memory(y.data, x.data)
