"""MultiInstanceSVCCV: prices, gamma and context chosen by cross-validation over the bags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple, Self

import numpy as np

from wellsvm._arguments import seed_of
from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.bags import Bags
from wellsvm.engine.recipe import Fit
from wellsvm.estimators.bag_folds import Fold, Judge, bag_folds, by_scorer, mean_hinge, results_of, values_of
from wellsvm.estimators.base import Silent, loss_of
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.key_instances import KeyInstanceClassifier, roughly
from wellsvm.estimators.key_tasks import Averages, Prices, bag_values
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.making import shared_pairs
from wellsvm.threads import run

__all__ = ["MultiInstanceSVCCV"]


class Grid(NamedTuple):
    """What is tried: kernels of several widths, weights of the context, and prices, in the order of the path."""

    kernels: list[Kernel]
    contexts: list[float]
    prices: list[Prices]


class MultiInstanceSVCCV(KeyInstanceClassifier):
    """MultiInstanceSVC with both penalties, gamma and context chosen by cross-validation over the bags.

    Folds hold out whole bags, stratified by class. Candidates are compared by the mean hinge loss of the held-out bags,
    because with a few dozen bags accuracy changes in coarse steps. For every gamma and context, each fit starts from
    the one with the previous penalties; the final fit follows the same path up to the chosen penalties. Distances
    between instances are computed once, and set kernels once per gamma.

    Parameters
    ----------
    Cs_positive, Cs_negative : sequence of float or None, default=None
        Penalties to try for positive bags and for instances of negative bags, in all combinations. If one is None, both
        penalties are equal. If both are None, they are 1, 10 and 100.
    gammas : sequence of float or None, default=None
        Values of ``gamma`` to try, for "rbf", "poly" and "sigmoid". None tries a quarter of ``gamma``, ``gamma`` and
        four times ``gamma`` for "rbf", otherwise only ``gamma``.
    contexts : sequence of float or None, default=None
        Values of ``context`` to try; None tries 0, 1, 10 and 100.
    cv : int, splitter or iterable, default=5
        Folds over the bags. A number means stratified folds, drawn by ``random_state``, but not more than the smallest
        class has bags.
    scoring : str, callable or None, default=None
        Score to maximize, as in scikit-learn; None uses the negative hinge loss.
    kernel, gamma, degree, coef0, loss, fit_intercept, n_key_instances, oracle, refine, positive_class, tol, max_iter, \
