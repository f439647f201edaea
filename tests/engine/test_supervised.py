"""What labels alone say: out-of-fold values are those of SVMs trained apart, folds spread the classes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from wellsvm.engine.search import guess_of_known
from wellsvm.engine.supervised import fold_of, some_unlabeled, supervised_values
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows

WELL = Options(tol=1e-9, rough=1.0)


def problem(n_classes=2, seed=0, counts=None, n_unlabeled=15):
    rng = np.random.default_rng(seed)
    counts = np.arange(n_classes) + 5 if counts is None else np.array(counts)
    known = rng.permutation(np.repeat(np.arange(n_classes), counts))
    codes = rng.permutation(np.append(known, np.full(n_unlabeled, -1)))
    X = rng.standard_normal((codes.size, 4))
    X[:, 0] += codes
    return X, codes, rng.uniform(0.5, 2.0, codes.size)


def dual_svm(K, positive, C, train, near=None):
    """f of the rows of K by a generic bounded solver of the dual: hinge loss, no intercept beside that in K."""
    near = K if near is None else near
    C = np.where(train, C, 0.0)
    sides = C[positive].sum(), C[~positive].sum()
    caps = C * np.where(positive, sum(sides) / (2 * sides[0]), sum(sides) / (2 * sides[1]))
    y = np.where(positive, 1.0, -1.0)
    Q = near * np.outer(y, y)
    dual = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1), np.zeros(y.size), jac=True, method="L-BFGS-B",
        bounds=[(0, cap) for cap in caps], options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 100_000},
    )  # fmt: skip
    return K @ (dual.x * y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["dense", "CSR", "gram"])
def test_out_of_fold_values_are_those_of_svms_that_saw_the_other_folds_only(form, n_classes):
    X, codes, C = problem(n_classes)
    rows = {"dense": LinearRows(X, 1.0), "CSR": LinearRows(sp.csr_matrix(X), 1.0), "gram": GramRows(X @ X.T, 1.0)}[form]
    found = supervised_values(rows, codes, n_classes, C, 3, WELL)
    labeled = np.flatnonzero(codes >= 0)
    known, prices = codes[labeled], C[labeled] / C[labeled].mean()
    fold = fold_of(known, WELL.folds, np.random.default_rng(3))
    K = X @ X.T + 1.0
    near = K[np.ix_(labeled, labeled)]
    columns = [1] if n_classes == 2 else range(n_classes)
    assert found.out_of_fold.shape == (labeled.size, len(columns))
    for column, k in enumerate(columns):
        positive = known == k
        for f in np.unique(fold):
            wanted = dual_svm(near, positive, prices, fold != f)[fold == f]
            np.testing.assert_allclose(found.out_of_fold[fold == f, column], wanted, atol=1e-3)
        everywhere = dual_svm(K[:, labeled], positive, prices, np.ones(labeled.size, bool), near)
        np.testing.assert_allclose(found.unlabeled[:, column], everywhere[codes < 0], atol=1e-3)


@pytest.mark.parametrize("form", ["dense", "gram"])
def test_inner_products_with_the_means_and_squared_lengths(form):
    X, codes, C = problem(3)
    rows = LinearRows(X, 2.0) if form == "dense" else GramRows(X @ X.T, 2.0)
    found = supervised_values(rows, codes, 3, C, 0, Options())
    wide = np.hstack([X, np.full((len(X), 1), 2.0)])
    means = np.stack([wide[codes == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(found.means_labeled, wide[codes >= 0] @ means.T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.means_unlabeled, wide[codes < 0] @ means.T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.squares, np.sum(wide[codes >= 0] ** 2, axis=1), rtol=1e-6)


def test_the_only_label_of_a_class_has_the_value_0():
    X, codes, C = problem(counts=(1, 7))
    found = supervised_values(LinearRows(X, 1.0), codes, 2, C, 0, Options())
    known = codes[codes >= 0]
    assert found.out_of_fold[known == 0, 0] == 0.0
    assert np.all(found.out_of_fold[known == 1, 0] != 0.0)


def test_only_proportions_of_prices_count():
    X, codes, C = problem(3)
    first, second = (supervised_values(LinearRows(X, 1.0), codes, 3, c * C, 0, WELL) for c in (1.0, 100.0))
    np.testing.assert_allclose(first.out_of_fold, second.out_of_fold, atol=1e-6)
    np.testing.assert_allclose(first.unlabeled, second.unlabeled, atol=1e-6)


@pytest.mark.parametrize("counts", [(10, 10), (3, 17), (1, 1), (1, 5, 30), (2, 2, 2, 2)])
def test_every_class_is_spread_over_the_folds(counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    fold = fold_of(codes, 5, np.random.default_rng(0))
    n_folds = max(2, min(5, max(counts)))
    assert set(fold) <= set(range(n_folds))
    for k, count in enumerate(counts):
        of_class = np.bincount(fold[codes == k], minlength=n_folds)
        assert of_class.max() - of_class.min() <= 1
        assert of_class.sum() == count
    sizes = np.bincount(fold, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    if len(codes) > n_folds:
        assert np.all(sizes > 0)


def test_folds_are_drawn_anew_by_another_seed_only():
    codes = np.repeat([0, 1], 20)
    first, again, other = (fold_of(codes, 10, np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_few_unlabeled_rows_are_all_kept_and_of_many_a_sample_at_the_price_of_all():
    X, codes, C = problem(n_unlabeled=40)
    rows, rng = LinearRows(X, 1.0), np.random.default_rng(0)
    assert some_unlabeled(rows, codes, C, 40, rng) == (rows, codes, C)
    C = np.where(codes < 0, 0.3, C)
    part, kept, prices = some_unlabeled(rows, codes, C, 10, rng)
    assert part.n_instances == kept.size == prices.size == np.count_nonzero(codes >= 0) + 10
    np.testing.assert_array_equal(kept[kept >= 0], codes[codes >= 0])
    np.testing.assert_array_equal(prices[kept >= 0], C[codes >= 0])
    assert prices[kept < 0].sum() == pytest.approx(C[codes < 0].sum())


def test_the_guess_of_known_labels_is_the_same_for_rows_and_for_their_matrix():
    X, codes, C = problem()
    known, losses = np.where(codes < 0, 0, 2 * codes - 1).astype(np.int8), Losses.of("squared_hinge", C)
    guesses = [
        guess_of_known(rows, known, losses, np.random.default_rng(0), WELL)
        for rows in (LinearRows(X, 1.5), GramRows(X @ X.T, 1.5))
    ]
    np.testing.assert_allclose(guesses[1].scores, guesses[0].scores, atol=1e-4)
    np.testing.assert_allclose(guesses[1].alpha, guesses[0].alpha, atol=1e-4)
    assert np.all(guesses[1].alpha[known == 0] == 0)
