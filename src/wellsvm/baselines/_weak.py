"""Rivals for positive and unlabeled rows, proportions and candidates, on linear functions of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from wellsvm.estimators.candidate_reading import read_candidates
from wellsvm.estimators.group_shares import read_group_shares
from wellsvm.estimators.positive_labels import read_positives
from wellsvm.labels.proportions import ProportionLabels

__all__ = ["AlternatingProportionSVC", "AveragedCandidatesSVC", "ElkanNotoSVC", "MeanMap"]


class LinearRival(ClassifierMixin, BaseEstimator):
    """A linear function per class, or one for two classes: `fit` of a subclass stores coef_, intercept_, classes_."""

    def _rows(self, X: Any, reset: bool = True) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)

    def decision_function(self, X):
        """Values of f: of shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        check_is_fitted(self)
        values = self._rows(X, reset=False) @ self.coef_.T + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        """Class of every row."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]

    def _store(self, classes: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> None:
        self.classes_, self.coef_, self.intercept_ = classes, np.atleast_2d(coef), np.atleast_1d(intercept)


class ElkanNotoSVC(LinearRival):
    """SVM for positive and unlabeled rows (Elkan and Noto 2008): an unlabeled row counts as both, weighted.

    A logistic regression g(x) separates labeled from unlabeled rows; c is its mean over held-out positives. An
    unlabeled row is positive with probability ``(1 - c) / c * g / (1 - g)``, and counts as a positive and as a negative
    row with the corresponding weights in an SVM.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of both models.
    hold_out : float, default=0.2
        Share of the positives used to estimate c.
    unlabeled, positive_class, negative_class :
        As in `wellsvm.PositiveUnlabeledSVC`.
    random_state : int, RandomState or None, default=None
        Seed of the choice of held-out positives.
    """

    def __init__(
        self, C=1.0, hold_out=0.2, unlabeled="auto", positive_class=None, negative_class=None, random_state=None
    ):
        self.C = C
        self.hold_out = hold_out
        self.unlabeled = unlabeled
        self.positive_class = positive_class
        self.negative_class = negative_class
        self.random_state = random_state

    def fit(self, X, y):
        """Learn from positive and unlabeled rows."""
        X = self._rows(X)
        known = read_positives(y, X.shape[0], self.unlabeled, self.positive_class, self.negative_class)
        positives = np.flatnonzero(known.labeled)
        n_out = max(1, round(self.hold_out * positives.size)) if positives.size > 1 else 0
        out = check_random_state(self.random_state).permutation(positives)[:n_out]
        kept = np.delete(np.arange(X.shape[0]), out)
        model = LogisticRegression(C=self.C, max_iter=1000).fit(X[kept], known.labeled[kept])
        g = model.predict_proba(X)[:, 1]
        self.c_ = float(g[out if n_out else positives].mean())
        rest = np.flatnonzero(~known.labeled)
        chance = np.clip((1 - self.c_) / self.c_ * g[rest] / np.maximum(1 - g[rest], 1e-12), 0.0, 1.0)
        rows = np.concatenate([positives, rest, rest])
        signs = np.repeat([1, 1, -1], [positives.size, rest.size, rest.size])
        weights = np.concatenate([np.ones(positives.size), chance, 1 - chance])
        used = weights > 0
        svm = LinearSVC(C=self.C, random_state=0).fit(X[rows[used]], signs[used], weights[used])
        self._store(known.classes, svm.coef_, svm.intercept_)
        return self


class MeanMap(LinearRival):
    """Classifier from class proportions by the mean map (Quadrianto et al. 2009), for two classes.

    The logistic loss depends on the labels only through the mean of ``y x``. The means of the two classes are fitted to
    the means of the groups, ``mean_g = p_g m+ + (1 - p_g) m-`` by least squares.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses.
    """

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y=None, groups=None, proportions=None):
        """Learn from groups and their proportions, as `wellsvm.ProportionSVC.fit`."""
        X = self._rows(X)
        given = _two_classes(X, y, groups, proportions)
        n, size = X.shape[0], np.maximum(np.bincount(given.rows, minlength=len(given.low)), 1)
        share = (given.low + given.high)[:, 1] / 2
        solving = np.linalg.pinv(np.stack([share, 1 - share], axis=1))
        Z = np.hstack([X.toarray() if hasattr(X, "toarray") else X, np.ones((n, 1))])
        means = (solving / size)[:, given.rows] @ Z
        p = float(share[given.rows].mean())
        target = n * (p * means[0] - (1 - p) * means[1])

        def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
            f = Z @ w
            value = 0.5 * w @ w + self.C * (np.sum(np.logaddexp(f / 2, -f / 2)) - 0.5 * target @ w)
            return value, w + self.C * (Z.T @ (expit(f) - 0.5) - 0.5 * target)

        w = minimize(loss, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B").x
        self._store(given.known.classes, w[:-1], w[-1:])
        return self


class AlternatingProportionSVC(LinearRival):
    """Classifier from class proportions by alternating an SVM and relabeling (Yu et al. 2013), for two classes.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the SVM.
    n_init : int, default=5
        Number of random labelings to start from; the result with the lowest objective is kept.
    max_iter : int, default=20
        Maximum number of rounds per start.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    """

    def __init__(self, C=1.0, n_init=5, max_iter=20, random_state=None):
        self.C = C
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None, groups=None, proportions=None):
        """Learn from groups and their proportions, as `wellsvm.ProportionSVC.fit`."""
        X = self._rows(X)
        given = _two_classes(X, y, groups, proportions)
        labels = ProportionLabels(given.rows, *given.bounds(1, 0.0, np.zeros(X.shape[0], dtype=np.int8)))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        reached = [self._alternate(X, labels, labels.initial(rng)) for _ in range(self.n_init)]
        _, svm = min(reached, key=lambda pair: pair[0])
        self._store(given.known.classes, svm.coef_, svm.intercept_)
        return self

    def _alternate(self, X: Any, labels: ProportionLabels, y: np.ndarray) -> tuple[float, LinearSVC]:
        for _ in range(self.max_iter):
            svm = LinearSVC(C=self.C, random_state=0).fit(X, y)
            f = svm.decision_function(X)
            before, y = y, labels.linear_oracle(f)
            if np.array_equal(y, before):
                break
        return float(0.5 * np.sum(svm.coef_**2) + self.C * np.sum(np.maximum(0, 1 - y * f) ** 2)), svm


class AveragedCandidatesSVC(LinearRival):
    """SVM for candidate labels by averaging: a row counts equally for each candidate, and against all other classes.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the SVMs.
    classes : array or None, default=None
        Names of the classes, as in `wellsvm.CandidateLabelSVC`.
    """

    def __init__(self, C=1.0, classes=None):
        self.C = C
        self.classes = classes

    def fit(self, X, y):
        """Learn from candidate labels, as `wellsvm.CandidateLabelSVC.fit`."""
        X = self._rows(X)
        classes, candidates = read_candidates(y, X.shape[0], self.classes)
        parts = 1 / candidates.sum(axis=1)
        svms = [
            LinearSVC(C=self.C, random_state=0).fit(X, mine, np.where(mine, parts, 1.0))
            for mine in (candidates.T[1:] if classes.size == 2 else candidates.T)
        ]
        self._store(classes, np.vstack([s.coef_ for s in svms]), np.concatenate([s.intercept_ for s in svms]))
        return self


def _two_classes(X: Any, y: Any, groups: Any, proportions: Any) -> Any:
    given = read_group_shares(X.shape[0], y, groups, proportions, None, "auto")
    if len(given.known.classes) != 2:
        raise ValueError(f"this estimator supports two classes only, but proportions has {len(given.known.classes)}")
    return given
