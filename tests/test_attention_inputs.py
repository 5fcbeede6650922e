"""Attention of batches, narrow floats, odd sizes, plain arrays, and mistakes."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from conftest import array, close, normal, same
from qkv import pull, qkv

from attention import attention, dot
from minigrad import Tensor, gradcheck, no_grad
from minigrad import backend as B


def test_axes_in_front_broadcast_and_their_gradients_are_summed():
    def f(Q, K, V):
        return attention(Q, K, V)

    Q, K, V = normal(2, 1, 2, 3), normal(2, 4, 3, seed=1), normal(4, 2, seed=2)
    Y = B.to_numpy(attention(array(Q), array(K), array(V)))
    assert Y.shape == (2, 2, 2, 2)
    for a, b in np.ndindex(2, 2):
        close(Y[a, b], attention(array(Q[a, 0]), array(K[b]), array(V)))
    gradcheck(f, Q, K, V, order=2)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_with_queries_and_keys_of_different_number(causal):
    for n, m in [(2, 3), (3, 2), (1, 1)]:
        gradcheck(
            lambda Q, K, V: attention(Q, K, V, causal=causal),
            *(B.to_numpy(x) for x in qkv(n, m)),
            order=2,
        )


def test_gradients_flow_through_the_returned_weights():
    def f(Q, K, V):
        return attention(Q, K, V, causal=True, return_weights=True)[1]

    gradcheck(f, *(B.to_numpy(x) for x in qkv(3, 4)), order=2)
    Y, A = attention(*qkv(), return_weights=True)
    close(Y, A @ qkv()[2])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_every_result_has_the_dtype_of_the_qkv(dtype, causal, masked):
    leaves = qkv(dtype=dtype)
    mask = array(normal(4, 5) > 0) if masked else None
    Y, A = attention(*leaves, mask=mask, causal=causal, return_weights=True)
    assert {x.dtype for x in (Y, A, *pull(Y, leaves))} == {np.dtype(dtype)}


def test_arrays_lists_and_integers_give_the_same_numbers_as_tensors(xp):
    Q, K, V = ([[1, 0], [2, 1]], [[1, 1], [0, 3]], [[10], [20]])
    Y = attention(*(Tensor(x) for x in (Q, K, V)))
    same(attention(Q, K, V), Y)
    same(attention(*(array(x) for x in (Q, K, V))), Y)
    mixed = attention(Tensor(Q, "float32"), array(K), V)
    assert mixed.dtype == "float32"
    with no_grad():
        plain = attention(*(Tensor(x) for x in (Q, K, V)), mask=[True, True])
    assert isinstance(plain, xp.ndarray)
    same(plain, Y)


@pytest.mark.parametrize("kwargs", [{}, {"causal": True}, {"mask": [[True]]}])
def test_no_keys_no_queries_or_no_width(kwargs):
    for shape, expected in [
        ((3, 0, 2), np.zeros((3, 2))),  # the empty dictionary
        ((0, 3, 2), np.zeros((0, 2))),
        ((0, 0, 2), np.zeros((0, 2))),
    ]:
        leaves = qkv(*shape)
        y = attention(*leaves, **kwargs)
        same(y, expected)
        for grad, leaf in zip(pull(y, leaves), leaves, strict=True):
            same(grad, np.zeros(leaf.shape))
    no_width = qkv(3, 3, 0)
    if not kwargs.get("causal"):
        close(
            attention(*no_width, **kwargs), np.tile(no_width[2].numpy().mean(0), (3, 1))
        )


def test_the_inputs_are_left_as_they_were():
    leaves = qkv(front=(2,))
    mask = array(normal(4, 5) > 0)
    kept = [B.to_numpy(x).copy() for x in (*leaves, mask)]
    pull(attention(*leaves, mask=mask, causal=True), leaves)
    for x, before in zip((*leaves, mask), kept, strict=True):
        same(x, before)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            [(3,), (5, 3), (5, 2)],
            r"attention: Q \(3,\).* must be \(…, n, d_q\).*1 axes",
        ),
        ([(4, 3), (5, 3), (5,)], r"attention: .*V \(5,\) must be .*1 axes"),
        (
            [(4, 3), (5, 3), (6, 2)],
            r"attention: .*K \(5, 3\), V \(6, 2\).*m is both 5 and 6",
        ),
        (
            [(4, 3), (5, 2), (5, 2)],
            r"attention: .*scaled_dot: Q \(4, 3\), K \(5, 2\).*d is both",
        ),
        (
            [(2, 4, 3), (3, 5, 3), (5, 2)],
            r"attention: Q \(2, 4, 3\), K \(3, 5, 3\), V .*do not broadcast",
        ),
        ([(2, 4, 3), (5, 3), (3, 5, 2)], r"attention: .* do not broadcast"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_at_the_call(shapes, message):
    with pytest.raises(ValueError, match=message):
        attention(*(Tensor(normal(*s)) for s in shapes))


def test_numbers_of_another_kind_are_refused_at_the_call():
    Q, K, V = qkv()
    with pytest.raises(
        TypeError, match="attention: .*mixed dtypes float32, float64, float64"
    ):
        attention(Tensor(Q.numpy(), "float32"), K, V)
    with pytest.raises(TypeError, match="attention: expected .* got complex128"):
        attention(Q, array(1j * K.numpy()), V)
    with pytest.raises(ValueError, match=r"attention: .* K \(\), .* must be .* 0 axes"):
        attention(Q, 3.0, V)


def test_an_array_of_another_backend_is_refused_at_the_call(xp):
    for arguments in ({"V": normal(5, 2)}, {"mask": np.ones((4, 5), bool)}):
        refused = pytest.raises(TypeError, match="attention: got an array of numpy")
        with nullcontext() if xp is np else refused:
            attention(**(dict(zip("QKV", qkv(), strict=True)) | arguments))


def test_nan_in_is_nan_out_and_never_an_exception():
    for i in range(3):
        leaves = qkv(front=(2,))
        leaves[i].data[0, 1, 0] = math.nan
        y = attention(*leaves, score=dot)
        for grad in pull(y, leaves):
            assert np.isfinite(
                B.to_numpy(grad)[1]
            ).all()  # the other batch is untouched
        nan = np.isnan(B.to_numpy(y))
        same(nan[1], np.zeros((4, 2), bool))
        rows, columns = [(1, [0, 1]), (slice(None), [0, 1]), (slice(None), [0])][i]
        assert nan[0][rows][..., columns].all()
        assert nan.sum() == [2, 8, 4][i]