random_state, n_jobs, verbose, cache_size, min_violation, min_decrease, stopping, weight_update, search, n_starts, \
probability
        As in :class:`MultiInstanceSVC`; ``n_jobs`` threads share the folds. ``probability`` costs nothing extra here.
        With ``refine``, ``max_iter=None`` means 5 for every kernel, because each fit also starts from the previous one.

    Attributes
    ----------
    C_positive_, C_negative_, gamma_, context_ : float
        The values chosen.
    best_params_ : dict
        The same, under the names of the parameters of :class:`MultiInstanceSVC`.
    best_score_ : float
        Mean score of the chosen candidate over the folds.
    cv_results_ : dict of arrays
        As in scikit-learn's GridSearchCV: "params", "param_C_positive", ..., "split0_test_score", ...,
        "mean_test_score", "std_test_score" and "rank_test_score", one entry per candidate.

    Notes
    -----
    All other attributes are those of :class:`MultiInstanceSVC` and describe the fit on all bags.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import Bags, MultiInstanceSVCCV
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.standard_normal((120, 2)), np.repeat(np.arange(30), 4)
    >>> y = np.arange(30) % 2
    >>> X[::4][y == 1] += 6  # the first instance of every bag of class 1
    >>> model = MultiInstanceSVCCV(Cs_positive=[1, 10], contexts=[0, 1], random_state=0).fit(Bags(X, groups), y)
    >>> sorted(model.best_params_), len(model.cv_results_["params"])
    (['C_negative', 'C_positive', 'context', 'gamma'], 12)
    """

    _follows_a_path = True

    def __init__(
        self,
        Cs_positive=None,
        Cs_negative=None,
        gammas=None,
        contexts=None,
        cv=5,
        scoring=None,
        kernel="rbf",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        n_key_instances=1,
        oracle="paper",
        refine=True,
        positive_class=None,
        tol=1e-3,
        max_iter=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
        search="local",
        n_starts=0,
        probability=False,
    ):
        self.Cs_positive = Cs_positive
        self.Cs_negative = Cs_negative
        self.gammas = gammas
        self.contexts = contexts
        self.cv = cv
        self.scoring = scoring
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.n_key_instances = n_key_instances
        self.oracle = oracle
        self.refine = refine
        self.positive_class = positive_class
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cache_size = cache_size
        self.min_violation = min_violation
        self.min_decrease = min_decrease
        self.stopping = stopping
        self.weight_update = weight_update
        self.search = search
        self.n_starts = n_starts
        self.probability = probability

    def _grid(self, kernel: Kernel) -> Grid:
        """The grid, checked."""
        loss = loss_of(self)
        positive, negative = (
            None if given is None else values_of(name, given, open_low=True)
            for name, given in (("Cs_positive", self.Cs_positive), ("Cs_negative", self.Cs_negative))
        )
        if positive is None or negative is None:
            pairs = [(C, C) for C in positive or negative or Options.bag_prices]
        else:
            pairs = sorted(product(positive, negative), key=lambda pair: (sum(pair), pair))
        contexts = Options.contexts if self.contexts is None else values_of("contexts", self.contexts)
        return Grid(self._kernels(kernel), list(contexts), [Prices(loss, *pair) for pair in pairs])

    def _kernels(self, kernel: Kernel) -> list[Kernel]:
        if self.gammas is None:
            factors = Options.bag_gamma_factors if kernel.name == "rbf" else (1.0,)
            return [replace(kernel, gamma=factor * kernel.gamma) for factor in factors]
        if kernel.name not in ("rbf", "poly", "sigmoid"):
            raise ValueError(f"gammas has no meaning for kernel={self.kernel!r}; use kernel='rbf', or gammas=None")
        return [replace(kernel, gamma=gamma) for gamma in values_of("gammas", self.gammas, open_low=True)]

    @with_callbacks
    def _fit_checked(self, bags: Bags, codes: IntArray, kernel: Kernel) -> Self:
        options, grid = self._options(), self._grid(kernel)
        seed = seed_of(self.random_state)
        judge = mean_hinge if self.scoring is None else by_scorer(self.scoring, self.classes_, self._flipped)
        folds = bag_folds(self.cv, self._labels(codes), seed)
        n_paths = len(grid.kernels) * len(grid.contexts)
        progress = self._progress(bags, self._labels(codes), parts=n_paths * len(folds) + 1)

        pairs = shared_pairs(bags.X, kernel, self._widest(grid), self.cache_size) if n_paths > 1 else None
        rows_at, values = partial(self._rows_at, bags, grid, pairs, {}), []
        for path, (kernel, context) in enumerate(product(grid.kernels, grid.contexts)):
            rows, averages = rows_at(kernel, context), Averages()
            work = [
                partial(self._values, rows, bags, codes, grid.prices, fold, averages, seed, options, progress, number)
                for number, fold in enumerate(folds, start=path * len(folds))
            ]
            values.append(run(work, self.n_jobs))
            del rows, averages, work  # the matrices go before the next ones come
        path, price = self._choose(grid, values, folds, bags, codes, judge)
        kernel, context = list(product(grid.kernels, grid.contexts))[path]
        rows = rows_at(kernel, context)
        accuracies = [roughly(options)] * price + [options]
        with progress.part(n_paths * len(folds), "fit on all bags", parts=price + 1) as part:
            *_, fits = self._path(rows, bags, codes, grid.prices[: price + 1], accuracies, seed, progress=part)
        self._store_fits(bags, codes, kernel, rows, context, fits)
        if self.probability:
            seen = np.concatenate([found[price][fold.test] for found, fold in zip(values[path], folds)])
            self._store_probabilities(seen, np.concatenate([codes[fold.test] for fold in folds]), options)
        progress.end(fitted=True)
        return self

    @staticmethod
    def _widest(grid: Grid) -> float:
        """The largest price times the largest kernel value: it decides on the precision of kernel values."""
        return max(max(price.positive, price.negative) for price in grid.prices) * (1.0 + max(grid.contexts))

    def _rows_at(
        self,
        bags: Bags,
        grid: Grid,
        pairs: np.ndarray | None,
        sets: dict[Kernel, FloatArray],
        kernel: Kernel,
        context: float,
    ) -> Rows:
        """Rows of one gamma and context, all in the same precision."""
        C = self._widest(grid) / (1.0 + context)
        return self._rows_of(bags, kernel, C, context, pairs=pairs, sets=sets)

    def _path(
        self,
        rows: Rows,
        bags: Bags,
        codes: IntArray,
        prices: Sequence[Prices],
        accuracies: Sequence[Options],
        seed: int,
        *,
        held_out: BoolArray | None = None,
        averages: Averages | None = None,
        progress: Silent = Silent(),
    ) -> Iterator[list[Fit]]:
        """Fit all two-class problems at each of the prices in turn, every fit starting from the one before."""
        wanted, before = self._positive_codes(), None
        rngs = [np.random.default_rng([seed, k]) for k in wanted]
        n_jobs = self.n_jobs if held_out is None else 1
        for i, (price, options) in enumerate(zip(prices, accuracies)):
            tasks = self._tasks(rows, bags, codes, price, held_out=held_out, before=before, averages=averages)
            before = self._fit_tasks(tasks, options, rngs, n_jobs, progress, first=i * len(wanted))
            yield before

    def _values(
        self,
        rows: Rows,
        bags: Bags,
        codes: IntArray,
        prices: Sequence[Prices],
        fold: Fold,
        averages: Averages,
        seed: int,
        options: Options,
        progress: Silent,
        number: int,
    ) -> list[FloatArray]:
        """Values of all bags at each of the prices, learned without the bags held out."""
        accuracies = [roughly(options)] * len(prices)
        with progress.part(number, "fold"):
            path = self._path(rows, bags, codes, prices, accuracies, seed, held_out=fold.held_out, averages=averages)
            return [bag_values(fits, bags.offsets) for fits in path]

    def _choose(
        self,
        grid: Grid,
        values: list[list[list[FloatArray]]],
        folds: list[Fold],
        bags: Bags,
        codes: IntArray,
        judge: Judge,
    ) -> tuple[int, int]:
        """The best point, by the number of its path and of its price; of equals the first. Stores what was seen."""
        scores = np.array(
            [
                [judge(found[price][fold.test], codes[fold.test], bags, fold.test) for found, fold in zip(path, folds)]
                for path in values
                for price in range(len(grid.prices))
            ]
        )
        if np.isnan(scores).any():
            raise ValueError(f"scoring={self.scoring!r} gave NaN on a fold; use another scoring or fewer folds")
        points = [
            {"C_positive": p.positive, "C_negative": p.negative, "gamma": kernel.gamma, "context": context}
            for kernel, context, p in product(grid.kernels, grid.contexts, grid.prices)
        ]
        self.cv_results_ = results_of(points, scores)
        best = int(np.argmax(scores.mean(axis=1)))
        self.best_params_, self.best_score_ = points[best], float(scores[best].mean())
        for name, value in points[best].items():
            setattr(self, f"{name}_", value)
        return divmod(best, len(grid.prices))
