"""SemiSupervisedSVC: section 4.1 of the paper behind scikit-learn's interface."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from wellsvm.estimators._callbacks import Task, with_callbacks
from wellsvm.estimators._common import all_or_nothing, make_geometry, make_kernel
from wellsvm.estimators._parameters import number
from wellsvm.estimators._semi_supervised import SemiSupervisedBase
from wellsvm.estimators._two_class import fit_path

__all__ = ["SemiSupervisedSVC"]


class SemiSupervisedSVC(SemiSupervisedBase):
    """Large-margin classifier that learns from labeled and unlabeled rows.

    Of all ways to label the unlabeled rows that respect the class balance it looks for those that allow a large
    margin, combines them by a convex program, and (with ``refine``) settles on one.

    Parameters
    ----------
    C : float, default=1.0
        Price of the loss of a labeled row.
    C_unlabeled : float, default=0.1
        Price of the loss of an unlabeled row. 0 gives the supervised SVM.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel; a callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Width of "rbf", "poly" and "sigmoid". "mean" is one over the mean squared distance between training rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "hinge", "squared_hinge"}, default="auto"
        "auto" is hinge for the linear kernel and squared hinge otherwise, as in the paper.
    fit_intercept : bool, default=True
        Whether to add a constant feature; it is regularised like the others, as in LIBLINEAR.
    balance : "labels", float, (low, high), dict or None, default="labels"
        Share of positives among the unlabeled rows: that of the labeled rows, a given one, an interval, or free.
        For more than two classes: "labels", None, or a dict from class to share or interval.
    unlabeled : "auto", None, value or list of values, default="auto"
        What marks an unlabeled row in y, besides missing values; see
        :func:`wellsvm.partial_labels.normalize_partial_labels`.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for the labeled rows of each class.
    init : {"refined", "svm", "alignment"} or array of shape (n_samples,), default="refined"
        First label vector: the supervised SVM's predictions after refinement, without it (the paper's choice), the best
        of 20 random ones by kernel alignment, or class labels for all rows.
    oracle : {"paper", "climb"}, default="paper"
        How the next label vector is found: by one linearisation, or by climbing from many starts.
    refine : bool, default=True
        Whether to settle on one labelling after the relaxation: round, solve the SVM, relabel, until nothing changes.
    tol : float, default=1e-3
        Relative to the objective: duality gap of the final solution, and violation below which a label vector is not
        worth adding. A label vector that lowers the objective by less than 10 ``tol`` is the last; others may then
        still be violated, and ``oracle_violation_`` tells by how much.
    max_iter : int, default=50
        Most label vectors to generate.
    warm_start : bool, default=False
        Whether a second `fit` on the same rows starts from the first one's labels and dual variables.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems of more than two classes or, for two and the linear kernel, for the passes
        over all rows; results do not depend on it.
    verbose : int, default=0
        1 prints a table row per label vector.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None is what the machine has free. A kernel matrix that fits is kept. Of one
        that does not, rows are computed when needed and the last used are kept, which takes many times as long; steps
        then come in another order, so that other label vectors may be found. No meaning for "linear", "precomputed".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Known classes.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights, for the linear kernel; one function for two classes, else one per class. `intercept_` exists for
        every kernel.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients of shape (n_functions, n_support), rows and their indices.
    transduction_ : array of shape (n_samples,)
        Label of every training row: known ones kept; two classes: the balance holds.
    labelings_ : array of shape (n_labelings, n_samples), or a list of them
        Label vectors of the relaxation, +1 for ``classes_[1]``; for more classes one array per class.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_classes,)
        Upper bound of the restricted master, its distance to the lower bound, and the violation of the last label
        vector generated. No violation found is no proof that there is none.
    refined_objective_ : float, array or None
        Mixed-integer objective of the labelling that refinement settled on.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Label vectors generated (most over the classes).
    status_ : str, or a list of them
        Why the cutting plane ended.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    A pickle holds what predicts, not what describes the training rows: ``transduction_`` and ``labelings_`` are left
    out of it.

    Searches over unlabeled rows need folds or scores that know of them: `wellsvm.model_selection.SemiSupervisedSplit`,
    `wellsvm.metrics.make_labeled_scorer`. For probabilities keep some labeled rows aside and calibrate on them:
    ``CalibratedClassifierCV(FrozenEstimator(model)).fit(X_aside, y_aside)``.

    With scikit-learn 1.9 or newer ``set_callbacks(ProgressBar())`` shows every label vector with its gap. A callback
    that returns True at the end of a label vector's task ends the cutting plane (``status_`` "stopped by callback").

    Examples
    --------
    >>> from wellsvm import SemiSupervisedSVC
    >>> from wellsvm.datasets import make_two_moons
    >>> moons = make_two_moons(n_samples=200, n_labeled=6, random_state=0)
    >>> model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, random_state=0).fit(moons.X, moons.y_partial)
    >>> bool(model.score(moons.X, moons.y) > 0.9)
    True
    """

    def __init__(
        self,
        C=1.0,
        C_unlabeled=0.1,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        balance="labels",
        unlabeled="auto",
        class_weight=None,
        init="refined",
        oracle="paper",
        refine=True,
        tol=1e-3,
        max_iter=50,
        warm_start=False,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.unlabeled = unlabeled
        self.class_weight = class_weight
        self.init = init
        self.oracle = oracle
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cache_size = cache_size

    def fit(self, X, y, sample_weight=None):
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, dense (C order) and CSR are used as they are.
        y : array of shape (n_samples,)
            Labels; unlabeled rows marked as ``unlabeled`` says.
        sample_weight : array of shape (n_samples,), optional
            Factor on the price of each row's loss. A row of weight 0 has no loss but still counts in the balance.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    @with_callbacks
    def _fit(self, X, y, sample_weight):
        settings = self._settings()
        X, partial = self._validate(X, y)
        C = self._prices(X, partial, sample_weight, number("C_unlabeled", self.C_unlabeled, low=0.0))
        kernel = make_kernel(self, X)
        geometry = make_geometry(X, kernel, self.fit_intercept, max(self.C, self.C_unlabeled), self.cache_size)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        problems = self._problems(partial)
        warm = getattr(self, "_fits", None) if self.warm_start else None
        task = Task.fit(self, X, y, parts=len(problems), max_iter=settings.max_iter)
        (fits,) = fit_path(geometry, problems, [C], settings, seed=seed, n_jobs=self.n_jobs, warm=warm, task=task)
        self._store(X, kernel, partial, fits)
        self._fits = fits if self.warm_start else None
        task.end(fitted=True)
        return self
