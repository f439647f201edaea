"""What SemiSupervisedSVC, SemiSupervisedSVCCV and their rivals share: prices, labels allowed, start, storing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, compute_class_weight
from sklearn.utils.validation import check_is_fitted

from wellsvm._arguments import choice, flag, number, price, require_prices, sample_weights, whole_number
from wellsvm._input import check_matrix, computed, is_sparse
from wellsvm._lazy import lazy_on_dask
from wellsvm._typing import BoolArray, FloatArray, LabelArray, Matrix
from wellsvm.engine.assignment import apportion
from wellsvm.engine.checkpoint import Stages
from wellsvm.engine.functions import Functions
from wellsvm.engine.joint import joint_counts
from wellsvm.engine.neighborhood import graph_of
from wellsvm.engine.recipe import Fit, Guess, Opening, Task, stacked, stage
from wellsvm.engine.search import guess_of_known
from wellsvm.engine.shares import Shares
from wellsvm.engine.starts import best_aligned
from wellsvm.engine.supervised import LEFT_OUT
from wellsvm.estimators.base import (
    KernelModel,
    loss_of,
    make_rows,
    options_of,
)
from wellsvm.estimators.callbacks import CallbackSupportMixin
from wellsvm.estimators.evidence import estimate_shares
from wellsvm.estimators.refusals import require_labels, require_marked
from wellsvm.labels.balanced import BalancedLabels, class_balances, made_feasible, positive_bounds
from wellsvm.options import Options
from wellsvm.partial_labels import (
    PartialLabels,
    normalize_partial_labels,
    require_two_classes,
    require_weight_of_every_class,
)
from wellsvm.rows import GramRows, Rows
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.coordinates import Coordinates, coordinates_of
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.linear import LinearRows
from wellsvm.rows.making import gram_matrix
from wellsvm.rows.neighbors import NeighborRows, require_room_for_neighbors, too_large_for_neighbors

__all__ = ["KnownLabels", "SemiSupervisedBase"]

INITS = ("refined", "svm", "alignment")


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
        return guess_of_known(task.rows, task.labels.y_known, task.losses, rng, options)


class SemiSupervisedBase(CallbackSupportMixin, ClassifierMixin, KernelModel):
    """Common part of SemiSupervisedSVC, SemiSupervisedSVCCV and their rivals; they add parameters and `fit`."""

    _of_training_rows: tuple[str, ...] = ("transduction_", "labelings_", "_fits")
    _searches: tuple[str, ...] = ("auto", "smooth", "annealed", "local")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A model of 0.1 keeps the method it was fitted with, should it be fitted again."""
        if "search" not in state:
            loss = "paper" if isinstance(state.get("loss"), str) and state["loss"] == "auto" else state.get("loss")
            state = {"search": "local", "safe": False, "intercept_scaling": 1.0, **state, "loss": loss}
        super().__setstate__(state)

    def _validate(self, X: Any, y: Any) -> tuple[Matrix, PartialLabels]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = check_matrix(self, X, reset=True)
        partial = normalize_partial_labels(computed(y, X), self.unlabeled)
        check_consistent_length(X, partial.codes)
        require_two_classes(partial)
        if partial.labeled.all() or "sklearn.calibration" in sys.modules:
            require_marked(type(self).__name__, partial, self.unlabeled)
        # A class of every row in 8 bytes would be as much as its dual variable.
        return X, replace(partial, codes=partial.codes.astype(np.min_scalar_type(-len(partial.classes) - 1)))

    def _prices(
        self,
        X: Matrix,
        partial: PartialLabels,
        sample_weight: Any,
        C_unlabeled: float,
        held_out: BoolArray | None = None,
    ) -> FloatArray:
        """C of every row; 0 for rows ``held_out``, which do not count in the class weights either."""
        weight = sample_weights(sample_weight, partial.codes)
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
        if held_out is None:
            require_weight_of_every_class(partial, C, "sample_weight or class_weight")
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
        if shares is not None:  # whole numbers that do not depend on which class is the second
            counts = apportion(shares, label_sets[0].free.size).tolist()
            label_sets = [
                BalancedLabels(labels.y_known, n) for labels, n in zip(label_sets, counts[-len(label_sets) :])
            ]
        return label_sets

    def _searches_together(self, label_sets: list[BalancedLabels]) -> bool:
        """Whether the classes are searched together: where their counts are settled, and the search is annealed."""
        return len(label_sets) > 1 and self._search() == "annealed" and joint_counts(label_sets) is not None

    def _loss(self, X: Matrix) -> str:
        """The loss asked for; "auto" is hinge for sparse rows under the linear kernel, else squared hinge."""
        auto = isinstance(self.loss, str) and self.loss == "auto"
        return "squared_hinge" if auto and not is_sparse(X) else loss_of(self)

    def _search(self) -> str:
        """The search asked for; "auto" is the annealed one."""
        search = choice("search", self.search, self._searches)
        if search == "smooth" and not flag("fit_intercept", self.fit_intercept):
            raise ValueError(
                "search='smooth' keeps the balance by the intercept, and fit_intercept=False; use fit_intercept=True, "
                "or search='annealed'"
            )
        return "annealed" if search == "auto" else search

    def _options(self) -> Options:
        search, how = self._search(), self._how_to_relax()
        if search == "smooth":
            how |= {"smooth": True, "judge_errors": Options.smooth_errors}
        elif search == "annealed":
            how |= {"search_prices": Options.annealed_prices, "sure_margin": Options.semi_supervised_margin}
        return options_of(self, **how)

    def _how_to_relax(self) -> dict[str, Any]:
        """A relaxation that is no more than where a search starts has few label vectors; a user who chooses another
        oracle wants the relaxation itself."""
        starts = flag("refine", self.refine) and self.oracle == Options.oracle
        if not starts or whole_number("max_iter", self.max_iter, low=1) <= Options.start_labelings:
            return {}
        return {"max_iter": Options.start_labelings, "relaxation_starts": True}

    @staticmethod
    def _coordinates(
        rows: Rows, partial: PartialLabels, C: FloatArray, seed: int, options: Options
    ) -> Coordinates | None:
        """What a smooth search moves in; None where there is another search, or nothing to search for."""
        if not options.smooth or not np.any(C[~partial.labeled] > 0):
            return None
        return coordinates_of(rows, np.flatnonzero(partial.labeled), np.random.default_rng([seed, 3]), options)

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
        bias, linear = scaling if flag("fit_intercept", self.fit_intercept) else 0.0, None
        if kernel.name == "linear":  # columns far from 0 are seen from their mean, as without neighbors
            linear = LinearRows(X, bias).settled()
            linear.require_digits()
            X, linear = linear.taken(np.arange(X.shape[0])), linear.with_bias(0.0)
        K = gram_matrix(X, kernel, False, pairs).astype(np.float64, copy=False)
        if trouble := too_large_for_neighbors(float(K.diagonal().max(initial=0.0)), C):
            raise ValueError(
                f"neighbors={neighbors} cannot be used: {trouble}. Scale the features, for instance with "
                "sklearn.preprocessing.StandardScaler, or use neighbors=None, or lower C"
            )
        mixed: GramRows = NeighborRows(K, graph_of(GramRows(K), neighbors), bias, linear)
        return mixed

    def _estimates_shares(self) -> bool:
        return isinstance(self.balance, str) and self.balance == "estimate"

    def _shares(
        self,
        rows: Rows,
        partial: PartialLabels,
        loss: str,
        C: FloatArray,
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
        return estimate_shares(rows, partial, loss, C, options)

    @staticmethod
    def _kept_shares(stages: Stages | None, compute: Callable[[], Shares | None]) -> Shares | None:
        """The estimated shares, or None, as a stage that can be kept."""
        shares, errors = stage(stages, "shares", lambda: compute() or (None, None))
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
                    f"{labels.low} and {labels.high} must be positive; change init, or allow another balance"
                )
        return list(inits)

    def _store(
        self,
        X: Matrix,
        kernel: Any,
        rows: Rows,
        partial: PartialLabels,
        fits: list[Fit],
        options: Options,
        functions: Functions | None = None,
    ) -> None:
        """Store what was fitted; ``functions`` take the place of those that the fits found, and label the rows as they
        predict them."""
        for name in ("proba_slope_", "proba_offsets_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.classes_ = partial.classes
        coefficients, intercepts, values = functions or stacked(rows, [fit.solution for fit in fits])
        self._store_coefficients(X, kernel, coefficients, intercepts)
        self._store_report(fits, [np.stack(fit.relaxation.solution.state.labels) for fit in fits], options.tol)
        binary = len(fits) == 1
        predicted = (values[:, 0] > 0).astype(np.intp) if binary else np.argmax(values, axis=1)
        balanced = binary and functions is None
        codes = fits[0].task.labels.linear_oracle(values[:, 0]) > 0 if balanced else predicted
        self.transduction_ = self.classes_[np.where(partial.labeled, partial.codes, codes)]
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
            Rows; for ``kernel="precomputed"``, the kernel values with the training rows.
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
        """Accuracy on labeled rows; a y with unlabeled rows raises an error.

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
        return super().score(X, require_labels(y, self.unlabeled, self.classes_), sample_weight)
