"""WeakLabelSVC: any label set, a user's own too."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._arguments import choice
from wellsvm._typing import FloatArray
from wellsvm.engine.starts import climb_alignment
from wellsvm.estimators.base import fitting
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.watched_labels import WatchedLabels
from wellsvm.estimators.weak_base import Ground, WeakBase, svm_scores
from wellsvm.labels.balanced import made_feasible
from wellsvm.labels.base import LabelSet
from wellsvm.partial_labels import PartialLabels

__all__ = ["WeakLabelSVC"]

INITS = ("known", "aligned", "random")


class WeakLabelSVC(WeakBase):
    """Large-margin classifier for any set of allowed label vectors.

    Among all members of the set, it looks for those that allow a large margin, combines them by a convex program, and
    (with ``refine``) settles on one of them.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a row.
    init : {"known", "aligned", "random"} or array of shape (n_samples,), default="known"
        Where the search starts. "known": from the SVM on the labels that all members share, if the set has an attribute
        ``y_known`` (+1, -1, and 0 for unknown), otherwise as "aligned". "aligned": from the random member that is best
        aligned with the kernel, then improved step by step. "random": from a random member. An array: from these labels
        or scores, one per row.
    classes : array of shape (2,) or None, default=None
        Names of the negative and the positive class. None: -1 and 1.
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
        Number of threads, which share the passes over all rows with the linear kernel. Results do not depend on it.
    verbose : int, default=0
        1 prints one line per label vector.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None uses the free memory of the machine.

    Attributes
    ----------
    classes_ : array of shape (2,)
        Negative and positive class.
    transduction_ : array of shape (n_samples,)
        Class of every training row; as a label vector, it is a member of the set. For a set whose rows own several
        instances, a row that is not chosen (0) is negative.
    label_set_ : str
        Name of the label set's class.
    coef_, intercept_, dual_coef_, support_, support_vectors_ : arrays
        The function f, as in :class:`SemiSupervisedSVC`.
    labelings_, labeling_weights_, objective_, gap_, oracle_violation_, refined_objective_, refined_gap_, history_,
    n_iter_, status_ :
        The relaxation and how it was solved, as in :class:`SemiSupervisedSVC`.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    wellsvm.labels.check_label_set : Tests whether a label set meets the requirements.

    Notes
    -----
    Without any known labels, the origin should lie among the rows, so center dense columns first. If the set treats
    both classes alike, as in clustering, it does not determine which side is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import WeakLabelSVC
    >>> from wellsvm.labels import ProportionLabels
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 200)
    >>> X = rng.standard_normal((200, 2)) + 4 * truth[:, None] - 2
    >>> groups = np.repeat(np.arange(20), 10)
    >>> labels = ProportionLabels(groups, low=np.bincount(groups, weights=truth))
    >>> model = WeakLabelSVC(random_state=0).fit(X, labels)
    >>> bool(model.score(X, np.where(truth == 1, 1, -1)) > 0.95)
    True
    """

    def __init__(
        self,
        C=2.0,
        init="known",
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
        self.init = init
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

    def fit(self, X, labels, sample_weight=None):
        """Learn from a label set.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        labels : LabelSet
            The allowed labels; it has one instance for every row of X.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss; for a set whose rows own several instances, their mean is used.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, labels, sample_weight)

    @with_callbacks
    def _fit(self, X, labels, sample_weight):
        if not isinstance(labels, LabelSet):
            raise TypeError(
                f"labels must be a wellsvm.labels.LabelSet; got {type(labels).__name__}. Derive your own set from it, "
                "or use the estimator for your kind of labels"
            )
        classes = np.array([-1, 1]) if self.classes is None else np.asarray(self.classes)
        if classes.shape != (2,) or classes[0] == classes[1]:
            raise ValueError(f"classes must name two different classes; got classes={self.classes!r}")
        X, name = self._checked(X), type(labels).__name__
        labels = self._watched(X, labels)
        ground = self._ground(X, sample_weight, 2, self._price())
        n_rows = ground.weight.size
        weight = ground.weight
        if labels.starts is not None:
            weight = np.add.reduceat(weight, labels.starts[:-1]) / np.diff(labels.starts)
        known = PartialLabels(classes, np.full(n_rows, -1, dtype=np.intp), np.zeros(n_rows, dtype=bool))
        scores = self._first_scores(ground, labels)
        rising = np.ones(weight.size, dtype=bool)
        self._fit_sets(ground, known, [labels], [[scores]], self._price() * weight, rising)
        self.label_set_ = name
        return self

    @staticmethod
    def _watched(X: Any, labels: LabelSet) -> WatchedLabels:
        watched = WatchedLabels(labels, X.shape[0])
        if not watched.contains(watched.linear_oracle(np.zeros(X.shape[0]))):
            raise ValueError(
                f"the oracle of {type(labels).__name__} returned labels that its `contains` refuses; "
                "wellsvm.labels.check_label_set shows why"
            )
        return watched

    def _first_scores(self, ground: Ground, labels: WatchedLabels) -> FloatArray:
        n_rows = labels.n_instances
        if not isinstance(self.init, str):
            first = np.asarray(self.init)
            if first.shape != (n_rows,) or first.dtype.kind not in "iufb" or not np.all(np.isfinite(first)):
                raise ValueError(f"init must hold one finite number for each of the {n_rows} rows; got {first.shape}")
            return first.astype(np.float64)
        init = choice("init", self.init, INITS, also=" or an array")
        known = np.zeros(n_rows, dtype=np.int8) if labels.y_known is None else labels.y_known
        rng, options = ground.rng(1), ground.options
        if init == "known" and np.unique(known[known != 0]).size == 2:
            return svm_scores(ground, known, self._price() * ground.weight * (known != 0))
        if init == "random":
            return made_feasible(labels, labels.initial(rng)).astype(np.float64)
        start = climb_alignment(ground.rows, labels, options.alignment_draws, rng, options)
        return start.astype(np.float64)
