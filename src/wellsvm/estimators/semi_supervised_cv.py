"""SemiSupervisedSVCCV: C_unlabeled, width, balance and neighbors chosen by cross-validation over the labeled rows."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import cast

import numpy as np
from sklearn.metrics import get_scorer

from wellsvm._arguments import flag, number, price, seed_of, sequence, threads, whole_number
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.engine.functions import Functions
from wellsvm.engine.recipe import Fit, Task
from wellsvm.engine.shares import Shares
from wellsvm.estimators.base import Silent, fitting, make_kernel
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.fold_search import FoldSearch, TrialData, leaves_out_neighbors
from wellsvm.estimators.held_out_choice import (
    choose,
    choose_by_labels,
    errors_to_beat,
    few_label_folds,
    weights_by_labels,
)
from wellsvm.estimators.probabilities import ProbabilityMixin
from wellsvm.estimators.semi_supervised_base import KnownLabels, SemiSupervisedBase
from wellsvm.estimators.verbose_outcome import tell_outcome
from wellsvm.losses import Losses
from wellsvm.model_selection import SemiSupervisedSplit
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.coordinates import Coordinates
from wellsvm.rows.kernels import Kernel

__all__ = ["SemiSupervisedSVCCV"]

# The paper's grid (section 5.1).
PAPER_GRID = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)


class SemiSupervisedSVCCV(ProbabilityMixin, SemiSupervisedBase):
    """SemiSupervisedSVC with C_unlabeled, the kernel width and neighbors chosen by cross-validation.

    Only the labeled rows are split into folds; every unlabeled row is part of every training set. The supervised SVM
    (``C_unlabeled=0``) is always a candidate. Another candidate replaces it only if its score is better by more than
    two standard errors, so unlabeled rows are used only if they help. Any improvement is enough if the rows use at
    least four dimensions for every label (with more classes, for every label of an average pair), as texts do.

    With at most 50 labels, fewer candidates are tried; see the Notes.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a labeled row.
    Cs_unlabeled : sequence of float or None, default=None
        Values to try besides 0. None tries the paper's grid: 0.001, 0.005, 0.01, 0.05, 0.1, 0.5 and 1. With at most 50
        labels, it tries only 0.1, 0.5 and 1, unless the search is "local".
    gammas : "auto", sequence of float or None, default="auto"
        Values of ``gamma`` to try, for "rbf", "poly" and "sigmoid". For "rbf", "auto" tries ``gamma`` times 0.25, 1, 4
        and 16, with at most 50 labels only 1 and 4; for other kernels, it tries only ``gamma``, as None does.
    neighbors : "auto", int, None or sequence of them, default="auto"
        Values to try for ``neighbors`` of :class:`SemiSupervisedSVC`. "auto" tries None and, with at most 2500 rows and
        no ``cache_size``, 6; 6 is left out, with a warning, if features are too large for it. If there are at most 50
        labels and ``gammas="auto"``, None is then tried with ``gamma`` itself only.
    balances : sequence or None, default=None
        Values to try for ``balance``; None tries only ``balance``.
    cv : int, splitter or iterable, default=5
        Folds over the labeled rows; see :class:`wellsvm.model_selection.SemiSupervisedSplit`. With ``scoring=None``,
        the number of folds is kept even if a class has fewer labels: some folds then hold out none of them, and the
        only label of a class is never held out.
    scoring : str, callable or None, default=None
        Score to maximize, as in scikit-learn. None uses one minus half the ramp loss ``min(2, max(0, 1 - margin))``:
        an accuracy in which a row inside the margin counts in part. It is also defined for more than two classes.
    kernel, gamma, degree, coef0, loss, fit_intercept, balance, unlabeled, class_weight, init, oracle, refine, tol, \
