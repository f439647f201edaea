"""Clusters by division: the one whose division gains the most margin is divided next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from wellsvm._threads import run
from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm.engine.alignment import climb_alignment
from wellsvm.estimators._callbacks import Task
from wellsvm.estimators._two_class import Settings
from wellsvm.estimators._two_clusters import TwoClusters, fit_two_clusters, halves
from wellsvm.geometry import GramGeometry, LinearGeometry
from wellsvm.labels.clusters import ClusterLabels

__all__ = ["Divider", "Division", "Tree", "centred"]

AnyGeometry: TypeAlias = LinearGeometry | GramGeometry

# Linear rows that the start is found on; more change nothing but its time.
SAMPLE = 10_000


def centred(X: Matrix, bias: float) -> tuple[LinearGeometry, FloatArray | None]:
    """Linear geometry of X: dense rows less their mean, which is returned; sparse ones as they are."""
    if sparse.issparse(X):
        return LinearGeometry(X, bias), None
    with np.errstate(over="ignore", invalid="ignore"):  # the geometry refuses what overflows, and names the row
        mean = X.mean(axis=0, dtype=np.float64)
        return LinearGeometry(X - mean.astype(X.dtype), bias), mean


@dataclass(frozen=True)
class Division:
    """A cluster divided in two: its rows, the result, and the mean taken off them (None if none was)."""

    rows: IntArray
    fit: TwoClusters
    mean: FloatArray | None

    @property
    def sign(self) -> int:
        """Makes f positive on the smaller half; of equal halves, on the one without the first row."""
        n_positive, n = int(np.count_nonzero(self.fit.y > 0)), self.fit.y.size
        return -1 if 2 * n_positive > n or (2 * n_positive == n and self.fit.y[0] > 0) else 1

    def halves(self) -> tuple[IntArray, IntArray]:
        """Rows where f is negative, and where it is positive, after `sign`."""
        positive = self.sign * self.fit.y > 0
        return self.rows[~positive], self.rows[positive]


class Tree(NamedTuple):
    """Divisions, and where they lead: row k of ``children`` holds what follows where the value of division k is
    negative, and positive: another division, or ``-1 - cluster``."""

    divisions: list[Division]
    children: IntArray

    @staticmethod
    def margins(children: IntArray, values: FloatArray) -> FloatArray:
        """For each cluster the least of the margins on the way to it: positive for a row's own cluster only."""
        margins = np.empty((values.shape[0], values.shape[1] + 1))

        def descend(node: int, least: FloatArray) -> None:
            for side, sign in enumerate((-1, 1)):
                child, margin = children[node, side], np.minimum(least, sign * values[:, node])
                if child < 0:
                    margins[:, -1 - child] = margin
                else:
                    descend(child, margin)

        descend(0, np.full(values.shape[0], np.inf))
        return margins


class Leaf(NamedTuple):
    """A cluster: its rows, its division if it can be divided, and its place in the tree."""

    rows: IntArray
    division: Division | None
    place: tuple[int, int]

    @property
    def gain(self) -> float:
        """What a division is worth."""
        return -np.inf if self.division is None else self.division.fit.gain


@dataclass(frozen=True)
class Divider:
    """Divides clusters of the rows of X; ``whole`` is the geometry of all of them, less ``mean``."""

    X: Matrix
    whole: AnyGeometry
    mean: FloatArray | None
    balance: float
    C: float
    n_init: int
    settings: Settings
    seed: int
    task: Task

    def until(self, n_clusters: int, n_jobs: int | None) -> tuple[Tree, IntArray]:
        """Divide until there are ``n_clusters``: the divisions made, and the cluster of every row, largest first."""
        every = np.arange(self.X.shape[0])
        leaves = [Leaf(every, self._divide(every, 0) if n_clusters > 1 else None, (0, 0))]
        made: list[Division] = []
        children = np.zeros((max(1, n_clusters - 1), 2), dtype=np.int64)
        while len(made) < n_clusters - 1:
            _, division, place = leaves.pop(max(range(len(leaves)), key=lambda k: leaves[k].gain))
            assert division is not None  # there are as many rows as clusters: some cluster can be divided
            node, parts = len(made), division.halves()
            made.append(division)
            children[place] = node  # of the first one it is overwritten below
            tasks = [partial(self._divide, rows, 2 * node + 1 + side) for side, rows in enumerate(parts)]
            further = [None, None] if len(made) == n_clusters - 1 else run(tasks, n_jobs)
            leaves += [Leaf(rows, next_, (node, side)) for side, (rows, next_) in enumerate(zip(parts, further))]
        labels = np.empty(self.X.shape[0], dtype=np.intp)
        for k, leaf in enumerate(sorted(leaves, key=lambda leaf: (-leaf.rows.size, leaf.rows[0]))):
            labels[leaf.rows], children[leaf.place] = k, -1 - k
        return Tree(made, children), labels

    def _divide(self, rows: IntArray, number: int) -> Division | None:
        """The cluster ``rows`` in two; its number, with the seed, fixes every random choice."""
        if rows.size < 2:
            return None
        (geometry, mean), rng = self._part(rows), np.random.default_rng([self.seed, number])
        first = self._start_of_linear_rows(geometry, rows, rng)
        labels = ClusterLabels.of_share(rows.size, self.balance)
        with self.task.part(number, f"{rows.size} rows in two", max_iter=self.settings.max_iter) as part:
            fit = fit_two_clusters(
                geometry, labels, self.C, self.settings, self.n_init, rng,
                first=first, precision=self.X.dtype.char, task=part,
            )  # fmt: skip
        return Division(rows, fit, mean)

    def _part(self, rows: IntArray) -> tuple[AnyGeometry, FloatArray | None]:
        """The geometry of some rows, and the mean that was taken off them."""
        if rows.size == self.X.shape[0]:
            return self.whole, self.mean
        if isinstance(self.whole, GramGeometry):
            return self.whole.part(rows), None
        return centred(self.X[rows], self.whole.bias)

    def _start_of_linear_rows(
        self, geometry: AnyGeometry, rows: IntArray, rng: np.random.Generator
    ) -> LabelArray | None:
        """First labels of rows that are many or not centred: halves aligned on some of them, carried over to all.

        None where `fit_two_clusters` may look for itself.
        """
        if isinstance(geometry, GramGeometry) or (rows.size <= SAMPLE and not sparse.issparse(self.X)):
            return None
        if rows.size <= SAMPLE:
            return climb_alignment(geometry, halves(rows.size), self.n_init, rng)
        part, _ = centred(self.X[np.sort(rng.choice(rows, SAMPLE, replace=False))], geometry.bias)
        y = climb_alignment(part, halves(SAMPLE), self.n_init, rng)
        direction = part.weights(y.astype(np.float64)[:, None])
        return halves(rows.size).linear_oracle(geometry.project(direction)[:, 0])
