"""The share of two classes at which a labeling runs between the rows, and not through them.

Few labels tell a share roughly, and mostly too near to one half. But at each share the search labels all rows, and the
rows say how well that share suits them: a labeling that takes a piece of one group of rows for the other class parts
many rows from their neighbors. So shares q around the estimate p are tried, and their mean is taken with the weights

    normal density of q around p, with p's standard error   x   (neighbors parted / what a cut of share q parts)^-10

A cut parts fewer rows the further out it lies: of normal rows, as many as the density at their quantile. The labels are
those of the search at each share, and not of one function at several thresholds: its direction follows the share, and
thresholds alone gain a third of what this gains (docs/choices_shares.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtri, softmax

from wellsvm._typing import FloatArray
from wellsvm.engine.neighborhood import Neighborhood
from wellsvm.engine.search import guess_of_known, roughly, search, search_from
from wellsvm.engine.task import Guess, Task
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.gram import GramRows
from wellsvm.rows.linear import side_by_side
from wellsvm.solver.master import Solution
from wellsvm.threads import run

__all__ = ["shares_in_valley"]


def shares_in_valley(
    near: Neighborhood, shares: FloatArray, error: float, loss: str, rng: np.random.Generator, options: Options
) -> FloatArray:
    """Mean of shares of two classes around the estimated ones, each weighed by how well its labeling suits the rows.

    Parameters
    ----------
    near : Neighborhood
        Labeled rows, a sample of the unlabeled ones, their prices and their graph.
    shares : array of shape (2,)
        The estimate, ...
    error : float
        ... and its standard error.
    loss : str
        Loss of the SVMs.
    rng : Generator
        Of the orders of coordinate descent.
    options : Options
        Constants. They must ask for an annealed search, which is the one that this was measured with.
    """
    labels, step = _Labels(near, loss, rng, options), min(options.valley_step, 0.5 * error)
    steps = np.arange(-options.valley_steps, options.valley_steps + 1)
    # no share is brought nearer to 0 than half its estimate
    tried = np.clip(shares[1] + step * steps, 0.5 * shares[1], 1.0 - 0.5 * shares[0])
    of_a_cut = np.exp(-0.5 * ndtri(np.clip(tried, options.trace, 1.0 - options.trace)) ** 2)  # up to a factor
    distances = 0.5 * ((tried - shares[1]) / error) ** 2

    def log_weight(k: int, parted: float) -> float:
        return float(-options.valley_power * np.log(parted / of_a_cut[k]) - distances[k])

    share = float(softmax(labels.log_weights(tried, log_weight)) @ tried)
    return np.array([1.0 - share, share])


class _Labels:
    """What the search comes to at given shares."""

    def __init__(self, near: Neighborhood, loss: str, rng: np.random.Generator, options: Options) -> None:
        self.rows, self.n_jobs = side_by_side(near.rows)
        self.follows = isinstance(near.rows, GramRows)
        self.seed = int(rng.integers(2**32))  # one for all shares, in whatever order the names of the classes put them
        self.options = _counting(options) if self.follows else roughly(options)
        self.free, self.losses = near.codes < 0, Losses.of(loss, near.C)
        self.known = np.where(self.free, 0, 2 * near.codes - 1).astype(np.int8)
        self.one, self.other = near.pairs()

    def log_weights(self, shares: FloatArray, log_weight: Callable[[int, float], float]) -> FloatArray:
        """What ``log_weight`` gives for the number of every share, and the neighbors that its labels part.

        ``shares`` rise. Under a kernel the one in the middle is searched from the supervised SVM, every other from the
        one before it: their labels differ in few rows, and so do their SVMs, which cost most there. Once a share weighs
        little those beyond it are left out. Linear rows, where SVMs cost little, are searched anew at each share
        (docs/performance.md).
        """
        guess = guess_of_known(self.rows, self.known, self.losses, self._rng(), self.options)
        if not self.follows:
            parted = run([partial(self._parted_at, share, guess) for share in shares], self.n_jobs)
            return np.array([log_weight(k, part) for k, part in enumerate(parted)])
        weights, middle = np.full(shares.size, -np.inf), shares.size // 2
        task = self._task(shares[middle])
        found = search(task, guess, self.options, self._rng())
        weights[middle] = log_weight(middle, self._parted(task, found))
        self._follow(found, shares, weights, log_weight)
        return weights

    def _parted_at(self, share: float, guess: Guess) -> float:
        """What is parted by the labels of a search at a share, from the supervised SVM."""
        task = self._task(share)
        return self._parted(task, search(task, guess, self.options, self._rng()))

    def _follow(
        self, found: Solution, shares: FloatArray, weights: FloatArray, log_weight: Callable[[int, float], float]
    ) -> None:
        """From what was ``found`` at the share in the middle to those on both sides, one after the other."""
        middle, options = shares.size // 2, _following(self.options)
        for way in (range(middle + 1, shares.size), range(middle - 1, -1, -1)):
            kept, losses, last, rng = found.state.saved(), found.state.losses, found, self._rng()
            for k in way:
                task = self._task(shares[k])
                last = search_from(last, task, options, rng)
                weights[k] = log_weight(k, self._parted(task, last))
                if weights[k] < weights[min(k, middle) : max(k, middle) + 1].max() - self.options.valley_walk:
                    break
            found.state.restore(kept)
            found.state.losses = losses

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def _task(self, share: float) -> Task:
        labels = BalancedLabels(self.known, round(share * np.count_nonzero(self.free)))
        return Task(self.rows, labels, self.losses, rising=self.free)

    def _parted(self, task: Task, found: Solution) -> float:
        """Share of the pairs of neighbors with different labels, and a trace: no logarithm of nothing."""
        y = task.labels.linear_oracle(found.scores())
        n_parted = np.count_nonzero(y.take(self.one) != y.take(self.other))
        return n_parted / self.one.size + self.options.valley_floor


def _counting(options: Options) -> Options:
    """How to search where labels are counted only: SVMs need not be solved any better than on the way to them, and one
    round at each price does (docs/performance.md)."""
    tol = options.search_rough * options.judge_tol * options.tol
    return options.but(tol=tol, search_rough=1.0, rounds_per_price=1, search_rounds=1)


def _following(options: Options) -> Options:
    """The same from one share to the next: prices rise from the last one on the way only."""
    return options.but(search_prices=options.search_prices[-1:])
