"""SemiSupervisedSVC: section 4.1 of the paper behind scikit-learn's interface."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, compute_class_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from wellsvm._in_blocks import computed, is_sparse, lazy_on_dask
from wellsvm._typing import BoolArray, FloatArray, LabelArray, Matrix
from wellsvm.engine.assignment import apportion
from wellsvm.engine.checkpoint import Unsaved
from wellsvm.engine.joint import joint_counts
from wellsvm.engine.neighborhood import graph_of
from wellsvm.engine.recipe import Fit, Guess, Opening, Task
from wellsvm.engine.safety import Verdict
from wellsvm.engine.shares import Shares
from wellsvm.engine.starts import best_aligned
from wellsvm.engine.supervised import LEFT_OUT
from wellsvm.estimators.base import (
    AS_IN_PAPER,
    KernelModel,
    all_or_nothing,
    check_matrix,
    choice,
    flag,
    loss_of,
    make_kernel,
    make_rows,
    number,
    options_of,
    threads,
    whole_number,
)
from wellsvm.estimators.callbacks import CallbackSupportMixin, with_callbacks
from wellsvm.estimators.checkpoints import checkpoint_of, require_path
from wellsvm.estimators.evidence import told_shares, told_verdict
from wellsvm.estimators.parameters import price, require_prices, seed_of
from wellsvm.estimators.probabilities import ProbabilityMixin
from wellsvm.estimators.refusals import require_labels, require_marked
from wellsvm.estimators.told import tell_outcome
from wellsvm.labels.balanced import BalancedLabels, class_balances, made_feasible, positive_bounds
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels, normalize_partial_labels, require_two_classes
from wellsvm.rows import GramRows, Rows
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.making import gram_matrix
from wellsvm.rows.neighbors import NeighborRows, require_room_for_neighbors
from wellsvm.solver.master import fit_svm

__all__ = ["SemiSupervisedBase", "SemiSupervisedSVC"]

INITS = ("refined", "svm", "alignment")
SEARCHES = ("annealed", "local")
SEMI_SUPERVISED_AS_IN_PAPER = {
    "C": 1.0,
    "C_unlabeled": 0.1,
    "loss": "paper",
    "init": "svm",
    "balance": "labels",
    "search": "local",
    "safe": False,
}


@dataclass(frozen=True)
class KnownLabels:
    """How a semi-supervised task starts: from the SVM on the known labels, or from a fit before it.

    Parameters
    ----------
    init : str or array of shape (n_rows,)
        The rule for the first label vector, or that vector.
    before : Fit, optional
        Of other prices, to go on from in place of the SVM.
    warm : Fit, optional
        Of an earlier `fit` on the same rows: a further start.
    """

    init: str | LabelArray
    before: Fit | None = None
    warm: Fit | None = None

    def __call__(self, task: Task, options: Options, rng: np.random.Generator) -> Opening:
        """First label vectors, dual variables and guesses."""
        labels, first = task.labels, []
        guess = self._first_guess(task, options, rng)
        lead = isinstance(self.init, str) and self.init == "refined"
        if not isinstance(self.init, str) and self.before is None:
            first = [made_feasible(labels, self.init)]
        elif isinstance(self.init, str) and self.init == "alignment" and self.before is None:
            first = [best_aligned(task.rows, labels, options.alignment_draws, rng, options)]
        elif not lead:
            first = [labels.linear_oracle(guess.scores)]
        guesses = [guess] if options.refine or lead else []
        if self.warm is not None and self.warm.task.labels.n_instances == labels.n_instances:
            y = self.warm.y()
            first += [y] if labels.contains(y) else []
            guesses += [Guess(self.warm.scores(), self.warm.alpha)] if options.refine else []
        return Opening(first, guesses, guess.alpha, lead)

    def _first_guess(self, task: Task, options: Options, rng: np.random.Generator) -> Guess:
        if self.before is not None:
            return Guess(self.before.scores(), self.before.alpha)
        assert isinstance(task.labels, BalancedLabels)
        known = task.labels.y_known
        svm = fit_svm(
            task.rows, task.labels, task.losses, known, tol=options.tol, rng=rng, chosen=np.flatnonzero(known),
            options=options,
        )  # fmt: skip
        return Guess(svm.scores(), svm.alpha)


class SemiSupervisedBase(CallbackSupportMixin, ClassifierMixin, KernelModel):
    """Common part of SemiSupervisedSVC, SemiSupervisedSVCCV and their rivals; they add parameters and `fit`."""

    _of_training_rows: tuple[str, ...] = ("transduction_", "labelings_", "_fits")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A model of 0.1 keeps the method it was fitted with, should it be fitted again."""
        if "search" not in state:
            loss = "paper" if isinstance(state.get("loss"), str) and state["loss"] == "auto" else state.get("loss")
            state = {"search": "local", "safe": False, **state, "loss": loss}
        super().__setstate__(state)

    def _validate(self, X: Any, y: Any) -> tuple[Matrix, PartialLabels]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = check_matrix(self, X, reset=True)
        partial = normalize_partial_labels(computed(y), self.unlabeled)
        check_consistent_length(X, partial.codes)
        require_two_classes(partial)
        if partial.labeled.all() or "sklearn.calibration" in sys.modules:
            require_marked(type(self).__name__, partial, self.unlabeled)
        return X, partial

    def _prices(
        self,
        X: Matrix,
        partial: PartialLabels,
        sample_weight: Any,
        C_unlabeled: float,
        held_out: BoolArray | None = None,
    ) -> FloatArray:
        """C of every row; 0 for rows ``held_out``, which do not count in the class weights either."""
        weight = _check_sample_weight(sample_weight, partial.codes, dtype=np.float64, ensure_non_negative=True)
        C = np.where(partial.labeled, price("C", self.C), C_unlabeled)
        with np.errstate(over="ignore"):
            C *= weight
        require_prices(C, "sample_weight")
        labeled = partial.labeled if held_out is None else partial.labeled & ~held_out
        if held_out is not None:
            C[held_out] = 0.0
        if self.class_weight is not None:
            known = partial.codes[labeled]
            by_class = compute_class_weight(self.class_weight, classes=partial.classes, y=partial.classes[known])
            if not np.all(np.isfinite(by_class) & (by_class >= 0)):
                raise ValueError(
                    f"class_weight must be finite and not negative; got class_weight={self.class_weight!r}"
                )
            with np.errstate(over="ignore"):
                C[labeled] *= by_class[known]
            require_prices(C, "class_weight")
        if not np.any(C[labeled] > 0):
            raise ValueError("sample_weight or class_weight is 0 for every labeled row; nothing is left to learn from")
        return C

    def _label_sets(
        self, partial: PartialLabels, shares: FloatArray | None = None, held_out: BoolArray | None = None
    ) -> list[BalancedLabels]:
        """The labels allowed in every two-class problem: one for two classes, else one against the rest per class.

        ``shares`` are those estimated. Rows ``held_out`` keep their label but do not count in the balance; the caller
        gives them the price 0.
        """
        counted = slice(None) if held_out is None else ~held_out
        label_sets = []
        for k, balance in class_balances(self.balance, partial.classes, shares):
            y_known = np.where(partial.codes == k, 1, -1).astype(np.int8)
            y_known[~partial.labeled] = 0
            label_sets.append(BalancedLabels(y_known, *positive_bounds(balance, y_known[counted])))
        if shares is not None and len(label_sets) > 1:
            counts = apportion(shares, label_sets[0].free.size)
            label_sets = [BalancedLabels(labels.y_known, n) for labels, n in zip(label_sets, counts.tolist())]
        return label_sets

    def _searches_together(self, label_sets: list[BalancedLabels]) -> bool:
        """Whether the classes are searched together: where their counts are settled, and the search is annealed."""
        return len(label_sets) > 1 and self.search != "local" and joint_counts(label_sets) is not None

    def _loss(self, X: Matrix) -> str:
        """The loss asked for; "auto" is hinge for sparse rows under the linear kernel, else squared hinge."""
        auto = isinstance(self.loss, str) and self.loss == "auto"
        return "squared_hinge" if auto and not is_sparse(X) else loss_of(self)

    def _options(self) -> Options:
        if choice("search", self.search, SEARCHES) == "local":
            return options_of(self)
        return options_of(self, search_prices=Options.annealed_prices, sure_margin=Options.semi_supervised_margin)

    def _rows_of(
        self,
        X: Matrix,
        kernel: Kernel,
        C: float,
        n_jobs: int | None = None,
        pairs: Any = None,
        neighbors: int | None = None,
    ) -> Rows:
        most = Options.largest_value  # as a feature's
        scaling = number("intercept_scaling", self.intercept_scaling, low=0.0, high=most, open_low=True)
        if neighbors is None:
            return make_rows(X, kernel, self.fit_intercept, C, self.cache_size, pairs, n_jobs, scaling)
        whole_number("neighbors", neighbors, low=1)
        if isinstance(X, Blocks):
            raise ValueError(f"neighbors={neighbors} needs all rows in memory; rows in blocks take neighbors=None")
        require_room_for_neighbors(X.shape[0], self.cache_size)
        K = gram_matrix(X, kernel, False, pairs).astype(np.float64, copy=False)
        bias, linear = scaling if flag("fit_intercept", self.fit_intercept) else 0.0, kernel.name == "linear"
        mixed: GramRows = NeighborRows(K, graph_of(GramRows(K), neighbors), bias, X if linear else None)
        return mixed

    def _estimates_shares(self) -> bool:
        return isinstance(self.balance, str) and self.balance == "estimate"

    def _shares(
        self,
        rows: Rows,
        partial: PartialLabels,
        loss: str,
        C: FloatArray,
        seed: int,
        options: Options,
        held_out: BoolArray | None = None,
    ) -> Shares | None:
        """The shares of the classes among the unlabeled rows, where they are to be estimated.

        Rows ``held_out`` and their labels are not looked at; None where a class has no other label.
        """
        if not self._estimates_shares() or partial.labeled.all():
            return None
        if held_out is not None:
            partial = replace(partial, codes=np.where(held_out, LEFT_OUT, partial.codes))
            if np.unique(partial.codes[partial.codes >= 0]).size < len(partial.classes):
                return None
        return told_shares(rows, partial, loss, C, seed, options)

    @staticmethod
    def _kept_shares(stages: Unsaved, compute: Callable[[], Shares | None]) -> Shares | None:
        """The estimated shares, or None, as a stage that can be kept."""
        shares, errors = stages.arrays("shares", lambda: compute() or (None, None))
        return None if shares is None else Shares(shares, errors)

    @staticmethod
    def _titles(classes: np.ndarray) -> list[str]:
        """What the two-class problems are called where there are several."""
        return [""] if len(classes) == 2 else [f"class {c!r} against the rest" for c in classes.tolist()]

    def _inits(
        self, partial: PartialLabels, label_sets: list[BalancedLabels], check: bool = True
    ) -> list[str | LabelArray]:
        """The rule for the first label vector of every problem, or the user's first labels, +1 for its class.

        Without ``check`` they need not be in the label set: a fold has another balance than the whole. Nor need they
        have a balance that is estimated, which nobody can know before: the nearest labels that have it are taken.
        """
        if isinstance(self.init, str):
            return [choice("init", self.init, INITS, also=" or an array")] * len(label_sets)
        given = np.asarray(self.init)
        if given.shape != partial.codes.shape or not np.isin(given, partial.classes).all():
            raise ValueError(
                f"init must hold one of the classes {list(partial.classes)} for each of the {partial.codes.size} rows; "
                f"got an array of shape {given.shape}"
            )
        positive = partial.classes[1:] if len(partial.classes) == 2 else partial.classes
        inits = [np.where(given == c, 1, -1).astype(np.int8) for c in positive]
        for labels, init in zip(label_sets, inits):
            keeps_known = np.array_equal(init[labels.y_known != 0], labels.y_known[labels.y_known != 0])
            if check and not (keeps_known if self._estimates_shares() else labels.contains(init)):
                raise ValueError(
                    "init contradicts the known labels or the balance: among the unlabeled rows between "
                    f"{labels.low} and {labels.high} must be positive; change init, or pass balance=None"
                )
        return list(inits)

    def _store(
        self, X: Matrix, kernel: Any, rows: Rows, partial: PartialLabels, fits: list[Fit], options: Options
    ) -> None:
        for name in ("proba_slope_", "proba_offsets_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.classes_ = partial.classes
        self._store_coefficients(X, kernel, rows, np.stack([fit.coefficients() for fit in fits]))
        self._store_report(fits, [np.stack(fit.relaxation.solution.state.labels) for fit in fits], options.tol)
        binary = len(fits) == 1
        codes = (fits[0].y() > 0).astype(np.intp) if binary else np.argmax([f.scores() for f in fits], axis=0)
        self.transduction_ = self.classes_[np.where(partial.labeled, partial.codes, codes)]
        predicted = (fits[0].scores() > 0).astype(np.intp) if binary else codes
        asked = ~partial.labeled if not partial.labeled.all() else partial.labeled
        self.balance_found_ = np.bincount(predicted[asked], minlength=len(partial.classes)) / np.count_nonzero(asked)

    def _store_shares(self, partial: PartialLabels, shares: Shares | None, label_sets: list[BalancedLabels]) -> None:
        """Store the shares asked for, or found where none was."""
        n_classes, labeled = len(partial.classes), partial.labeled
        if shares is not None:
            self.balance_, self.balance_se_ = shares
            return
        exact = all(labels.low == labels.high for labels in label_sets) and not labeled.all()
        if exact:
            positive = np.array([labels.low / labels.free.size for labels in label_sets])
            self.balance_ = np.array([1 - positive[0], positive[0]]) if n_classes == 2 else positive
        else:
            found = np.searchsorted(self.classes_, self.transduction_[~labeled if not labeled.all() else labeled])
            self.balance_ = np.bincount(found, minlength=n_classes) / found.size
        by_labels = exact and isinstance(self.balance, str)
        n_labeled = np.count_nonzero(labeled)
        self.balance_se_ = np.sqrt(self.balance_ * (1 - self.balance_) / n_labeled) * by_labels

    @lazy_on_dask
    def decision_function(self, X):
        """Values of f: of shape (n_samples,) for two classes, else (n_samples, n_classes).

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` kernel values with the training rows.
        """
        values = self._functions(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    @lazy_on_dask
    def predict(self, X):
        """Class of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)
        return self.classes_[codes]

    def score(self, X, y, sample_weight=None):
        """Accuracy on labeled rows; a y with unlabeled ones is refused.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.
        """
        check_is_fitted(self)
        require_labels(y, self.unlabeled, self.classes_)
        return super().score(X, y, sample_weight)


class SemiSupervisedSVC(ProbabilityMixin, SemiSupervisedBase):
    """Large-margin classifier that learns from labeled and unlabeled rows.

    Among all labelings of the unlabeled rows that respect the class balance it looks for those that allow a large
    margin, combines them by a convex program, and (with ``refine``) settles on one.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a labeled row. With the squared hinge loss, ``C / 2`` times the squared slack, 2 is
        LinearSVC's ``C=1``.
    C_unlabeled : float, default=0.2
        Penalty on the loss of an unlabeled row. 0 gives the supervised SVM.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel; a callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid"; larger is narrower. "mean" is one over the mean squared
        distance between training rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        "auto" is hinge for sparse rows under the linear kernel, else squared hinge; "paper" is hinge for the linear
        kernel, else squared hinge.
    fit_intercept : bool, default=True
        Whether to add a constant feature; it is regularised like the others, as in LIBLINEAR.
    balance : "estimate", "labels", float, (low, high), dict or None, default="estimate"
        Share of each class among the unlabeled rows: estimated from labeled and unlabeled rows together, that of the
        labeled rows, a given one (of ``classes_[1]``), an interval, or free. For more than two classes: "estimate",
        "labels", None, or a dict from class to share or interval. Set it if you know it.
    unlabeled : "auto", None, value or list of values, default="auto"
        What marks an unlabeled row in y, besides missing values; see
        :func:`wellsvm.partial_labels.normalize_partial_labels`.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for the labeled rows of each class.
    init : {"refined", "svm", "alignment"} or array of shape (n_samples,), default="refined"
        First label vector: the supervised SVM's predictions after refinement, without it (the paper's choice), the best
        of 20 random ones by kernel alignment, or class labels for all rows.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next label vector is found: by one linearisation, at the best label vector in use or at the first of the
        best; or by climbing from many starts.
    refine : bool, default=True
        Whether to settle on one labelling after the relaxation: round, solve the SVM, relabel, until nothing changes.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Maximum number of label vectors.
    warm_start : bool, default=False
        Whether a second `fit` on the same rows starts from the first one's labels and dual variables.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems of more than two classes or, for two and the linear kernel, for the passes
        over all rows; results do not depend on it.
    verbose : int, default=0
        1 prints a line per label vector and, at the end, what was found: rows labeled, found and uncertain.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None is what the machine has free. A kernel matrix that fits is kept. Of one
        that does not, rows are computed when needed and the last used are kept, which takes many times as long; steps
        then come in another order, so that other label vectors may be found. No meaning for "linear", "precomputed".
    min_violation : float or None, default=None
        A label vector that violates its constraint by less than this is not worth adding. None is ``tol``.
    min_decrease : float or None, default=None
        A label vector that lowers the objective by less than this is the last one, though others may still be violated.
        None is 10 ``tol``.
    stopping : {"relative", "absolute", "paper"}, default="relative"
        What these two are measured against: the objective; nothing; or nothing, in the units of the
        paper's SVMs.
    weight_update : {"level", "closed_form"}, default="level"
        How the weights of the label vectors are found: by a level method, or by the paper's closed form.
    search : {"annealed", "local"}, default="annealed"
        How one labelling is searched for: with the penalty on unlabeled rows rising step by step to ``C_unlabeled``, or
        at that penalty only.
    safe : bool, default=True
        Whether to leave the unlabeled rows out where the labeled ones speak against them: by cross-validation, they
        must lower the loss of labeled rows by two standard errors. Asked only where the balance is estimated.
    intercept_scaling : float, default=1.0
        Value of the constant feature that stands for the intercept; the larger, the less the intercept is regularised.
        With few labels 3 can be better, on columns scaled to [0, 1] for instance.
    probability : bool, default=False
        Whether to make `predict_proba`: Platt's logistic function of f, fitted to the values of labeled rows held out.
        Takes about five more rough fits.
    checkpoint : path or None, default=None
        File in which `fit` keeps what it has reached, for the linear kernel. A `fit` of the same data and parameters
        that finds it goes on from there, with the same bits; at the end it is removed.
    neighbors : int or None, default=None
        A number mixes the kernel with one that a graph of so many nearest neighbours deforms, so that f changes little
        between neighbours; 6 is a good one. It helps where classes lie on curved sheets (images of digits) and hurts
        elsewhere; :class:`SemiSupervisedSVCCV` chooses. Needs five matrices of the size of the kernel matrix, for the
        linear kernel too, and a time that grows with the cube of the rows; what does not fit is refused.

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
        vector generated. No violation found does not prove that there is none.
    refined_objective_ : float, array or None
        Mixed-integer objective of the labelling that refinement settled on.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Label vectors generated (most over the classes).
    status_ : str, or a list of them
        Why the cutting plane ended.
    balance_, balance_se_ : arrays of shape (n_classes,)
        Share of each class among the unlabeled rows as estimated or given (as found, where it was left open), and its
        standard error: 0 for a share that was given.
    balance_found_ : array of shape (n_classes,)
        Share of each class among the unlabeled rows by what `predict` says of them.
    used_unlabeled_ : bool
        Whether unlabeled rows took part; False gives the supervised SVM.
    proba_slope_, proba_offsets_ : float and array of shape (n_classes,)
        With ``probability=True``: the probabilities are ``softmax(slope * f + offsets)``, f being (-f, f) for two
        classes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    A pickle holds what predicts, not what describes the training rows: ``transduction_`` and ``labelings_`` are left
    out of it.

    Searches over unlabeled rows need folds or scores that know of them: `wellsvm.model_selection.SemiSupervisedSplit`,
    `wellsvm.metrics.make_labeled_scorer`. Probabilities are those of rows among which the classes are as frequent as
    among the labeled ones; with few labels they are rough.

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
        C=2.0,
        C_unlabeled=0.2,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        balance="estimate",
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
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
        search="annealed",
        safe=True,
        intercept_scaling=1.0,
        probability=False,
        checkpoint=None,
        neighbors=None,
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
        self.min_violation = min_violation
        self.min_decrease = min_decrease
        self.stopping = stopping
        self.weight_update = weight_update
        self.search = search
        self.safe = safe
        self.intercept_scaling = intercept_scaling
        self.probability = probability
        self.checkpoint = checkpoint
        self.neighbors = neighbors

    @classmethod
    def as_in_paper(cls, **params: Any) -> Self:
        """An estimator whose parameters are the paper's choices, all but those given here; see docs/as_in_paper.md."""
        return cls(**{**AS_IN_PAPER | SEMI_SUPERVISED_AS_IN_PAPER, **params})

    def fit(self, X, y, sample_weight=None):
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, dense (C order) and CSR are used as they are.
        y : array of shape (n_samples,)
            Labels; unlabeled rows marked as ``unlabeled`` says.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss. A row of weight 0 has no loss but still counts in the balance.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    @with_callbacks
    def _fit(self, X, y, sample_weight):
        options, n_jobs = self._options(), threads(self.n_jobs)
        require_path(self.checkpoint)
        X, partial = self._validate(X, y)
        loss = self._loss(X)
        C = self._prices(X, partial, sample_weight, price("C_unlabeled", self.C_unlabeled, open_low=False))
        kernel, titles = make_kernel(self, X), self._titles(partial.classes)
        # One problem leaves the threads to the passes over its rows.
        rows = self._rows_of(X, kernel, float(C.max()), n_jobs if len(titles) == 1 else None, None, self.neighbors)
        kept = None if self.checkpoint is None else checkpoint_of(self, rows, y=partial.codes, prices=C)
        stages = Unsaved() if kept is None else kept.stages()
        (seed,) = stages.arrays("seed", lambda: (seed_of(self.random_state),))
        shares = self._kept_shares(stages, lambda: self._shares(rows, partial, loss, C, seed, options))
        label_sets = self._label_sets(partial, shares and shares.shares)
        inits = self._inits(partial, label_sets)
        asked = flag("safe", self.safe) and shares is not None and bool(np.any(C[~partial.labeled] > 0))
        if asked:
            verdict = stages.arrays("verdict", lambda: told_verdict(rows, partial, shares, loss, C, seed, options))
            if not Verdict(*verdict).helps:
                C[~partial.labeled] = 0.0
        losses, free = Losses.of(loss, C), ~partial.labeled
        warm = getattr(self, "_fits", None) if self.warm_start else None
        warm = warm if warm is not None and len(warm) == len(titles) else [None] * len(titles)
        tasks = [
            Task(rows, labels, losses, KnownLabels(init, warm=fit), free, title, stages.part(str(k)))
            for k, (labels, init, fit, title) in enumerate(zip(label_sets, inits, warm, titles))
        ]
        progress = self._progress(X, y, parts=len(tasks), max_iter=options.max_iter)
        rngs = [np.random.default_rng([seed, k]) for k in range(len(tasks))]
        fits = self._fit_tasks(tasks, options, rngs, n_jobs, progress, together=self._searches_together(label_sets))
        self._store(X, kernel, rows, partial, fits, options)
        self._store_shares(partial, shares, label_sets)
        self.used_unlabeled_ = bool(np.any(C[free] > 0))
        if flag("probability", self.probability):
            self._store_probabilities(rows, partial, loss, C, seed, options)
        self._fits = fits if self.warm_start else None
        if kept is not None:
            kept.close()
        progress.end(fitted=True)
        if options.verbose:
            tell_outcome(self, X, partial.labeled)
        return self
