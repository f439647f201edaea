"""KeyInstances: v key instances per positive bag, in the paper's rows."""

from __future__ import annotations

import numpy as np
import pytest

from checks import check_label_set, check_rows, enumerate_labels, random_kernel
from wellsvm.labels import KeyInstances
from wellsvm.losses import Losses
from wellsvm.rows import GramRows, LinearRows


def make(sizes: list[int], positive: list[int], v: int = 1) -> KeyInstances:
    return KeyInstances(np.concatenate([[0], np.cumsum(sizes)]), np.array(positive, dtype=bool), v)


SETS = {
    "positive first": ([3, 2, 2], [1, 1, 0], 1),
    "negative first": ([2, 3, 2], [0, 1, 1], 1),
    "in turn": ([2, 3, 1, 2], [1, 0, 0, 1], 1),
    "one instance in a positive bag": ([1, 3, 2], [1, 1, 0], 1),
    "two keys": ([3, 2, 2], [1, 0, 1], 2),
    "more keys than a bag has": ([4, 1, 2], [1, 1, 0], 3),
}


@pytest.mark.parametrize("name", SETS)
def test_the_oracle_is_exact_on_every_kind_of_bag(name):
    check_label_set(make(*SETS[name]), np.random.default_rng(0))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["linear", "gram"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_both_forms_of_rows_keep_their_promises_on_bags(name, kind, loss):
    rng = np.random.default_rng(1)
    label_set = make(*SETS[name])
    X = rng.standard_normal((label_set.n_instances, 3))
    K = X @ X.T if kind == "linear" else random_kernel(rng, label_set.n_instances)
    rows = LinearRows(X, 1.0) if kind == "linear" else GramRows(K, 1.0)
    check_rows(rows, label_set, Losses.of(loss, np.full(label_set.n_rows, 0.7)), K + 1.0, rng)


def test_a_positive_bag_is_a_row_and_so_is_every_negative_instance():
    label_set = make([3, 2, 2], [1, 0, 1])
    assert label_set.starts.tolist() == [0, 3, 4, 5, 7]
    assert label_set.positive_rows.tolist() == [True, False, False, True]
    assert label_set.n_rows == 4


def test_ties_go_to_the_lower_index_for_one_key_and_for_two():
    scores = np.array([0.0, 2.0, 2.0, 2.0, 5.0, 1.0, 1.0])
    assert make([4, 1, 2], [1, 0, 1]).linear_oracle(scores).tolist() == [0, 1, 0, 0, -1, 1, 0]
    assert make([4, 1, 2], [1, 0, 1], 2).linear_oracle(scores).tolist() == [0, 1, 1, 0, -1, 1, 1]


def test_the_number_of_members_is_the_product_of_the_bag_sizes():
    assert len(list(enumerate_labels(make([3, 2, 2, 1], [1, 0, 1, 1])))) == 3 * 2 * 1
    assert len(list(enumerate_labels(make([4, 2, 3], [1, 0, 1], 2)))) == 6 * 3


def test_bags_without_instances_and_impossible_keys_are_refused():
    with pytest.raises(ValueError, match="must not be empty"):
        make([2, 0, 1], [1, 0, 1])
    with pytest.raises(ValueError, match="at least 1"):
        make([2, 1], [1, 0], 0)
    with pytest.raises(ValueError, match="one entry per bag"):
        make([2, 1], [1, 0, 1])


def test_the_oracle_agrees_with_a_plain_loop_on_large_bags():
    rng = np.random.default_rng(2)
    sizes, positive = rng.integers(1, 30, 200), rng.integers(0, 2, 200).astype(bool)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores = rng.integers(0, 10, offsets[-1]).astype(float)
    for v in (1, 3):
        y = KeyInstances(offsets, positive, v).linear_oracle(scores)
        for i in range(200):
            part = slice(offsets[i], offsets[i + 1])
            wanted = np.full(sizes[i], 0 if positive[i] else -1)
            if positive[i]:
                wanted[np.argsort(-scores[part], kind="stable")[:v]] = 1
            np.testing.assert_array_equal(y[part], wanted)
