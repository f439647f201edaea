"""What the estimators that search for key instances share: their rows, f with the bag's part, and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from wellsvm._arguments import choice, flag, threads, whole_number
from wellsvm._typing import BoolArray, FloatArray, IntArray, Matrix
from wellsvm.bags import Bags, as_bags
from wellsvm.engine import recipe
from wellsvm.engine.calibration import fit_logistic, score_per_class, smoothed_targets
from wellsvm.engine.recipe import Fit, Guess, Task
from wellsvm.engine.supervised import fold_of
from wellsvm.estimators.bag_classifier import BagClassifier
from wellsvm.estimators.bag_function import BagFunction
from wellsvm.estimators.base import loss_of, options_of
from wellsvm.estimators.key_tasks import Averages, Prices, bag_values, key_tasks
from wellsvm.estimators.probabilities import asked_for_probability
from wellsvm.function import Function, KernelFunction, LinearFunction, read
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.rows.context import context_rows
from wellsvm.rows.kernels import Kernel

__all__ = ["KeyInstanceClassifier", "roughly"]

SEARCHES = ("local", "annealed")


def roughly(options: Options) -> Options:
    """How to solve where bags are held out: well enough to rank values of bags."""
    factor = options.fold_tol
    return options.but(
        verbose=0, tol=factor * options.tol, min_violation=factor * options.min_violation,
        min_decrease=factor * options.min_decrease,
    )  # fmt: skip


class KeyInstanceClassifier(BagClassifier):
    """A classifier of bags that searches for key instances; subclasses add parameters and say at which prices."""

    __metadata_request__predict_proba = {"bags": UNUSED}
    context_coef_: FloatArray | None = None
    _follows_a_path = False  # whether fits start from others at lower prices, which leaves little to the relaxation
    proba_slope_: float
    proba_offsets_: FloatArray

    def _check_parameters(self) -> None:
        flag("fit_intercept", self.fit_intercept)
        flag("probability", self.probability)
        self._options()
        threads(self.n_jobs)
        whole_number("n_key_instances", self.n_key_instances, low=1)
        whole_number("n_starts", self.n_starts, low=0)

    def _options(self, n_instances: int = 0) -> Options:
        """How to solve, for some number of instances."""
        prices = Options.annealed_prices if choice("search", self.search, SEARCHES) == "annealed" else ()
        others: dict[str, Any] = {"unsettled_labels": 0.0, "search_prices": prices}
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        if linear and loss_of(self) == "squared_hinge":
            others["dense_epochs"] = Options.bag_dense_epochs
        else:  # searches solve well on the way too, as in 0.1
            others["search_rough"] = 1.0
        if self.max_iter is None:
            short = flag("refine", self.refine) and (linear or self._follows_a_path)
            most = Options.start_labelings if short else Options.max_iter
            if short and n_instances > Options.many_instances:
                most = 1
            others |= {"max_iter": most, "relaxation_starts": short}
        return options_of(self, **others)

    def _rows_of(self, bags: Bags, kernel: Kernel, C: float, context: float, **shared: Any) -> Rows:
        bias = Options.bias if self.fit_intercept else 0.0
        return context_rows(bags.X, kernel, bias, C, self.cache_size, bags.offsets, context, **shared)

    def _tasks(
        self,
        rows: Rows,
        bags: Bags,
        codes: IntArray,
        prices: Prices,
        *,
        held_out: BoolArray | None = None,
        before: Sequence[Guess] | None = None,
        averages: Averages | None = None,
    ) -> list[Task]:
        """The two-class problems at given prices; see `key_tasks`."""
        wanted, names = self._positive_codes(), self.classes_.tolist()
        titles = [f"class {names[k]!r} against the rest" if len(wanted) > 1 else "" for k in wanted]
        return key_tasks(
            rows, bags.offsets, codes, wanted, prices, n_keys=self.n_key_instances, n_starts=self.n_starts,
            n_jobs=self.n_jobs if len(wanted) == 1 and held_out is None else 1, held_out=held_out, before=before,
            averages=averages, titles=titles,
        )  # fmt: skip

    def _store_fits(
        self, bags: Bags, codes: IntArray, kernel: Kernel, functions: Sequence[BagFunction], fits: list[Fit]
    ) -> None:
        """Store the mean of functions, and what is told of the fits of one of them."""
        for name in ("proba_slope_", "proba_offsets_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        function = BagFunction.mean(functions)
        self._store_bag_function(bags, kernel, function)
        y = [fit.task.labels.linear_oracle(scores) for fit, scores in zip(fits, function.scores.T)]
        self._store_keys(bags, codes, kernel, y)
        labelings = [np.stack([bags.restore(y) for y in fit.relaxation.solution.state.labels]) for fit in fits]
        self._store_report(fits, labelings, self._options().tol)

    # -------------------------------------------------------------- f: of the instance, and of its bag

    def _store_bag_function(self, bags: Bags, kernel: Kernel, function: BagFunction) -> None:
        """Store ``f(x, B) = f(x) + mean over B of g``; ``context_coef_`` are the coefficients of g, None for 0."""
        coef, of_bags, intercept, _ = function
        self.context_coef_ = of_bags
        if kernel.name == "linear":
            self._store_function(LinearFunction(coef, intercept), kernel)
        elif of_bags is None:
            self._store_function(KernelFunction.over(bags.X, kernel, coef, intercept), kernel)
        else:
            both = KernelFunction.over(bags.X, kernel, np.vstack([coef, of_bags]), intercept)
            self._store_function(replace(both, dual_coef_=both.dual_coef_[: len(coef)].copy()), kernel)
            self.context_coef_ = both.dual_coef_[len(coef) :].copy()

    def _sort_support(self, support: IntArray) -> None:
        if self.context_coef_ is not None:
            self.context_coef_ = np.ascontiguousarray(self.context_coef_[:, np.argsort(support)])
        super()._sort_support(support)

    def _both_functions(self, g: FloatArray) -> Function:
        """f and, after it, g, as functions of instances; g is given by its coefficients."""
        function = read(vars(self))
        name = "coef_" if isinstance(function, LinearFunction) else "dual_coef_"
        stacked: dict[str, Any] = {name: np.vstack([getattr(function, name), g])}
        return replace(function, intercept_=np.append(function.intercept_, np.zeros(len(g))), **stacked)

    def _values_in_bags(self, X: Matrix, offsets: IntArray | None) -> FloatArray:
        if self.context_coef_ is None:
            return self._evaluate(X)
        values, shift = np.split(self._both_functions(self.context_coef_).values(X), 2, axis=1)
        if offsets is not None:
            sizes = np.diff(offsets)[:, None]
            shift = np.repeat(np.add.reduceat(shift, offsets[:-1], axis=0) / sizes, sizes[:, 0], axis=0)
        return np.asarray(values + shift)

    # -------------------------------------------------------------- probabilities

    @available_if(asked_for_probability)
    def predict_proba(self, bags, groups=None):
        """Probability of every class for every bag, for ``probability=True``.

        Parameters
        ----------
        bags, groups :
            As in `decision_function`.

        Returns
        -------
        array of shape (n_bags, n_classes)
            In the order of ``classes_``. Probabilities increase with `decision_function`. `predict` uses f itself, and
            may differ if the most likely classes are nearly equal.
        """
        check_is_fitted(self)
        if not hasattr(self, "proba_slope_"):
            raise NotFittedError(f"this {type(self).__name__} was fitted without probability=True; fit it again")
        bags = as_bags(bags, groups)
        values = self._bag_values(self._instance_values(bags), bags)
        chances = softmax(self.proba_slope_ * score_per_class(values) + self.proba_offsets_, axis=1)
        return chances[:, ::-1] if self._flipped else chances

    def _store_probabilities(self, values: FloatArray, codes: IntArray, options: Options) -> None:
        """Store slope and offsets of a logistic function of values that bags have where they were held out."""
        targets = smoothed_targets(codes, len(self.classes_))
        slope, offsets = fit_logistic(score_per_class(values), targets, np.ones(len(codes)), options.proba_ridge)
        if slope <= 0:  # f says nothing of bags it has not seen
            slope, offsets = 0.0, np.log(targets.mean(axis=0))
        self.proba_slope_, self.proba_offsets_ = slope, offsets

    def _held_out_values(
        self, rows: Rows, bags: Bags, codes: IntArray, prices: Prices, seed: int, options: Options
    ) -> FloatArray:
        """Values of all bags, each held out once."""
        rough, rng = roughly(options), np.random.default_rng(seed)
        fold = fold_of(codes, options.judge_folds, rng)
        values, averages = np.zeros((len(bags), len(self._positive_codes()))), Averages()
        for f in range(int(fold.max()) + 1):
            tasks = self._tasks(rows, bags, codes, prices, held_out=fold == f, averages=averages)
            fits = [recipe.fit(task, rough, np.random.default_rng([seed, k])) for k, task in enumerate(tasks)]
            scores = np.stack([fit.scores() for fit in fits], axis=1)
            values[fold == f] = bag_values(scores, bags.offsets)[fold == f]
        return values
