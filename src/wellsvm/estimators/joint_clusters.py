"""More than two clusters at once: functions of all clusters, and all rows relabeled by them together.

Starting from clusters around means, one SVM per cluster is trained against all other rows, every row goes to the
cluster of the largest value, and this repeats until few rows move. Clusters may have any size. While the price of the
losses is low, the functions follow the bulk of their cluster and many rows move; the price then rises step by step to
C, as in deterministic annealing. On the way both sides of an SVM weigh the same, else small clusters would vanish. At C
a side weighs the root of its number of rows, which leaves large clusters their outer rows. Intercepts are hardly
regularized: the mean of all rows lies inside a cluster that is much larger than the others.

There are two starts: k-means, and means that are joined to clusters of any size. If the functions of the second start
leave less of the loss, relative to the spread of the clusters, both are annealed at the lowest price, and the second
replaces the first if it leaves clearly less there. Margins alone would favor a few outlying rows.

Linear functions cannot separate every cluster from all others: of three in a row, the middle one fails. If the SVMs
break up the starting clusters, so that the final ones lie much closer together, the functions of `wellsvm.solver.pairs`
are used: each of these need only exceed the others on its own cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple, TypeAlias

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.report import Record, Status, show
from wellsvm.engine.starts import joined_means, means_of_clusters
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.solver import Solution, fit_svm
from wellsvm.solver.pairs import PairSolution, fit_pairs
from wellsvm.threads import run

__all__ = ["Joint", "JointClusters"]


class JointClusters(NamedTuple):
    """What the relabeling ended with.

    Attributes
    ----------
    labels : int array of shape (n_rows,)
        The cluster of every row.
    weights, intercepts : arrays of shape (n_functions, n_features) and (n_functions,)
        The functions: one per cluster; of two clusters there is one, positive on cluster 1.
    offsets : array of shape (n_clusters,)
        What was added to the intercepts to keep the sizes asked for.
    objective, gap : arrays of shape (n_functions,)
        Bounds of the objective of every function.
    n_rounds : int
        Relabelings.
    status : Status
        Why it ended.
    seconds : float
        Time it took.
    """

    labels: IntArray
    weights: FloatArray
    intercepts: FloatArray
    offsets: FloatArray
    objective: FloatArray
    gap: FloatArray
    n_rounds: int
    status: Status
    seconds: float


class Values(NamedTuple):
    """Values of the functions, the functions themselves, the loss without any, and what they were trained for."""

    values: FloatArray
    solution: list[Solution] | PairSolution
    without: float
    labels: IntArray
    price: float
    tol: float


Solve: TypeAlias = Callable[[IntArray, float, float, Values | None], Values]


class Joint:
    """Relabels ``rows`` in ``n_clusters`` clusters.

    Parameters
    ----------
    rows : LinearRows
        The rows, or their coordinates under a kernel, without a constant feature.
    assign : callable
        From values of shape (n_rows, n_clusters) to the cluster of every row, and offsets of the values that do it.
    """

    def __init__(
        self,
        rows: LinearRows,
        n_clusters: int,
        C: float,
        loss: str,
        assign: Callable[[FloatArray], tuple[IntArray, FloatArray]],
        options: Options,
        seed: int,
        n_jobs: int | None,
        callback: Callable[[Record], bool | None] | None = None,
    ) -> None:
        self.rows, self.n_clusters, self.C, self.loss, self.assign = rows, n_clusters, C, loss, assign
        squared = max(float(np.mean(rows.squared_norms)), np.finfo(np.float64).tiny)
        self.with_bias = rows.with_bias(options.joint_bias * np.sqrt(squared))
        self.options, self.seed, self.n_jobs = options, seed, n_jobs
        self.callback, self.stopped = callback, False
        self.history: list[Record] = []
        self.exponent = options.size_exponent
        self.ways: tuple[tuple[Solve, float], ...] = (
            (self._against_the_rest, options.size_exponent),
            (self._over_pairs, options.size_exponent),
            (self._against_the_rest, 1.0),
        )

    def start(self, n_draws: int, seen: LinearRows) -> IntArray:
        """The clusters of k-means, the best of some draws, on the rows as ``seen``."""
        rng = np.random.default_rng([self.seed, 0])
        return self.assign(means_of_clusters(seen, self.n_clusters, n_draws, rng, self.options))[0]

    def joined_start(self, seen: LinearRows) -> IntArray:
        """Clusters joined from more and smaller ones of k-means, which need not be of similar sizes."""
        times = self.options.joined_means
        rng = np.random.default_rng([self.seed, times])
        return self.assign(joined_means(seen, self.n_clusters, times, rng, self.options))[0]

    def relabel(self, starts: Sequence[IntArray]) -> JointClusters:
        """Anneal roughly from the best start on, and solve well for the clusters found.

        Each cluster is set against the rest or, where that tears the start up, against each other one. Where this does
        too, sides weigh the same to the end: of few rows in many dimensions else one cluster takes all.
        """
        options = self.options
        self.began = perf_counter()
        found = []
        for solve, exponent in self.ways:
            self.exponent = exponent
            start, labels, last = self._annealed(starts, solve)
            kept = self.spread(labels) / max(self.spread(start), np.finfo(np.float64).tiny)
            found.append((kept, exponent, solve, labels, last))
            if kept >= options.kept_spread or self.stopped:
                break
        _, self.exponent, solve, labels, last = max(found, key=lambda one: one[0])
        return self._settled(labels, last, solve)

    def settle(self, labels: IntArray) -> JointClusters:
        """Relabel from these clusters on, without annealing."""
        self.began = perf_counter()
        return self._settled(labels, None, self._against_the_rest)

    def loss_left(self, labels: IntArray) -> float:
        """The share of the loss without functions that functions of these clusters leave."""
        return self._left(self._against_the_rest(labels, self.C, self.options.joint_rough * self.options.tol, None))

    def carried_over(self, labels: IntArray, rows: LinearRows) -> IntArray:
        """The clusters of other rows by the functions that tell the clusters of these apart."""
        found = self._against_the_rest(labels, self.C, self.options.joint_rough * self.options.tol, None)
        weights = np.stack([svm.coefficients() for svm in found.solution], axis=1)  # type: ignore[union-attr]
        scores = rows.with_bias(self.with_bias.bias).scores(np.ascontiguousarray(weights))
        return self.assign(self._for_every_cluster(scores))[0]

    def _settled(self, labels: IntArray, last: Values | None, solve: Solve) -> JointClusters:
        """Relabel at the price C, and solve well."""
        options, settled = self.options, False
        for _ in range(options.joint_rounds):
            last = solve(labels, self.C, options.tol, last)
            labels, settled = self._moved(labels, last)
            if settled or self.stopped:
                break
        assert last is not None
        status = Status.SETTLED if settled else Status.STOPPED if self.stopped else Status.STILL_MOVING
        _, offsets = self.assign(last.values)
        functions, bounds, seconds = self._functions(last), self._bounds(last), perf_counter() - self.began
        return JointClusters(labels, *functions, offsets, *bounds, len(self.history), status, seconds)

    def _annealed(self, starts: Sequence[IntArray], solve: Solve) -> tuple[IntArray, IntArray, Values]:
        """The start that is best after the lowest price, the clusters that it leads to, and their functions."""
        lowest, *higher = self.options.joint_prices
        found = [(start, *self._anneal(start, None, [lowest], solve)) for start in self._promising(starts, solve)]
        start, labels, last = found[0]
        if len(found) > 1:
            least = self._measure(labels, last, solve)
            for other in filter(self._no_outliers, found[1:]):
                measure = self._measure(*other[1:], solve)
                if measure < self.options.clearly_less * least:
                    (start, labels, last), least = other, measure
        return start, *self._anneal(labels, last, higher, solve)

    def _promising(self, starts: Sequence[IntArray], solve: Solve) -> list[IntArray]:
        """The first start, and those of the others that are better before they are annealed; few others get better."""
        first, *others = starts
        if not others:
            return [first]
        most = self.options.promising * self._measure(first, None, solve)
        return [first, *(other for other in others if self._measure(other, None, solve) < most)]

    def _no_outliers(self, found: tuple[IntArray, IntArray, Values]) -> bool:
        """Whether every cluster has more rows than outliers would be: margins around a few rows are always large."""
        sizes = np.bincount(found[1], minlength=self.n_clusters)
        return bool(sizes.min() > max(1.0, self.options.outliers * sizes.mean()))

    def _measure(self, labels: IntArray, last: Values | None, solve: Solve) -> float:
        """The share of the loss that functions leave over the spread of the clusters: the lower the better."""
        found = solve(labels, self.C, self.options.joint_rough * self.options.tol, last)
        apart = max(self.spread(labels), np.finfo(np.float64).tiny)  # equal rows are not apart at all
        return self._left(found) / apart

    def _left(self, found: Values) -> float:
        return float(self._bounds(found)[0].sum()) / found.without

    def _anneal(
        self, labels: IntArray, found: Values | None, prices: Sequence[float], solve: Solve
    ) -> tuple[IntArray, Values]:
        """Relabel while the price rises."""
        options = self.options
        for share in prices:
            for _ in range(options.joint_rounds):
                found = solve(labels, share * self.C, options.joint_rough * options.tol, found)
                labels, settled = self._moved(labels, found)
                if settled or self.stopped:
                    break
        assert found is not None
        return labels, found

    def _moved(self, labels: IntArray, found: Values) -> tuple[IntArray, bool]:
        """The clusters by the values found, and whether few rows moved to get there."""
        moved, _ = self.assign(found.values)
        upper, gap = (float(bound.sum()) for bound in self._bounds(found))
        seconds = perf_counter() - self.began
        self.history.append(Record(upper, gap, 0.0, self.n_clusters, len(self.history) + 1, seconds))
        if self.options.verbose:
            show(self.history, f"{labels.size} rows in {self.n_clusters} clusters")
        self.stopped = self.stopped or bool(self.callback is not None and self.callback(self.history[-1]))
        n_moved = int(np.count_nonzero(moved != labels))
        return moved, n_moved <= self.options.few_moves * labels.size

    def spread(self, labels: IntArray) -> float:
        """Scatter of the clusters' means as a share of the scatter inside clusters."""
        sizes = np.maximum(np.bincount(labels, minlength=self.n_clusters), 1)
        sums = self.rows.combine((labels[:, None] == np.arange(self.n_clusters)).astype(np.float64))
        mean = sums.sum(axis=1) / labels.size
        between = float(np.sum(sums * sums / sizes) - labels.size * mean @ mean)
        within = float(np.sum(self.rows.squared_norms) - np.sum(sums * sums / sizes))
        return between / max(within, self.options.no_gain * between, np.finfo(np.float64).tiny)

    def _prices(self, price: float, share: FloatArray) -> FloatArray:
        """Prices of rows on sides of an SVM that hold so large a share of the rows beside equal sides."""
        return np.asarray(price * share ** -(1.0 if price < self.C else self.exponent))

    def _against_the_rest(self, labels: IntArray, price: float, tol: float, before: Values | None) -> Values:
        """One SVM per cluster, or one for two clusters, from the dual variables of those before on.

        The SVM of a cluster that no row came to or left is as it was.
        """
        n_rows, told = labels.size, [1] if self.n_clusters == 2 else list(range(self.n_clusters))
        svms: list[Solution] = [] if before is None else before.solution  # type: ignore[assignment]
        solved = before.labels if before is not None and (before.price, before.tol) == (price, tol) else None

        def svm(place: int, k: int) -> Solution:
            inside = labels == k
            if solved is not None and np.array_equal(inside, solved == k):
                return svms[place]
            size = np.where(inside, inside.sum(), n_rows - inside.sum())
            y = np.where(inside, 1, -1).astype(np.int8)
            losses = Losses.of(self.loss, self._prices(price, 2 * size / n_rows))
            rng = np.random.default_rng([self.seed, 1 + len(self.history), k])
            alpha, known = svms[place].alpha if svms else None, BalancedLabels.known(y)
            return fit_svm(self.with_bias, known, losses, y, tol=tol, rng=rng, alpha=alpha, options=self.options)

        found = run([partial(svm, place, k) for place, k in enumerate(told)], self.n_jobs)
        without = sum(svm.state.losses.total(np.zeros(n_rows), None) for svm in found)
        values = self._for_every_cluster(np.stack([svm.scores() for svm in found], axis=1))
        return Values(values, found, without, labels, price, tol)

    def _for_every_cluster(self, values: FloatArray) -> FloatArray:
        """Values for every cluster; two have one function, and what is for one of them is against the other."""
        return np.hstack([-values, values]) if self.n_clusters == 2 else values

    def _over_pairs(self, labels: IntArray, price: float, tol: float, before: Values | None) -> Values:
        """One function per cluster, all at once."""
        rows, sizes = self.with_bias, np.bincount(labels, minlength=self.n_clusters)
        C = self._prices(price, self.n_clusters * sizes[labels] / labels.size)
        U = np.zeros((rows.n_features + 1, self.n_clusters)) if before is None else before.solution.U  # type: ignore
        solution = fit_pairs(rows, labels, C, U, tol, self.options)
        return Values(solution.values, solution, 0.5 * (self.n_clusters - 1) * float(C.sum()), labels, price, tol)

    def _functions(self, found: Values) -> tuple[FloatArray, FloatArray]:
        if isinstance(found.solution, PairSolution):
            return self.with_bias.split_intercept(np.ascontiguousarray(found.solution.U.T))
        return self.with_bias.split_intercept(np.stack([svm.coefficients() for svm in found.solution]))

    @staticmethod
    def _bounds(found: Values) -> tuple[FloatArray, FloatArray]:
        if isinstance(found.solution, PairSolution):
            return found.solution.upper, found.solution.gap
        # rounding can leave a gap of -1e-16
        return np.array([svm.upper for svm in found.solution]), np.array([max(svm.gap, 0.0) for svm in found.solution])
