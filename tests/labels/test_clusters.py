"""ClusterLabels: the balance interval, its exact oracle, and the sign that y and -y share."""

from __future__ import annotations

import numpy as np
import pytest

from checks import check_label_set, enumerate_labels
from wellsvm.labels import ClusterLabels


@pytest.mark.parametrize("n, beta", [(6, 0), (6, 2), (7, 1), (7, 3.5), (8, 2.4), (5, 5), (4, 0)])
def test_the_oracle_is_exact_and_stays_in_the_set(n, beta):
    check_label_set(ClusterLabels(n, beta), np.random.default_rng(n))


@pytest.mark.parametrize("n, beta", [(6, 2), (7, 1), (7, 2.9), (8, 2.4), (9, 9)])
def test_the_set_is_every_sign_vector_whose_sum_is_at_most_beta(n, beta):
    members = {y.tobytes() for y in enumerate_labels(ClusterLabels(n, beta))}
    signs = np.array(np.meshgrid(*[[-1, 1]] * n)).reshape(n, -1).T.astype(np.int8)
    assert members == {y.tobytes() for y in signs if abs(int(y.sum(dtype=int))) <= beta}


def test_the_ends_are_forced_and_the_middle_goes_by_sign():
    # Eq. (32) for N = 6, beta = 2: the two largest +1, the two smallest -1, whatever their sign.
    labels = ClusterLabels(6, 2)
    np.testing.assert_array_equal(labels.linear_oracle(np.array([1.0, 2, 3, 4, 5, 6])), [-1, -1, 1, 1, 1, 1])
    np.testing.assert_array_equal(labels.linear_oracle(np.array([-1.0, -2, -3, -4, -5, -6])), [1, 1, -1, -1, -1, -1])
    np.testing.assert_array_equal(labels.linear_oracle(np.array([5.0, -5, 4, -4, 0.1, -0.1])), [1, -1, 1, -1, 1, -1])
    np.testing.assert_array_equal(labels.linear_oracle(np.array([5.0, -5, 4, -4, 0.1, 0.2])), [1, -1, 1, -1, 1, 1])


def test_rows_without_influence_are_labeled_by_index():
    np.testing.assert_array_equal(ClusterLabels(5, 1).linear_oracle(np.zeros(5)), [1, 1, 1, -1, -1])


def test_y_and_its_negative_have_one_canonical_sign():
    rng = np.random.default_rng(0)
    labels = ClusterLabels(9, 3)
    like = labels.initial(rng)
    for _ in range(20):
        y = labels.linear_oracle(rng.standard_normal(9))
        np.testing.assert_array_equal(labels.oriented(y, like), labels.oriented(-y, like))
        assert int(labels.oriented(y, like).astype(int) @ like) > 0
        assert labels.initial(rng)[0] == 1
    assert labels.symmetric


def test_of_two_names_that_agree_equally_the_one_with_a_positive_first_row_is_taken():
    labels = ClusterLabels(4, 0)
    y, like = np.array([1, -1, 1, -1], np.int8), np.array([1, 1, -1, -1], np.int8)
    np.testing.assert_array_equal(labels.oriented(y, like), y)
    np.testing.assert_array_equal(labels.oriented(-y, like), y)


@pytest.mark.parametrize("n, beta", [(5, 0), (5, 0.9), (4, -1), (7, -0.5)])
def test_a_beta_that_admits_no_labelling_is_refused(n, beta):
    with pytest.raises(ValueError, match=f"allows no labeling of {n} rows"):
        ClusterLabels(n, beta)


def test_a_share_admits_a_labelling_without_an_empty_cluster_at_every_size():
    for n in range(2, 60):
        for balance in (0.0, 0.03, 0.3, 0.7, 1.0):
            labels = ClusterLabels.of_share(n, balance)
            assert 1 <= labels.low <= labels.high <= n - 1
            assert labels.high - labels.low <= max(balance * n, n % 2) + 1e-9


def test_a_share_forgives_rounding():
    assert ClusterLabels.of_share(10, 0.2).low == 4
    assert ClusterLabels.of_share(30, 0.2).low == 12
    assert ClusterLabels.of_share(70, 0.1 * 3).low == 25  # 21 rows: (70 - 21) / 2, rounded up
