"""MultiInstanceSVCCV: prices, gamma and context by cross-validation over the bags; averaged, or the best alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple, Self

import numpy as np

from wellsvm._arguments import choice, seed_of
from wellsvm._typing import FloatArray, IntArray
from wellsvm.bags import Bags
from wellsvm.engine import recipe
from wellsvm.engine.recipe import Fit
from wellsvm.estimators.bag_folds import Judge, bag_folds, by_scorer, mean_hinge, results_of, values_of
from wellsvm.estimators.bag_function import BagFunction
from wellsvm.estimators.bag_walk import Walk, guesses_of
from wellsvm.estimators.base import Silent, loss_of
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.key_instances import KeyInstanceClassifier, roughly
from wellsvm.estimators.key_tasks import Averages, Prices
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.making import shared_pairs
from wellsvm.threads import run

__all__ = ["MultiInstanceSVCCV"]


COMBINES = ("average", "best")


class Grid(NamedTuple):
    """What is tried: kernels of several widths, weights of the context, and prices, in the order of the path."""

    kernels: list[Kernel]
    contexts: list[float]
    prices: list[Prices]

    @property
    def widest(self) -> float:
        """The largest price times the largest kernel value: it decides on the precision of kernel values."""
        return max(max(price.positive, price.negative) for price in self.prices) * (1.0 + max(self.contexts))


class Choice(NamedTuple):
    """The kernel chosen, and at it the best context and price, all by their number in the grid."""

    kernel: int
    context: int
    price: int


class MultiInstanceSVCCV(KeyInstanceClassifier):
    """MultiInstanceSVC with both penalties, gamma and context set by cross-validation over the bags.

    Folds hold out whole bags, stratified by class. A few dozen bags are not enough to tell which candidate is the best.
    So by default, cross-validation chooses only gamma, and f is the mean of the functions of all penalties and
    contexts. Candidates are compared by the mean hinge loss of held-out bags, because accuracy changes in coarse steps.

    This takes much less time than a grid search: each fit starts from the one with the previous penalties, and
    distances between instances are computed only once.

    Parameters
    ----------
    Cs_positive, Cs_negative : sequence of float or None, default=None
        Penalties to try for positive bags and for instances of negative bags, in all combinations. If one is None, both
        penalties are equal. If both are None, 1 and 10 are tried for the instances of negative bags. The penalty on
        positive bags is then the same, times the number of negative bags per positive bag if that is more than 1; with
        more than two classes, times the number of other classes.
    gammas : sequence of float or None, default=None
        Values of ``gamma`` to try, for "rbf", "poly" and "sigmoid". None tries ``gamma`` and four times ``gamma`` for
        "rbf", otherwise only ``gamma``.
    contexts : sequence of float or None, default=None
        Values of ``context`` to try; None tries 0, 1, 10 and 100.
    combine : {"average", "best"}, default="average"
        "average" chooses only gamma; f is the mean of the functions of all penalties and contexts. "best" fits the
        candidate with the best score.
    cv : int, splitter or iterable, default=5
        Folds over the bags. A number means stratified folds, drawn by ``random_state``; there are no more folds than
        bags in the smallest class.
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
        The best candidate; with ``combine="average"``, the best of those with the chosen gamma.
    best_params_ : dict
        The same, under the names of the parameters of :class:`MultiInstanceSVC`.
    best_score_ : float
        Mean score over the folds, of the average or of the best candidate.
    cv_results_ : dict of arrays
        As in scikit-learn's GridSearchCV: "params", "param_C_positive", ..., "split0_test_score", ...,
        "mean_test_score", "std_test_score" and "rank_test_score", one entry per candidate.

    Notes
    -----
    All other attributes are those of :class:`MultiInstanceSVC` and describe the fit on all bags. ``key_instances_`` are
    those of f; objectives, ``history_`` and ``status_`` are those of the best candidate.

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
    (['C_negative', 'C_positive', 'context', 'gamma'], 8)
    """

    _follows_a_path = True

    def __init__(
        self,
        Cs_positive=None,
        Cs_negative=None,
        gammas=None,
        contexts=None,
        combine="average",
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
        self.combine = combine
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

    def _grid(self, kernel: Kernel, codes: IntArray) -> Grid:
        """The grid for bags with these codes, checked."""
        loss = loss_of(self)
        positive, negative = (
            None if given is None else values_of(name, given, open_low=True)
            for name, given in (("Cs_positive", self.Cs_positive), ("Cs_negative", self.Cs_negative))
        )
        if positive is None and negative is None:
            pairs = [(self._negative_per_positive(codes) * C, C) for C in Options.bag_prices]
        elif positive is None or negative is None:
            pairs = [(C, C) for C in positive or negative or ()]
        else:
            pairs = sorted(product(positive, negative), key=lambda pair: (sum(pair), pair))
        contexts = Options.contexts if self.contexts is None else values_of("contexts", self.contexts)
        return Grid(self._kernels(kernel), list(contexts), [Prices(loss, *pair) for pair in pairs])

    def _negative_per_positive(self, codes: IntArray) -> float:
        """Negative bags for each positive one, of classes alike where there are more than two; at least 1, since few
        negative bags have a price for every instance and do not need help."""
        if len(self.classes_) > 2:
            return len(self.classes_) - 1.0
        n_positive = np.count_nonzero(codes)
        return max(1.0, (len(codes) - n_positive) / n_positive)

    def _kernels(self, kernel: Kernel) -> list[Kernel]:
        if self.gammas is None:
            factors = Options.bag_gamma_factors if kernel.name == "rbf" else (1.0,)
            return [replace(kernel, gamma=factor * kernel.gamma) for factor in factors]
        if kernel.name not in ("rbf", "poly", "sigmoid"):
            raise ValueError(f"gammas has no meaning for kernel={self.kernel!r}; use kernel='rbf', or gammas=None")
        return [replace(kernel, gamma=gamma) for gamma in values_of("gammas", self.gammas, open_low=True)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice("combine", self.combine, COMBINES)

    @with_callbacks
    def _fit_checked(self, bags: Bags, codes: IntArray, kernel: Kernel) -> Self:
        options, grid = self._options(bags.n_instances), self._grid(kernel, codes)
        seed = seed_of(self.random_state)
        judge = mean_hinge if self.scoring is None else by_scorer(self.scoring, self.classes_, self._flipped)
        folds = bag_folds(self.cv, self._labels(codes), seed)
        n_paths = len(grid.kernels) * len(grid.contexts)
        progress = self._progress(bags, self._labels(codes), parts=n_paths * len(folds) + 1)

        pairs = shared_pairs(bags.X, kernel, grid.widest, self.cache_size) if n_paths > 1 else None
        rows_at = partial(self._rows_at, bags, grid, pairs, {})
        walks = [[Walk(fold) for fold in folds] for _ in grid.kernels]
        for path, (k, context) in enumerate(product(range(len(grid.kernels)), grid.contexts)):
            rows, averages = rows_at(grid.kernels[k], context), Averages()
            work = [
                partial(self._walk, walk, rows, bags, codes, grid.prices, context, averages, seed, options, progress, n)
                for n, walk in enumerate(walks[k], start=path * len(folds))
            ]
            run(work, self.n_jobs)
            del rows, averages, work  # the matrices go before the next ones come
        chosen = self._choose(grid, walks, bags, codes, judge)
        n_fits = len(grid.contexts) * len(grid.prices) * len(self._positive_codes())
        with progress.part(n_paths * len(folds), "fit on all bags", parts=n_fits) as part:
            self._fit_all(bags, codes, grid, chosen, rows_at, seed, options, part)
        if self.probability:
            seen = [
                (self._judged(walk, grid, chosen, bags)[walk.fold.test], codes[walk.fold.test])
                for walk in walks[chosen.kernel]
            ]
            values, classes = (np.concatenate(part) for part in zip(*seen))
            self._store_probabilities(values, classes, options)
        progress.end(fitted=True)
        return self

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
        return self._rows_of(bags, kernel, grid.widest / (1.0 + context), context, pairs=pairs, sets=sets)

    def _walk(
        self,
        walk: Walk,
        rows: Rows,
        bags: Bags,
        codes: IntArray,
        prices: Sequence[Prices],
        context: float,
        averages: Averages,
        seed: int,
        options: Options,
        progress: Silent,
        number: int,
    ) -> None:
        """Learn from the bags of a fold at each of the prices in turn; the walk goes on where it was."""
        rough = roughly(options)
        rngs = [np.random.default_rng([seed, k]) for k in self._positive_codes()]
        before = walk.guesses(context)
        with progress.part(number, "fold"):
            for price in prices:
                held_out = walk.fold.held_out
                tasks = self._tasks(rows, bags, codes, price, held_out=held_out, before=before, averages=averages)
                found = [
                    recipe.settle(task, rough, rng) if rough.refine else recipe.fit(task, rough, rng).solution
                    for task, rng in zip(tasks, rngs)
                ]
                before = guesses_of(found)
                walk.took(before, context, bags.offsets, first=price is prices[0])

    def _fit_all(
        self,
        bags: Bags,
        codes: IntArray,
        grid: Grid,
        chosen: Choice,
        rows_at: partial[Rows],
        seed: int,
        options: Options,
        progress: Silent,
    ) -> None:
        """Fit all bags, at the point chosen or at all that the average is made of, and store the function."""
        kernel, functions, told = grid.kernels[chosen.kernel], [], None
        alone = self.combine == "best"
        prices = grid.prices[: chosen.price + 1] if alone else grid.prices
        for c, context in enumerate(grid.contexts):
            if alone and c != chosen.context:
                continue
            rows = rows_at(kernel, context)
            accuracies = [roughly(options)] * chosen.price + [options] if alone else [options] * len(prices)
            path = self._path(rows, bags, codes, prices, accuracies, seed, progress, first=c * len(grid.prices))
            for p, fits in enumerate(path):
                if not alone or p == chosen.price:
                    functions.append(BagFunction.of(fits, bags, kernel, rows, context))
                if (c, p) == (chosen.context, chosen.price):
                    told = fits
            del rows, path, fits  # as above
        assert told is not None
        self._store_fits(bags, codes, kernel, functions, told)

    def _path(
        self,
        rows: Rows,
        bags: Bags,
        codes: IntArray,
        prices: Sequence[Prices],
        accuracies: Sequence[Options],
        seed: int,
        progress: Silent,
        first: int,
    ) -> Iterator[list[Fit]]:
        """Fit all two-class problems at each of the prices in turn, every fit starting from the one before."""
        wanted, before = self._positive_codes(), None
        rngs = [np.random.default_rng([seed, k]) for k in wanted]
        for i, (price, options) in enumerate(zip(prices, accuracies), start=first):
            tasks = self._tasks(rows, bags, codes, price, before=before)
            fits = self._fit_tasks(tasks, options, rngs, self.n_jobs, progress, first=i * len(wanted))
            before = guesses_of([fit.solution for fit in fits])
            yield fits

    def _judged(self, walk: Walk, grid: Grid, chosen: Choice, bags: Bags) -> FloatArray:
        """Values of bags by which a fold judges what was chosen."""
        if self.combine == "average":
            return walk.average(bags.offsets)
        return walk.values[chosen.context * len(grid.prices) + chosen.price]

    def _choose(self, grid: Grid, walks: list[list[Walk]], bags: Bags, codes: IntArray, judge: Judge) -> Choice:
        """The best point, of equals the first: of all, or of the kernel whose average is the best. Stores what was
        seen."""

        def score(walk: Walk, values: FloatArray) -> float:
            test = walk.fold.test
            return judge(values[test], codes[test], bags, test)

        n_points = len(grid.contexts) * len(grid.prices)
        scores = np.array([[score(w, w.values[i]) for w in own] for own in walks for i in range(n_points)])
        averages = np.array([[score(w, w.average(bags.offsets)) for w in own] for own in walks])
        if np.isnan(scores).any() or np.isnan(averages).any():
            raise ValueError(f"scoring={self.scoring!r} gave NaN on a fold; use another scoring or fewer folds")
        points = [
            {"C_positive": p.positive, "C_negative": p.negative, "gamma": kernel.gamma, "context": context}
            for kernel, context, p in product(grid.kernels, grid.contexts, grid.prices)
        ]
        self.cv_results_ = results_of(points, scores)
        mean, of_average = scores.mean(axis=1), averages.mean(axis=1)
        if self.combine == "average":
            own = np.arange(len(points)) // n_points == int(np.argmax(of_average))
            best = int(np.argmax(np.where(own, mean, -np.inf)))
        else:
            best = int(np.argmax(mean))
        kernel, (context, price) = best // n_points, divmod(best % n_points, len(grid.prices))
        self.best_score_ = float(of_average[kernel] if self.combine == "average" else mean[best])
        self.best_params_ = points[best]
        for name, value in points[best].items():
            setattr(self, f"{name}_", value)
        return Choice(kernel, context, price)
