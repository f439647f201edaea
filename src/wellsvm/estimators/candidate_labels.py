"""CandidateLabelSVC: for each row a set of classes, one of which is true (partial labels)."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm.engine.disambiguation import disambiguate, parts_tell
from wellsvm.engine.joint import JointLabels
from wellsvm.estimators.base import all_or_nothing
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.candidate_reading import read_candidates
from wellsvm.estimators.weak_base import WeakBase
from wellsvm.labels.candidates import candidate_sets
from wellsvm.partial_labels import PartialLabels

__all__ = ["CandidateLabelSVC"]


class CandidateLabelSVC(WeakBase):
    """Large-margin classifier that learns from candidate labels: for each row some classes, one of which is true.

    All classes are first relabelled together, every row going to one of its candidates; that tells how many rows each
    class has. Then each is told from the rest: rows with this candidate only are positive, rows without it negative,
    and of the others as many are positive as were found, every row in one class.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a row with one candidate.
    C_ambiguous : float, default=2.0
        Penalty on the loss of a row with several.
    classes : array of shape (n_classes,) or None, default=None
        Names of the classes. None: the columns of a data frame, the members of the sets, or 0, 1, ...
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel; a callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Width of "rbf", "poly" and "sigmoid". "mean" is one over the mean squared distance between training rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        "auto" is hinge for sparse rows under the linear kernel, else squared hinge; "paper" is hinge for the linear
        kernel, else squared hinge.
    fit_intercept : bool, default=True
        Whether to add a constant feature; it is regularised like the others, as in LIBLINEAR.
    intercept_scaling : float, default=1.0
        Value of the constant feature that stands for the intercept.
    search : {"annealed", "local"}, default="annealed"
        How one labelling is searched for: with the penalty on rows of uncertain label rising step by step, or at the
        final penalty only.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next label vector is found: by one linearisation, at the best label vector in use or at the first of the
        best; or by climbing from many starts.
    refine : bool, default=True
        Whether to settle on one labelling after the relaxation: round, solve the SVM, relabel, until nothing changes.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Most label vectors to generate.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems of more than two classes or, for one problem and the linear kernel, for the
        passes over all rows; results do not depend on it.
    verbose : int, default=0
        1 prints a table row per label vector.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None is what the machine has free.
    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes.
    transduction_ : array of shape (n_samples,)
        Class of every training row, one of its candidates.
    balance_ : array of shape (n_classes,)
        Share of each class among the rows, as found when all classes were relabelled together.
    balance_by_parts_ : bool
        Whether these are the shares that rows have if they count for their candidates in equal parts, as those of image
        regions whose candidates are the labels of their image; rows held out tell whether that does better.
    coef_, intercept_, dual_coef_, support_, support_vectors_ : arrays
        f, as in :class:`SemiSupervisedSVC`; one function for two classes, else one per class.
    labelings_, labeling_weights_, objective_, gap_, oracle_violation_, refined_objective_, history_, n_iter_, status_ :
        The relaxation and how it was solved, as in :class:`SemiSupervisedSVC`.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    See Also
    --------
    wellsvm.baselines.AveragedCandidatesSVC : Counts a row for each of its candidates in equal parts.

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
            Rows; float32 and float64, dense (C order) and CSR are used as they are.
        y : bool matrix of shape (n_samples, n_classes), sequence of sets, or array of shape (n_samples,)
            Candidates of every row: a boolean or 0/1 matrix or data frame, or one set (list, tuple) of classes for each
            row; a row without any may have every class. Plain labels are one candidate each.
        sample_weight : array of shape (n_samples,), optional
            Factor on the price of each row's loss.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    @with_callbacks
    def _fit(self, X, y, sample_weight):
        C, C_ambiguous, read = self._price(), self._price("C_ambiguous"), []

        def n_problems(X: Any) -> int:
            read.extend(read_candidates(y, X.shape[0], self.classes))
            return 1 if read[0].size == 2 else read[0].size

        ground = self._ground(X, sample_weight, n_problems, max(C, C_ambiguous))
        classes, candidates = read
        several = candidates.sum(axis=1) > 1
        prices = np.where(several, C_ambiguous, C) * ground.weight
        known_parts = (ground.rows, candidates, ground.loss, prices, ground.seed, ground.options, ground.n_jobs)
        self.balance_by_parts_ = bool(several.any()) and parts_tell(*known_parts)
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
