"""What the demos compute for the chapter's claims C and D, on sequences, roles and limits."""

import numpy as np
import pytest
from conftest import close, normal, numpy_only

from demos.c_sequences import content, parallel, paths, reach
from demos.d_roles import memory, roles
from minigrad import Tensor
from minigrad import backend as B


# C1, C3
def test_an_output_depends_on_all_before_it_and_on_nothing_else():
    assert (reach.influence(33) == np.tri(33, k=-1, dtype=bool)).all()


@pytest.mark.parametrize("distance", [2, 30, 300])
def test_what_arrives_is_1_over_m_or_0_9_to_the_m(distance):
    assert reach.attention_size(distance, 0) == pytest.approx(1 / distance)
    assert 0.9 < reach.attention_size(distance, reach.MATCH) < 1 + 1e-12
    assert reach.recurrent_size(distance) <= 0.9 ** (distance - 1) * (1 + 1e-12)


# C2
def test_flops_of_a_layer_are_those_counted_by_hand():
    n, d, k = 7, 5, 3
    scaled, products, softmaxed = n * d, 4 * n * n * d, n * n
    hand = {
        "attention": scaled + products + softmaxed,
        "recurrent": (n - 1) * (2 * d * d + d + d),  # product, sum, tanh
        "convolution": n * (2 * k * d * d + d),  # product, relu
    }
    assert {name: paths.cost(name, n, d, k)[0] for name in hand} == hand


def test_steps_count_the_longest_chain_of_products():
    x = Tensor(normal(2, 2))
    assert paths.steps(x + 1) == 0
    assert paths.steps((x @ x) + (x @ x) @ (x @ x) @ x) == 3


def test_table_1_of_attention_is_all_you_need():
    for name, powers in paths.TABLE_1.items():
        assert paths.exponents(name) == pytest.approx(powers, abs=0.03)
    assert [paths.path(name, 82)[0] for name in paths.COLOURS] == [3, 243, 123, 15]
    assert [paths.cost(name, 50, 2)[1] for name in paths.TABLE_1] == [2, 49, 1]


@pytest.mark.parametrize("name", paths.COLOURS)
def test_a_path_that_is_counted_carries_a_gradient(name):
    (first, *_), last = paths.connected(name, 10)
    last.sum().backward()
    assert np.abs(B.to_numpy(first.grad)).max() > 0


# C4, C5
def test_a_batch_records_the_same_ops_for_any_number_of_queries():
    assert {parallel.counts(n) for n in (1, 3, 50)} == {(2, 1, 5)}


def test_weights_move_with_the_key_or_stay_with_the_place():
    followed, fixed = content.attention_weights(), content.convolution_weights()
    close(followed.diagonal(), np.full(content.M, followed[0, 0]))
    assert (followed.argmax(axis=1) == np.arange(content.M)).all()
    close(fixed, np.tile([0] * (content.M - 3) + [0.2, 0.3, 0.5], (content.M, 1)))
    attended, convolved = content.shuffled_apart(seed=5)
    assert attended < 1e-12
    assert convolved > 0.01


# D1
def test_no_country_comes_out_of_a_dictionary_of_capitals():
    assert roles.from_capitals() == [0, 40]


@numpy_only
def test_separate_keys_and_values_recall_at_a_width_where_tied_ones_do_not():
    (tied, fewer), (separate, more) = (roles.recall(4, t) for t in (True, False))
    assert separate.min() > 0.99
    assert tied.max() < 0.5
    assert fewer < more


def test_lists_hold_what_they_are_asked_for_once():
    x, numbers = roles.lists(np.random.default_rng(0), 50)
    letters, values = x[..., : roles.SYMBOLS], x[..., roles.SYMBOLS :]
    asked = (letters[:, :-1] @ letters[:, -1, :, None])[..., 0]  # (n, PAIRS)
    assert (asked.sum(axis=1) == 1).all()
    assert ((asked[:, None] @ values[:, :-1]).argmax(axis=-1)[:, 0] == numbers).all()


# D2
@numpy_only
def test_memory_is_quadratic_with_the_scores_stored_and_linear_without():
    slopes = [
        memory.slope([memory.peak(attend, n) for n in (512, 1024)])
        for attend in memory.WAYS.values()
    ]
    assert slopes == pytest.approx([1.9, 1.0], abs=0.1)
