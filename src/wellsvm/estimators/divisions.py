"""Clusters by division: the one whose division gains the most margin is divided next.

A division is section 4.3 of the paper: the recipe on label vectors of two clusters, and the cut of f that makes labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.engine import recipe
from wellsvm.engine.checkpoint import Stages
from wellsvm.engine.recipe import Fit, Opening, Task
from wellsvm.engine.starts import aligned_clusters, best_aligned, best_relabelled
from wellsvm.estimators.base import Silent
from wellsvm.estimators.cuts import choose_cut, deepest_valley
from wellsvm.labels import ClusterLabels, LinkedLabels, Links
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver.master import Solution
from wellsvm.threads import run

__all__ = ["INITS", "Divider", "Division", "Tree"]

INITS = ("best", "climbed", "alignment")


@dataclass(frozen=True)
class Division:
    """A cluster divided in two, by f cut at ``threshold`` into the labels y.

    Attributes
    ----------
    members : int array
        The instances of the cluster.
    gain : float
        The loss that f saves beside f = 0, its own price ``||f||^2 / 2`` deducted: the margin's worth.
    ties_split : bool
        Whether instances of equal f had to be divided.
    """

    members: IntArray
    fit: Fit
    y: LabelArray
    threshold: float
    ties_split: bool
    gain: float

    @property
    def sign(self) -> int:
        """Makes f positive on the smaller half; of equal halves, on the one without the first row."""
        n_positive, n = int(np.count_nonzero(self.y > 0)), self.y.size
        return -1 if 2 * n_positive > n or (2 * n_positive == n and self.y[0] > 0) else 1

    def halves(self) -> tuple[IntArray, IntArray]:
        """Members where f is negative, and where it is positive, after `sign`."""
        positive = self.sign * self.y > 0
        return self.members[~positive], self.members[positive]


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
    """A cluster: its members, its division if it can be divided, and its place in the tree."""

    members: IntArray
    division: Division | None
    place: tuple[int, int]

    @property
    def gain(self) -> float:
        """What a division is worth."""
        return -np.inf if self.division is None else self.division.gain


@dataclass(frozen=True)
class Divider:
    """Divides clusters of ``rows``."""

    rows: LinearRows | GramRows
    balance: float
    C: float
    loss: str
    init: str
    n_init: int
    options: Options
    seed: int
    tie: float
    cut: str
    orient: bool
    progress: Silent
    stages: Stages | None = None
    links: Links | None = None

    def until(self, n_clusters: int, n_jobs: int | None) -> tuple[Tree, IntArray]:
        """Divide until there are ``n_clusters``: the divisions made, and the cluster of every row, largest first."""
        every = np.arange(self.rows.n_instances)
        leaves = [Leaf(every, self._divide(every, 0) if n_clusters > 1 else None, (0, 0))]
        made: list[Division] = []
        children = np.zeros((max(1, n_clusters - 1), 2), dtype=np.int64)
        while len(made) < n_clusters - 1:
            _, division, place = leaves.pop(max(range(len(leaves)), key=lambda k: leaves[k].gain))
            assert division is not None  # there are as many rows as clusters: some cluster can be divided
            node, parts = len(made), division.halves()
            made.append(division)
            children[place] = node  # of the first one it is overwritten below
            tasks = [partial(self._divide, part, 2 * node + 1 + side) for side, part in enumerate(parts)]
            further = [None, None] if len(made) == n_clusters - 1 else run(tasks, n_jobs)
            leaves += [Leaf(part, next_, (node, side)) for side, (part, next_) in enumerate(zip(parts, further))]
        labels = np.empty(self.rows.n_instances, dtype=np.intp)
        for k, leaf in enumerate(sorted(leaves, key=lambda leaf: (-leaf.members.size, leaf.members[0]))):
            labels[leaf.members], children[leaf.place] = k, -1 - k
        return Tree(made, children), labels

    def _divide(self, members: IntArray, number: int) -> Division | None:
        """The cluster ``members`` in two; its number, with the seed, fixes every random choice."""
        n = members.size
        if n < 2:
            return None
        rows = self.rows if n == self.rows.n_instances else self.rows.part(members)
        labels: ClusterLabels | LinkedLabels = ClusterLabels.of_share(n, self.balance, self.orient)
        if self.links is not None:  # there is one division then, of all rows
            labels = LinkedLabels(self.links, self.balance, self.orient)
        losses = Losses.of(self.loss, np.full(n, self.C))
        part = self.stages and self.stages.part(str(number))
        task = Task(rows, labels, losses, self._opening, np.ones(n, dtype=np.bool_), f"{n} rows in two", part)
        rng = np.random.default_rng([self.seed, number])
        with self.progress.part(number, task.title, max_iter=self.options.max_iter) as shown:
            fit = recipe.fit(task, self.options, rng, shown.label_vector)
        y, threshold, ties_split = self._cut(fit.scores(), labels)
        assert isinstance(fit.solution, Solution)
        gain = losses.total(np.zeros(n), np.arange(n)) - fit.solution.upper
        return Division(members, fit, y, threshold, ties_split, gain)

    def _cut(self, scores: FloatArray, labels: ClusterLabels | LinkedLabels) -> tuple[LabelArray, float, bool]:
        """Labels, threshold, and whether equal scores were divided."""
        if isinstance(labels, LinkedLabels):
            return self._cut_groups(scores, labels)
        positive = scores > 0
        if self.cut == "zero" and 0 < np.count_nonzero(positive) < positive.size:
            return np.where(positive, 1, -1).astype(np.int8), 0.0, False
        return self._cut_values(scores, labels)

    def _cut_groups(self, scores: FloatArray, labels: LinkedLabels) -> tuple[LabelArray, float, bool]:
        """The same where rows are linked: groups are cut, so that the links are kept."""
        z = np.where(labels.group_scores(scores) >= 0, 1, -1).astype(np.int8)
        values, counted = labels.thresholds(scores)
        threshold, ties_split = 0.0, False
        if self.cut != "zero" and counted.size > 1 and labels.among_counted is not None:
            z[counted], threshold, ties_split = self._cut_values(values, labels.among_counted)
        y = z[labels.group] * labels.sign
        return (y if np.ptp(y) else labels.linear_oracle(scores)), threshold, ties_split

    def _cut_values(self, values: FloatArray, labels: ClusterLabels) -> tuple[LabelArray, float, bool]:
        """The cut nearest to 0 that keeps the balance, or in the valley, if there is one, whatever the sizes."""
        at = 0.0
        if self.cut == "valley":
            valley = deepest_valley(values, self.options.smallest_cluster, self.options)
            if valley is not None:
                at, labels = valley, ClusterLabels.of_share(values.size, 1 - 2 * self.options.smallest_cluster)
        return choose_cut(values, labels, self.tie, self.options.clear_of_zero, at)

    def _opening(self, task: Task, options: Options, rng: np.random.Generator) -> Opening:
        """First label vectors: the best aligned of random assignments, as in the paper; well aligned halves; or the
        best of those and k-means', each relabeled until it settles."""
        labels, rows = task.labels, task.rows
        assert isinstance(labels, ClusterLabels | LinkedLabels)
        if self.init == "alignment":
            return Opening([best_aligned(rows, labels, self.n_init, rng, options)], [], None, best_first=False)
        if self.init == "climbed":
            return Opening(aligned_clusters(rows, labels, self.n_init, rng, options), [], None, best_first=False)
        best = best_relabelled(
            task, lambda n: ClusterLabels.of_share(n, self.balance, self.orient), self.n_init, rng, options
        )
        return Opening([best.y], [], best.alpha, best_first=False)
