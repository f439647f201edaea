"""The cross-validation of SemiSupervisedSVCCV: every candidate along the grid of prices, fold by fold.

A candidate is a matrix (a kernel, and neighbors to mix it with) and a trial (a balance to keep). Matrices are large,
so there is one at a time; shares hardly depend on the matrix, so those of the folds are estimated once, on the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial as bind
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray, Matrix
from wellsvm._warnings import callers_level
from wellsvm.engine.along_prices import Found, found_along_prices
from wellsvm.engine.functions import Functions
from wellsvm.engine.recipe import values_of
from wellsvm.engine.report import tell
from wellsvm.engine.safety import label_weights, ramp_losses
from wellsvm.engine.shares import Shares
from wellsvm.estimators.base import Silent
from wellsvm.estimators.held_out_choice import LabelEvidence, for_folds, held_out_score
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows
from wellsvm.rows.coordinates import Coordinates
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.linear import LinearRows
from wellsvm.rows.making import shared_pairs
from wellsvm.rows.neighbors import too_large_for_neighbors
from wellsvm.threads import run

if TYPE_CHECKING:
    from wellsvm.estimators.semi_supervised_cv import SemiSupervisedSVCCV

__all__ = ["FoldSearch", "TrialData", "leaves_out_neighbors"]


class Judged(NamedTuple):
    """What a fold says of a candidate: for every price a score, the values of its test rows that it is of, and the root
    mean square of the unlabeled rows' values."""

    scores: list[float]
    values: list[FloatArray]
    sizes: list[float]


@dataclass(frozen=True)
class TrialData:
    """What every trial is fitted on.

    Attributes
    ----------
    X : matrix of shape (n_rows, n_features)
        Rows, checked.
    partial : PartialLabels
        Their labels.
    sample_weight : array or None
        As in `fit`.
    grid : array
        Values of C_unlabeled, rising from 0.
    loss : str
        The loss.
    options : Options
        How the final fit is solved.
    seed : int
        Of everything that is drawn.
    """

    X: Matrix
    partial: PartialLabels
    sample_weight: Any
    grid: FloatArray
    loss: str
    options: Options
    seed: int


