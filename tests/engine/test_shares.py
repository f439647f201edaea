"""Class shares of the unlabeled rows: right where scores tell them, cautious where they do not, with honest errors."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp

from wellsvm.engine.shares import combined_scores, estimate_shares, mean_scores, shares_of_unlabeled
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows

SHARES = {2: (0.3, 0.7), 3: (0.15, 0.25, 0.6), 8: (0.02, 0.04, 0.08, 0.1, 0.12, 0.14, 0.2, 0.3)}


def blobs(seed, shares, n_unlabeled=600, per_class=8, distance=12.0, n_features=6):
    """Gaussian clouds; ``per_class`` labels of each, as many for every class or one number per class.

    Returns rows, codes (-1 where unlabeled) and the true shares of the unlabeled rows.
    """
    rng = np.random.default_rng(seed)
    n_classes = len(shares)
    hidden = rng.choice(n_classes, n_unlabeled, p=shares)
    known = np.repeat(np.arange(n_classes), per_class)
    truth = np.concatenate([known, hidden])
    centres = rng.standard_normal((n_classes, n_features))
    centres *= distance / np.linalg.norm(centres, axis=1, keepdims=True)
    X = rng.standard_normal((truth.size, n_features)) + centres[truth]
    codes = np.where(np.arange(truth.size) < known.size, truth, -1)
    return X, codes, np.bincount(hidden, minlength=n_classes) / n_unlabeled


def estimate(X, codes, rows=None, seed=0, options=Options()):
    rows = LinearRows(X, 1.0) if rows is None else rows
    return shares_of_unlabeled(rows, codes, codes.max() + 1, "squared_hinge", np.ones(len(codes)), seed, options)


@pytest.mark.parametrize("n_classes", SHARES)
@pytest.mark.parametrize("per_class", ["drawn at random", "class by class"])
def test_shares_are_positive_and_sum_to_one_with_an_error_each(per_class, n_classes):
    counts = 8 if per_class == "class by class" else np.arange(n_classes) + 4
    shares, errors = estimate(*blobs(0, SHARES[n_classes], per_class=counts, distance=2.0)[:2])
    assert shares.shape == errors.shape == (n_classes,)
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(shares > 0)
    assert np.all((errors > 0) & (errors < 0.5))


@pytest.mark.parametrize("n_classes", SHARES)
@pytest.mark.parametrize("seed", range(3))
def test_well_separated_blobs_are_counted_though_the_labels_were_collected_class_by_class(seed, n_classes):
    X, codes, truth = blobs(seed, SHARES[n_classes], distance=20.0, n_features=12)
    np.testing.assert_allclose(estimate(X, codes).shares, truth, atol=0.03)


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("form", [lambda X: LinearRows(X, 1.0), lambda X: GramRows(X @ X.T, 1.0)], ids=["rows", "gram"])
def test_a_rare_class_is_told_though_as_many_labels_were_collected_of_it(form, rare):
    shares = np.array([0.95, 0.05])[:: 1 if rare else -1]
    found = []
    for seed in range(6):
        X, codes, truth = blobs(seed, shares, per_class=20, distance=2.5)
        found.append(estimate(X, codes, form(X)).shares[rare] - truth[rare])
    assert np.mean(found) < 0.06
    assert np.max(np.abs(found)) < 0.12


@pytest.mark.parametrize("counts", [(5, 15), (12, 4, 24)])
def test_where_scores_say_nothing_shares_are_about_those_of_the_labels(counts):
    X, codes, _ = blobs(1, np.full(len(counts), 1 / len(counts)), per_class=counts, distance=1e-9)
    shares, errors = estimate(X, codes)
    drawn = np.array(counts) / sum(counts)
    assert np.all(np.abs(shares - drawn) < 0.08)
    # and no more certain than that many labels drawn at random
    np.testing.assert_allclose(errors, np.sqrt(drawn * (1 - drawn) / sum(counts)), rtol=0.25)


def test_constant_scores_give_the_counts_of_labels_with_a_vote_for_each_class():
    codes = np.repeat([0, 1], [6, 14])
    shares, errors = estimate_shares(np.zeros((20, 2)), np.zeros((50, 2)), codes)
    np.testing.assert_allclose(shares, [7 / 22, 15 / 22], rtol=1e-9)
    np.testing.assert_allclose(errors, np.sqrt(7 * 15 / 22**2 / 20), rtol=1e-9)


def test_constant_scores_give_equal_shares_where_labels_were_collected_class_by_class():
    shares, errors = estimate_shares(np.zeros((12, 3)), np.zeros((50, 3)), np.repeat([0, 1, 2], 4))
    np.testing.assert_allclose(shares, 1 / 3, rtol=1e-9)
    np.testing.assert_allclose(errors, np.sqrt(1 / 18), rtol=1e-9)  # all shares alike likely


def test_votes_for_equal_shares_are_of_all_classes_together(monkeypatch):
    X, codes, _ = blobs(1, np.array([0.4, 0.25, 0.15, 0.1, 0.05, 0.05]), per_class=5, distance=2.0)
    of_module, calls = import_module("wellsvm.engine.shares"), []
    mean_posterior = of_module._mean_posterior
    monkeypatch.setattr(
        of_module, "_mean_posterior", lambda *given: calls.append((given[1], mean_posterior(*given))) or calls[-1][1]
    )
    estimate(X, codes)
    (_, first), (second, _) = calls[:2]
    np.testing.assert_allclose(second, (Options.equal_votes / 6 + 30 * first) / (Options.equal_votes + 30), rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_seed_gives_the_same_bits_twice(n_classes):
    X, codes, _ = blobs(2, SHARES[n_classes], distance=2.0)
    first, second = (estimate(X, codes, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.shares, second.shares)
    np.testing.assert_array_equal(first.errors, second.errors)


@pytest.mark.parametrize("counts", [(1, 1), (1, 9), (1, 1, 1), (1, 6, 5)])
def test_a_single_label_of_a_class_is_enough(counts):
    X, codes, truth = blobs(3, SHARES[len(counts)], per_class=counts)
    shares, errors = estimate(X, codes)
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(errors).all()
    assert np.all(np.abs(shares - truth) < 4 * errors)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_dense_sparse_and_gram_rows_of_one_kernel_agree(n_classes):
    X, codes, _ = blobs(4, SHARES[n_classes], distance=2.5, n_unlabeled=200)
    well = Options(tol=1e-10)
    dense = estimate(X, codes, options=well)
    for rows in (LinearRows(sp.csr_matrix(X), 1.0), GramRows(X @ X.T, 1.0)):
        other = estimate(X, codes, rows, options=well)
        np.testing.assert_allclose(other.shares, dense.shares, atol=1e-5)
        np.testing.assert_allclose(other.errors, dense.errors, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("per_class", [10, (6, 14)], ids=["class by class", "drawn at random"])
@pytest.mark.parametrize("distance", [1.0, 2.0, 4.0])
def test_the_truth_is_within_three_standard_errors_in_nine_of_ten_draws(distance, per_class):
    within = []
    for seed in range(20):
        X, codes, truth = blobs(seed, SHARES[2], per_class=per_class, distance=distance, n_unlabeled=300)
        shares, errors = estimate(X, codes, seed=seed)
        within.append(abs(shares[1] - truth[1]) <= 3 * errors[1])
    assert np.mean(within) >= 0.9


def test_the_more_the_scores_tell_the_smaller_the_error():
    errors = [estimate(*blobs(5, SHARES[2], distance=distance)[:2]).errors[1] for distance in (0.5, 2.0, 8.0)]
    assert errors[0] > errors[1] > errors[2]


# ------------------------------------------------------------------ scores


def test_scores_of_means_leave_the_row_itself_out():
    rng = np.random.default_rng(0)
    X, U, codes = rng.standard_normal((9, 4)), rng.standard_normal((5, 4)), np.repeat([0, 1, 2], [2, 3, 4])
    means = np.stack([X[codes == k].mean(axis=0) for k in range(3)])
    labeled, unlabeled = mean_scores(X @ means.T, np.sum(X**2, axis=1), U @ means.T, codes)
    halves = np.zeros(3)
    for k in range(3):
        members = X[codes == k]
        others = (members.sum(axis=0) - members) / (len(members) - 1)
        halves[k] = 0.5 * np.mean(np.sum(members * others, axis=1))
        np.testing.assert_allclose(labeled[codes == k, k], np.sum(members * others, axis=1) - halves[k], rtol=1e-12)
    np.testing.assert_allclose(unlabeled, U @ means.T - halves, rtol=1e-12)


def test_the_score_of_an_only_label_for_its_own_class_says_nothing():
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((6, 3)), np.array([0, 0, 0, 1, 1, 2])
    means = np.stack([X[codes == k].mean(axis=0) for k in range(3)])
    labeled, _ = mean_scores(X @ means.T, np.sum(X**2, axis=1), X @ means.T, codes)
    assert labeled[5, 2] == pytest.approx(labeled[5, :2].mean())


def test_combined_scores_do_not_depend_on_the_scale_of_either_kind():
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1], 5)
    svm = rng.standard_normal((10, 1)), rng.standard_normal((7, 1))
    means = rng.standard_normal((10, 2)), rng.standard_normal((7, 2))
    plain = combined_scores(codes, svm, means)
    scaled = combined_scores(codes, tuple(1000 * s for s in svm), tuple(s / 1000 + 3 for s in means))
    for a, b in zip(plain, scaled):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-9)
