"""PositiveUnlabeledSVC: some positives are known, all other rows are unlabeled, no negative is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._typing import BoolArray, FloatArray
from wellsvm.engine.positive_shares import share_of_positives
from wellsvm.engine.report import tell
from wellsvm.engine.shares import Shares
from wellsvm.estimators.base import fitting
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.positive_labels import read_positives
from wellsvm.estimators.weak_base import Ground, WeakBase, svm_scores
from wellsvm.labels.balanced import BalancedLabels, class_balances, positive_bounds
from wellsvm.options import Options

__all__ = ["PositiveUnlabeledSVC"]


class PositiveUnlabeledSVC(WeakBase):
    """Large-margin classifier that learns from positive and unlabeled rows.

    Among all ways to label the unlabeled rows with the given or estimated share of positives, it looks for those that
    allow a large margin.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a positive row.
    C_unlabeled : float, default=0.2
        Penalty on the loss of an unlabeled row.
    balance : "estimate", float, (low, high) or None, default="estimate"
        Share of positives among the unlabeled rows: estimated, given, within an interval, or not constrained (None). It
        matters more than anything else, and it is hard to estimate from positives alone: set it if you know it.
    unlabeled : "auto", value or list of values, default="auto"
        The value or values that mark unlabeled rows in y, in addition to missing values. "auto": the smaller of the
        values 0 and 1, -1 and 1, or False and True.
    positive_class : value or None, default=None
        The class of the labeled rows. None: the only value in y that does not mark unlabeled rows.
    negative_class : value or None, default=None
        The label that `predict` returns for negative rows. None: the marker of unlabeled rows if y contains exactly
        one, otherwise 0, False, or "not " followed by the positive class, depending on the type of the positive class.
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
        Negative and positive class, in this order.
    transduction_ : array of shape (n_samples,)
        Class of every training row. Known classes are kept, and the balance holds.
    balance_, balance_se_ : arrays of shape (2,)
        Share of each class among the unlabeled rows, and its standard error. The share is as estimated or given, or as
        found if it was not constrained; the error of a given share is 0.
    balance_found_ : array of shape (2,)
        Share of each class among the predictions for the unlabeled rows.
    coef_, intercept_, dual_coef_, support_, support_vectors_ : arrays
        The function f, as in :class:`SemiSupervisedSVC`.
    labelings_, labeling_weights_, objective_, gap_, oracle_violation_, refined_objective_, refined_gap_, history_,
    n_iter_, status_ :
        The relaxation and how it was solved, as in :class:`SemiSupervisedSVC`.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    wellsvm.baselines.ElkanNotoSVC : Weights each unlabeled row by its probability of being positive.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import PositiveUnlabeledSVC
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(200) % 2
    >>> X = rng.standard_normal((200, 2)) + 4 * truth[:, None]
    >>> y = np.where(np.arange(200) < 40, truth, 0)  # 20 positives known, 0 marks unlabeled rows
    >>> model = PositiveUnlabeledSVC(random_state=0).fit(X, y)
    >>> bool(model.score(X, truth) > 0.95)
    True
    """

    def __init__(
        self,
        C=2.0,
        C_unlabeled=0.2,
        balance="estimate",
        unlabeled="auto",
        positive_class=None,
        negative_class=None,
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
        self.C_unlabeled = C_unlabeled
        self.balance = balance
        self.unlabeled = unlabeled
        self.positive_class = positive_class
        self.negative_class = negative_class
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
        """Learn from positive and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        y : array of shape (n_samples,)
            The positive class for positive rows, and the marker of unlabeled rows for all others.
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
        C, C_unlabeled = self._price(), self._price("C_unlabeled")
        X = self._checked(X)
        known = read_positives(y, X.shape[0], self.unlabeled, self.positive_class, self.negative_class)
        ground = self._ground(X, sample_weight, 2, max(C, C_unlabeled))
        positive, free = known.labeled, ~known.labeled
        prices = np.where(positive, C, C_unlabeled) * ground.weight
        for rows, kind in ((positive, "positive"), (free, "unlabeled")):
            if not np.any(prices[rows] > 0):
                raise ValueError(
                    f"sample_weight is 0 for every {kind} row; give some of them a positive weight, as one class alone "
                    "is not enough"
                )
        shares = self._estimated(ground, positive, free)
        ((_, balance),) = class_balances(self._checked_balance(), known.classes, shares and shares.shares)
        y_known = positive.astype(np.int8)
        labels = BalancedLabels(y_known, *positive_bounds(balance, y_known))
        (fit,) = self._fit_sets(ground, known, [labels], [[self._first_scores(ground, positive)]], prices, free)
        self._store_balance(shares, labels, free, fit.scores())
        return self

    def _checked_balance(self) -> Any:
        if isinstance(self.balance, (dict, str)) and self.balance != "estimate":
            raise ValueError(
                "balance must be 'estimate', the share of positives among the unlabeled rows, an interval (low, high) "
                f"of it, or None; got balance={self.balance!r}"
            )
        return self.balance

    def _estimated(self, ground: Ground, positive: BoolArray, free: BoolArray) -> Shares | None:
        if not self._estimates_shares():
            return None
        shares = share_of_positives(ground.rows, positive, free, ground.options)
        if ground.options.verbose:
            tell(
                f"share of positives among the unlabeled rows, estimated: {shares.shares[1]:.3f} +- "
                f"{shares.errors[1]:.3f}"
            )
        return shares

    def _first_scores(self, ground: Ground, positive: BoolArray) -> FloatArray:
        """Values of a strongly regularized SVM that takes unlabeled rows for negative, both sides of the same price."""
        weight = ground.weight / ground.weight.mean()
        sides = np.where(positive, weight[positive].sum(), weight[~positive].sum())
        prices = Options.first_price * self._price() * weight * weight.size / (2 * np.maximum(sides, Options.trace))
        return svm_scores(ground, np.where(positive, 1, -1).astype(np.int8), prices, rough=Options.rough)

    def _store_balance(self, shares: Shares | None, labels: BalancedLabels, free: BoolArray, f: FloatArray) -> None:
        found = float(np.mean(f[free] > 0))
        self.balance_found_, self.used_unlabeled_ = np.array([1 - found, found]), True
        self.balance_se_ = np.zeros(2)
        if shares is not None:
            self.balance_, self.balance_se_ = shares
        else:
            share = float(np.mean(self.transduction_[free] == self.classes_[1]))
            if labels.low == labels.high:
                share = labels.low / labels.free.size
            self.balance_ = np.array([1 - share, share])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