max_iter, random_state, n_jobs, verbose, cache_size, min_violation, min_decrease, \
stopping, weight_update, search, intercept_scaling, probability
        As in :class:`SemiSupervisedSVC`; ``n_jobs`` threads share the folds. ``search="auto"`` is "annealed" for more
        than two classes. For two classes, it is "smooth" with a kernel other than "linear" or with at most 2500 rows,
        and otherwise "local", because the grid already raises the penalty step by step. There is no ``safe``, because 0
        is among the candidates.

    Attributes
    ----------
    C_unlabeled_, gamma_, neighbors_ : float, float and int or None
        The values chosen.
    Cs_unlabeled_ : array
        All values tried, 0 first.
    candidates_ : list of dict
        The combinations of "gamma", "neighbors" and "balance" that were tried.
    best_candidate_ : int
        Index of the chosen candidate.
    gammas_ : array of shape (n_candidates,)
        The gamma of each candidate.
    scores_ : array of shape (n_candidates, n_Cs, n_folds)
        Score of every candidate on every fold. With repeated folds (see the Notes), ``n_folds`` is twice ``cv``.

    Notes
    -----
    All other attributes are those of :class:`SemiSupervisedSVC` and describe the fit on all rows. Only in
    ``transduction_`` do unlabeled rows have the classes that ``predict`` gives them, even if their shares differ from
    ``balance_``.

    Along the grid, each fit starts from the previous one. With the "local" search, the final fit follows the same path
    up to the chosen value.

    With at most 50 labels of two classes and the "smooth" search, and if unlabeled rows are used, f is the mean of the
    functions of the folds, which is more accurate than the function fitted on all rows. This needs five folds or more.
    Its intercept is adjusted so that a given balance is kept, and ``balance_found_`` is within 0.1 of an estimated one,
    as far as rows with equal values of f can stay together.

    If also ``cv`` is a number and ``scoring`` is None, the folds are drawn twice, and values of f are divided by their
    root mean square before candidates are compared, because larger values alone can lower the loss. The best candidate
    must then also improve the undivided score as described above, and must not get one more held-out label wrong. The
    mean is then over all candidates with the chosen ``gamma``, weighted by their losses, not over the best one alone.

    Examples
    --------
    >>> from wellsvm import SemiSupervisedSVCCV
    >>> from wellsvm.datasets import load_semi_supervised
    >>> wine = load_semi_supervised("wine", n_labeled=30)
    >>> X = (wine.X - wine.X.mean(axis=0)) / wine.X.std(axis=0)
    >>> model = SemiSupervisedSVCCV(Cs_unlabeled=[0.01, 0.1], random_state=0).fit(X, wine.y_partial)
    >>> model.scores_.shape
    (2, 3, 5)
    """

    def __init__(
        self,
        C=2.0,
        Cs_unlabeled=None,
        gammas="auto",
        cv=5,
        scoring=None,
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
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
        search="auto",
        intercept_scaling=1.5,
        probability=False,
        neighbors="auto",
        balances=None,
    ):
        self.C = C
        self.Cs_unlabeled = Cs_unlabeled
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cache_size = cache_size
        self.min_violation = min_violation
        self.min_decrease = min_decrease
        self.stopping = stopping
        self.weight_update = weight_update
        self.search = search
        self.intercept_scaling = intercept_scaling
        self.probability = probability
        self.neighbors = neighbors
        self.balances = balances

    def fit(self, X, y, sample_weight=None):
        """Choose C_unlabeled and the rest, then fit on all rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Labels; unlabeled rows are marked as described under ``unlabeled``.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss, in training only.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, y, sample_weight)

    @with_callbacks
    def _fit(self, X, y, sample_weight):
        self._options()  # refuses what it can before X is looked at
        n_jobs, scorer = threads(self.n_jobs), None if self.scoring is None else get_scorer(self.scoring)
        self._grid()
        X, partial = self._validate(X, y)
        few = np.count_nonzero(partial.labeled) <= Options.few_labels
        search_for_labels = self._search_for(X, len(partial.classes))
        grid, trials = self._grid(few and search_for_labels != "local"), self._trials(search_for_labels, partial)
        matrices = self._matrices(X, few, float(self._prices(X, partial, sample_weight, grid[-1]).max()))
        data = TrialData(
            X, partial, sample_weight, grid, self._loss(X), trials[0]._options(), seed_of(self.random_state)
        )
        # Functions of folds are averaged where that was measured: with few labels and smooth searches.
        averages = bool(few and not partial.labeled.all() and search_for_labels == "smooth")
        often = averages and isinstance(self.cv, Integral) and self.scoring is None
        folds = self._folds(X, partial, often)
        averages = averages and len(folds) >= Options.averaged_folds
        progress = self._progress(X, y, parts=len(matrices) * len(trials) * len(folds) + 1)
        search = FoldSearch(trials, data, matrices, folds, scorer, n_jobs, progress, averages)
        self.candidates_ = [
            {"gamma": kernel.gamma, "neighbors": neighbors, "balance": trial.balance}
            for kernel, neighbors in matrices
            for trial in trials
        ]
        errors = errors_to_beat(search.rows(0)[0], partial, data.seed)
        self.scores_, self.Cs_unlabeled_ = search.scores(), grid
        self.gammas_ = np.array([candidate["gamma"] for candidate in self.candidates_])
        plain = np.array([candidate["neighbors"] is None for candidate in self.candidates_])
        if averages and often:
            evidence = search.evidence_of_labels()
            best = choose_by_labels(evidence, plain, errors)
            weights = weights_by_labels(evidence, best, self.gammas_ == self.gammas_[best[0]])
        else:
            best = choose(self.scores_, plain, errors)
            weights = np.zeros(self.scores_.shape[:2])
            weights[best] = 1.0
        self.best_candidate_, best_C = best
        self.C_unlabeled_ = float(grid[best_C])
        self.used_unlabeled_ = best_C > 0 or self.candidates_[best[0]]["neighbors"] is not None
        mean = search.mean_function(weights) if averages and self.used_unlabeled_ else None
        self._fit_on_all(search, best_C, mean)
        progress.end(fitted=True)
        if data.options.verbose:
            tell_outcome(self, X, partial.labeled)
        return self

    def _fit_on_all(self, search: FoldSearch, best_C: int, mean: Functions | None) -> None:
        """Fit the chosen candidate on all rows, and store it; the ``mean`` of functions of folds takes its place."""
        trial, kernel, self.neighbors_ = search.candidate(self.best_candidate_)
        data, prices = search.data, search.prices
        partial, loss, seed, options = data.partial, data.loss, data.seed, data.options
        self.gamma_, n_problems = float(kernel.gamma), len(self._titles(partial.classes))
        rows, space = search.rows(self.best_candidate_)
        if n_problems == 1:  # one problem leaves the threads to the passes over its rows
            rows = rows.threaded(search.n_jobs)
        shares = trial._shares(rows, partial, loss, prices[0], options)
        # Searches that raise the penalty on their own need not come along the grid.
        way = prices[: best_C + 1] if trial.search == "local" else [prices[best_C]]
        accuracies, n_fits = [search.roughly] * (len(way) - 1) + [options], len(way) * n_problems
        title = "fit on all rows"
        with search.progress.part(search.n_searched, title, parts=n_fits, max_iter=options.max_iter) as part:
            *_, fits = trial._path(rows, partial, shares, loss, way, accuracies, seed, space, search.n_jobs, part)
        label_sets = trial._label_sets(partial, shares and shares.shares)
        functions = Functions.of(rows, [fit.solution for fit in fits])
        if mean is not None:
            slack = Options.share_slack if trial._estimates_shares() else 0.0  # a given balance is kept
            functions = mean.near_balance(label_sets, slack)
        self._store(data.X, kernel, rows, partial, fits, options, functions)
        self._store_shares(partial, shares, label_sets)
        if flag("probability", self.probability):
            self._store_probabilities(rows, partial, loss, prices[best_C], seed, options)

    def _path(
        self,
        rows: Rows,
        partial: PartialLabels,
        shares: Shares | None,
        loss: str,
        prices: list[FloatArray],
        accuracies: list[Options],
        seed: int,
        space: Coordinates | None,
        n_jobs: int | None,
        progress: Silent,
    ) -> Iterator[list[Fit]]:
        """Fit all two-class problems for each vector of prices in turn, every fit starting from the one before."""
        label_sets = self._label_sets(partial, shares and shares.shares)
        inits, titles = self._inits(partial, label_sets), self._titles(partial.classes)
        rngs = [np.random.default_rng([seed, k]) for k in range(len(titles))]
        free, before = ~partial.labeled, cast(list[Fit | None], [None] * len(titles))
        for i, (C, options) in enumerate(zip(prices, accuracies)):
            tasks = [
                Task(rows, labels, Losses.of(loss, C), KnownLabels(init, before=fit), free, title, None, space)
                for labels, init, fit, title in zip(label_sets, inits, before, titles)
            ]
            together = self._searches_together(label_sets)
            fits = self._fit_tasks(tasks, options, rngs, n_jobs, progress, i * len(titles), together)
            yield fits
            before = [*fits]

    def _folds(self, X: Matrix, partial: PartialLabels, often: bool = False) -> list[tuple[IntArray, IntArray]]:
        """Rows to train and to test on. A given scoring may need every class in every fold; our own does not. Few
        labels are dealt to folds several times: which are held out together is chance."""
        splitter, folds = SemiSupervisedSplit(self.cv, unlabeled=-1), []
        if isinstance(self.cv, Integral) and self.scoring is None:
            folds = few_label_folds(partial.codes, int(self.cv))
            if often and len(folds) >= Options.averaged_folds:
                for again in range(1, Options.few_label_partitions):
                    folds += few_label_folds(partial.codes, int(self.cv), Options.evidence_seed + again)
        folds = folds or list(splitter.split(X, partial.codes))
        if not folds:
            raise ValueError(f"cv={self.cv!r} gives no folds; use a number of folds of at least 2, or a splitter")
        return folds

    def _search_for(self, X: Matrix, n_classes: int) -> str:
        """The search asked for; "auto" is the smooth one for two classes, under a kernel or where rows are few, the
        annealed one for more classes, and else local: the way along the grid is a search with rising prices already."""
        if self.search != "auto":
            return self._search()
        if n_classes > 2:
            return "annealed"
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        few = X.shape[0] <= Options.most_rows_for_neighbors
        return "smooth" if flag("fit_intercept", self.fit_intercept) and (few or not linear) else "local"

    def _grid(self, few: bool = False) -> FloatArray:
        """Prices to try, 0 first. A local search needs the lower ones on its way; few labels cannot tell them apart."""
        usual = Options.few_label_prices if few else PAPER_GRID
        given = sequence("Cs_unlabeled", usual if self.Cs_unlabeled is None else self.Cs_unlabeled)
        return np.unique([0.0, *(price("Cs_unlabeled", C, open_low=False) for C in given)])

    def _matrices(self, X: Matrix, few: bool, C: float) -> list[tuple[Kernel, int | None]]:
        """Kernels, and neighbors to mix them with, those without first. Few labels choose among few: the width is
        theirs to choose where neighbors are mixed in, and the plain kernel is there to be beaten."""
        kernels, numbers = self._kernels(X, few), self._neighbor_grid(X, C)
        left_to_us = all(isinstance(given, str) for given in (self.gammas, self.neighbors))
        plain = kernels[:1] if few and left_to_us and len(numbers) > 1 else kernels
        return [(kernel, n) for n in numbers for kernel in (plain if n is None else kernels)]

    def _kernels(self, X: Matrix, few: bool) -> list[Kernel]:
        """One kernel per width to try."""
        kernel, gammas = make_kernel(self, X), self.gammas
        if isinstance(gammas, str) and gammas == "auto":
            several = Options.few_gamma_factors if few else Options.gamma_factors
            factors = several if kernel.name == "rbf" else (1.0,)
            return [replace(kernel, gamma=factor * kernel.gamma) for factor in factors]
        if gammas is None:
            return [kernel]
        if kernel.name not in ("rbf", "poly", "sigmoid"):
            raise ValueError(f"gammas has no meaning for kernel={self.kernel!r}; use kernel='rbf', or gammas=None")
        gammas = [number("gammas", gamma, low=0.0, open_low=True) for gamma in sequence("gammas", gammas)]
        return [replace(kernel, gamma=gamma) for gamma in gammas]

    def _neighbor_grid(self, X: Matrix, C: float) -> list[int | None]:
        """Numbers of neighbors to try, None first: it is what the others must beat. C is the largest price."""
        if isinstance(self.neighbors, str) and self.neighbors == "auto":
            few = (
                X.shape[0] <= Options.most_rows_for_neighbors and self.cache_size is None and not isinstance(X, Blocks)
            )
            return [None, Options.usual_neighbors] if few and not leaves_out_neighbors(self, X, C) else [None]
        given = [self.neighbors] if self.neighbors is None else sequence("neighbors", self.neighbors)
        numbers = [n if n is None else whole_number("neighbors", n, low=1) for n in given]
        return sorted(set(numbers), key=lambda n: 0 if n is None else n)

    def _trials(self, search: str, partial: PartialLabels) -> list[SemiSupervisedSVCCV]:
        """This estimator with each balance to try, which labels of these rows can have, and the search to take."""
        balances = [self.balance] if self.balances is None else sequence("balances", self.balances)
        trials = [copy(self) for _ in balances]
        for trial, balance in zip(trials, balances):
            trial.balance, trial.search = balance, search
            try:
                label_sets = trial._label_sets(partial)
            except (ValueError, TypeError) as error:
                where = "" if self.balances is None else "balances has an entry that cannot be used: "
                raise type(error)(f"{where}{error}") from error
            trial._inits(partial, label_sets)
        return trials