@dataclass
class FoldSearch:
    """Scores of all candidates on all folds.

    Attributes
    ----------
    trials : list of SemiSupervisedSVCCV
        One for each balance to try.
    data : TrialData
        What they are fitted on.
    matrices : list of (Kernel, int or None)
        Kernels, and neighbors to mix them with.
    folds : list of (train, test)
        Labeled rows; unlabeled ones are in every training part.
    scorer : callable or None
        Judges held-out values; None is by their ramp loss.
    n_jobs : int or None
        Threads that share the folds.
    progress : Silent
        Whoever watches.
    averages : bool
        Whether the folds' functions are averaged, for `mean_function`.
    """

    trials: list[SemiSupervisedSVCCV]
    data: TrialData
    matrices: list[tuple[Kernel, int | None]]
    folds: list[tuple[IntArray, IntArray]]
    scorer: Any
    n_jobs: int | None
    progress: Silent
    averages: bool
    _made: tuple[Rows, Coordinates | None] | None = field(default=None, init=False)
    _made_for: int = field(default=-1, init=False)
    _fold_shares: list[Shares | None] = field(default_factory=list, init=False)
    _judged: list[list[Judged]] = field(default_factory=list, init=False)  # by candidate and fold
    _means: list[list[Functions]] = field(default_factory=list, init=False)  # by candidate and price, over the folds

    def __post_init__(self) -> None:
        first, data = self.trials[0], self.data
        self.prices = [first._prices(data.X, data.partial, data.sample_weight, value) for value in data.grid]
        self.roughly = for_folds(data.options)
        self._largest = max(float(C.max()) for C in self.prices)
        cache_size = None if first.cache_size is None else float(first.cache_size)  # checked with the kernels
        kernel, several = self.matrices[0][0], any(k is not self.matrices[0][0] for k, _ in self.matrices)
        self._pairs = shared_pairs(data.X, kernel, self._largest, cache_size) if several else None

    @property
    def n_searched(self) -> int:
        """How often the grid is walked along."""
        return len(self.matrices) * len(self.trials) * len(self.folds)

    def candidate(self, number: int) -> tuple[SemiSupervisedSVCCV, Kernel, int | None]:
        """Trial, kernel and neighbors of a candidate."""
        return self.trials[number % len(self.trials)], *self.matrices[number // len(self.trials)]

    def rows(self, number: int) -> tuple[Rows, Coordinates | None]:
        """The rows of a candidate, and what a smooth search moves in; threads may share them."""
        matrix = number // len(self.trials)
        if self._made is None or matrix != self._made_for:
            self._made = None  # its matrix goes before the next one comes: no more than two at a time
            first, data, (kernel, neighbors) = self.trials[0], self.data, self.matrices[matrix]
            rows = first._rows_of(data.X, kernel, self._largest, None, self._pairs, neighbors)
            space = first._coordinates(rows, data.partial, self.prices[-1], data.seed, data.options)
            self._made, self._made_for = (rows, space), matrix
        return self._made

    def scores(self) -> FloatArray:
        """Of shape (n_candidates, n_prices, n_folds)."""
        return np.stack([self._scores_of(k) for k in range(len(self.matrices) * len(self.trials))])

    def _scores_of(self, number: int) -> FloatArray:
        rows, space = self.rows(number)
        n_folds = len(self.folds)
        if not self._fold_shares:
            each = [bind(self._shares, rows, t, fold) for t in self.trials for fold in range(n_folds)]
            self._fold_shares = run(each, self.n_jobs)
        walks = [bind(self._along_grid, rows, space, number, fold) for fold in range(n_folds)]
        judged, functions = zip(*run(walks, self.n_jobs))
        self._judged.append(list(judged))
        if self.averages:
            self._means.append([Functions.mean(of_folds) for of_folds in zip(*functions)])
        return np.transpose([of_fold.scores for of_fold in judged])

    def evidence_of_labels(self) -> LabelEvidence:
        """What held-out labels of two classes say, after `scores`."""
        codes, tests = self.data.partial.codes, [test for _, test in self.folds]
        times = np.bincount(np.concatenate(tests), minlength=codes.size)
        said = np.zeros((3, len(self._judged), self.data.grid.size, codes.size))
        for number, of_candidate in enumerate(self._judged):
            for test, judged in zip(tests, of_candidate):
                for price, (f, size) in enumerate(zip(judged.values, judged.sizes)):
                    right = (f[:, 0] > 0) == (codes[test] == 1)
                    sized = ramp_losses(f / size, codes[test]) if size > 0 else np.ones(test.size)
                    said[:, number, price, test] += ramp_losses(f, codes[test]), sized, right
        held = times > 0
        return LabelEvidence(*(said[..., held] / times[held] * self._weights(codes[held])))

    def _weights(self, codes: IntArray) -> FloatArray:
        """Weights of labels, by the shares estimated in the folds (see `label_weights`); without them all are 1."""
        shares = [found.shares for found in self._fold_shares if found is not None]
        return label_weights(codes, np.mean(shares, axis=0)) if shares else np.ones(codes.size)

    def _held_out(self, fold: int) -> BoolArray:
        held_out = np.ones(self.data.partial.codes.size, dtype=bool)
        held_out[self.folds[fold][0]] = False
        return held_out

    def _shares(self, rows: Rows, trial: SemiSupervisedSVCCV, fold: int) -> Shares | None:
        data = self.data
        prices, held_out = self.prices[0], self._held_out(fold)
        return trial._shares(rows, data.partial, data.loss, prices, self.roughly, held_out)

    def mean_function(self, weights: FloatArray) -> Functions:
        """The mean over the folds of what candidates of one kernel found, after `scores`; weights of shape
        (n_candidates, n_prices)."""
        return Functions.mean([self._means[k][p] for k, p in zip(*np.nonzero(weights))], weights[weights != 0])

    def _along_grid(
        self, rows: Rows, space: Coordinates | None, number: int, fold: int
    ) -> tuple[Judged, list[Functions]]:
        """What a fold says of every price, and the functions, if they are averaged."""
        data, trial, test = self.data, self.candidate(number)[0], self.folds[fold][1]
        walk = number * len(self.folds) + fold
        with self.progress.part(walk, "fold"):
            of_rows, functions = [], []
            for one in self._walk(rows, space, number, fold):
                of_rows.append(values_of(one))
                if self.averages:
                    functions.append(Functions.of(rows, one))
            values, free = [f[test] for f in of_rows], np.flatnonzero(~data.partial.labeled)
            found = [held_out_score(self.scorer, trial.scoring, data.partial, f, data.X, test) for f in values]
        if data.options.verbose:
            best = int(np.argmax(found))
            tell(f"fold {walk + 1} of {self.n_searched}: score {found[best]:.3f} with C_unlabeled={data.grid[best]:g}")
        sizes = [float(np.linalg.norm(f[free])) / max(1, free.size) ** 0.5 for f in of_rows]
        return Judged(found, values, sizes), functions

    def _walk(self, rows: Rows, space: Coordinates | None, number: int, fold: int) -> Iterator[Found]:
        """What is found at every price. Rows not for training are held out: same rows, price 0."""
        data, trial, held_out = self.data, self.candidate(number)[0], self._held_out(fold)
        shares = self._fold_shares[number % len(self.trials) * len(self.folds) + fold]
        label_sets = trial._label_sets(data.partial, shares and shares.shares, held_out)
        prices = [trial._prices(data.X, data.partial, data.sample_weight, value, held_out) for value in data.grid]
        losses = [Losses.of(data.loss, C) for C in prices]
        together, free = trial._searches_together(label_sets), ~data.partial.labeled
        return found_along_prices(
            rows, label_sets, free, losses, together, space, self.roughly, data.options.tol, data.seed
        )


def leaves_out_neighbors(estimator: Any, X: Matrix, C: float) -> bool:
    """Whether a search without given ``neighbors`` does without them, as X is too large for them at the price C; told.

    Only the linear kernel can go on: it needs no kernel matrix. Others refuse such an X in their own words.
    """
    if not (isinstance(estimator.kernel, str) and estimator.kernel == "linear"):
        return False
    largest = float(LinearRows(X, float(estimator.fit_intercept)).settled().squared_norms.max(initial=0.0))
    if trouble := too_large_for_neighbors(largest, C):
        warnings.warn(
            f"{type(estimator).__name__} does not try neighbors={Options.usual_neighbors}: {trouble}. Scale the "
            "features, for instance with sklearn.preprocessing.StandardScaler, or pass neighbors=None",
            stacklevel=callers_level(),
        )
    return bool(trouble)
