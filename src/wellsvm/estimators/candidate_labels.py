"""CandidateLabelSVC: for each row a set of classes, one of which is true (partial labels)."""

from __future__ import annotations

import numpy as np

from wellsvm.engine.disambiguation import disambiguate, equal_parts_are_better
from wellsvm.engine.joint import JointLabels
from wellsvm.estimators.base import fitting
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.candidate_reading import read_candidates
from wellsvm.estimators.weak_base import WeakBase
from wellsvm.labels.candidates import candidate_sets
from wellsvm.partial_labels import PartialLabels

__all__ = ["CandidateLabelSVC"]


class CandidateLabelSVC(WeakBase):
    """Large-margin classifier that learns from candidate labels: several classes per row, one of which is true.

    First, all classes are relabeled together, and every row is assigned to one of its candidates; this estimates the
    number of rows in each class. Then each class is separated from the rest: rows whose only candidate is this class
    are positive, rows without this candidate are negative, and among the others the estimated number of rows is
    positive. Every row has one class.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a row with one candidate.
    C_ambiguous : float, default=2.0
        Penalty on the loss of a row with several candidates.
    classes : array of shape (n_classes,) or None, default=None
        Names of the classes; for a matrix, in the order of its columns. None: the columns of a data frame, the members
        of the sets, or 0, 1, ...
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel. A callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid". A larger value makes the kernel narrower. "mean" is one over the
        mean squared distance between training rows; "scale" and "auto" are as in :class:`sklearn.svm.SVC`.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        Loss function. "auto" is hinge for sparse rows with the linear kernel, and squared hinge otherwise; "paper" is
        hinge for the linear kernel, and squared hinge otherwise.
    fit_intercept : bool, default=True
        Whether to fit an intercept: the weight of a constant feature, which is regularized like the others, as in
        LIBLINEAR. With the linear kernel, dense columns far from 0 are then centered internally; ``coef_`` and
        ``intercept_`` are for X as given.
    intercept_scaling : float, default=1.0
        Value of the constant feature that represents the intercept. The larger it is, the less the intercept is
        regularized.
    search : {"annealed", "local"}, default="annealed"
        How to search for one labeling: "annealed" raises the penalty on rows with uncertain labels step by step;
        "local" uses only the final penalty.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next label vector is found. "paper": by one linearization at the best label vector in use. "first": the
        same, but of several equally good label vectors, at the one generated first. "climb": by climbing from many
        starts.
    refine : bool, default=True
        Whether to settle on one labeling after the relaxation: round, then solve the SVM and relabel until nothing
        changes.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Maximum number of label vectors. With ``refine`` and the usual ``oracle`` there are at most 5, as the search
        makes the result, and 1 under a kernel.
    random_state : int, RandomState or None, default=None
        Seed for the order of coordinate descent and for random starts.
    n_jobs : int or None, default=None
        Number of threads. With more than two classes, they solve the one-vs-rest problems; with two classes and the
        linear kernel, they share the passes over all rows. Results do not depend on it.
    verbose : int, default=0
        1 prints one line per label vector.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None uses the free memory of the machine.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, sorted.
    transduction_ : array of shape (n_samples,)
        Class of every training row, one of its candidates.
    balance_ : array of shape (n_classes,)
        Share of each class among the rows, as found by relabeling all classes together.
    balance_by_parts_ : bool
        Whether ``balance_`` counts every row for its candidates in equal parts. This suits candidates that occur
        together, such as the labels of an image as candidates for its regions. Held-out rows decide.
    coef_, intercept_, dual_coef_, support_, support_vectors_ : arrays
        The function f, as in :class:`SemiSupervisedSVC`: one function for two classes, otherwise one per class.
    labelings_, labeling_weights_, objective_, gap_, oracle_violation_, refined_objective_, refined_gap_, history_,
    n_iter_, status_ :
        The relaxation and how it was solved, as in :class:`SemiSupervisedSVC`.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    wellsvm.baselines.AveragedCandidatesSVC : Counts every row in equal parts for each of its candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import CandidateLabelSVC
    >>> rng = np.random.default_rng(0)
    >>> truth, other = np.arange(150) % 3, rng.integers(0, 3, 150)
    >>> X = rng.standard_normal((150, 2)) + 6 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    >>> candidates = [{a, b} for a, b in zip(truth.tolist(), other.tolist())]
    >>> model = CandidateLabelSVC(random_state=0).fit(X, candidates)
    >>> bool(model.score(X, truth) > 0.95)
    True
    """

    def __init__(
        self,
        C=2.0,
        C_ambiguous=2.0,
        classes=None,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        intercept_scaling=1.0,
        search="annealed",
        oracle="paper",
        refine=True,
        tol=1e-3,
        max_iter=50,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
    ):
        self.C = C
        self.C_ambiguous = C_ambiguous
        self.classes = classes
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.search = search
        self.oracle = oracle
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cache_size = cache_size

    def fit(self, X, y, sample_weight=None):
        """Learn from candidate labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        y : bool matrix of shape (n_samples, n_classes), sequence of sets, or array of shape (n_samples,)
            Candidates of every row: a boolean or 0/1 matrix or data frame, or one set (list, tuple) of classes for each
            row. A row without candidates may have any class. Plain labels count as one candidate each.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, y, sample_weight)

    @with_callbacks
    def _fit(self, X, y, sample_weight):
        C, C_ambiguous, X = self._price(), self._price("C_ambiguous"), self._checked(X)
        classes, candidates = read_candidates(y, X.shape[0], self.classes)
        ground = self._ground(X, sample_weight, classes.size, max(C, C_ambiguous))
        several = candidates.sum(axis=1) > 1
        prices = np.where(several, C_ambiguous, C) * ground.weight
        known_parts = (ground.rows, candidates, ground.loss, prices, ground.seed, ground.options, ground.n_jobs)
        self.balance_by_parts_ = bool(several.any()) and equal_parts_are_better(*known_parts)
        values, labels = disambiguate(*known_parts, by_parts=self.balance_by_parts_)
        counts = np.bincount(labels, minlength=classes.size)
        known = PartialLabels(classes, np.where(several, -1, labels).astype(np.intp), ~several)
        label_sets = candidate_sets(candidates, counts)
        first = list(values.T)
        if classes.size == 2:
            label_sets, first = label_sets[1:], [values[:, 1] - values[:, 0]]
        together = classes.size > 2 and bool(several.any())
        fits = self._fit_sets(ground, known, label_sets, [[scores] for scores in first], prices, several, together)
        found = JointLabels(label_sets)([fit.scores() for fit in fits])[0] if together else [fit.y() for fit in fits]
        code = np.argmax(found, axis=0) if classes.size > 2 else (found[0] > 0).astype(np.intp)
        self.transduction_ = classes[code]
        self.balance_ = counts / counts.sum()
        return self
