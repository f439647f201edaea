"""Twenty small problems on which two correct implementations of the paper's algorithm take the same steps.

Algorithm 1 makes discrete choices from real numbers: which label vector is y_bar, where the sorted r is cut, whether a
threshold is passed. Where such a choice is nearly a tie, rounding decides it. The seeds below were picked so that this
does not happen; `closest_call` measures it, and the tests hold it against these bounds:

- r: the second best label vector of B loses at least `MARGIN` of max |r| (no zeros of r at the cut, in particular);
- y_bar: every label vector of C is within `TIED` of the largest y'Hy, relatively, or below it by more than `APART`;
- thresholds: violation and decrease differ from them by a factor of at least `CLEAR`;
- mu is well determined: MKLGL needs at most `MASTER_STEPS` steps.

An implementation that solves its masters to a relative gap of 1e-8 has room to spare on all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from paper import plain_statement as plain

Kind = Literal["semi_supervised", "multi_instance", "clustering"]
Kernel = Literal["rbf", "linear"]

MARGIN, TIED, APART, CLEAR, MASTER_STEPS = 2e-3, 1e-6, 1e-3, 1.25, 1500
SEEDS: dict[tuple[Kind, Kernel], tuple[int, ...]] = {
    ("semi_supervised", "rbf"): (1, 4, 24, 33),
    ("semi_supervised", "linear"): (11, 15, 34),
    ("multi_instance", "rbf"): (4, 7, 38),
    ("multi_instance", "linear"): (6, 11, 30),
    ("clustering", "rbf"): (9, 15, 34, 36),
    ("clustering", "linear"): (9, 23, 34),
}


@dataclass(frozen=True)
class Problem:
    """One data set with all parameters. `labels`: 1, -1, or 0 for unlabeled rows; of bags, 1 or -1; else empty."""

    kind: Kind
    kernel: Kernel
    seed: int
    X: plain.Array
    gamma: float  # of exp(-gamma ||x - z||^2); no meaning for the linear kernel
    labels: plain.Labels
    groups: plain.Labels  # bag of every row of X, positive bags first; empty for the other tasks
    C_1: float  # labeled rows, positive bags, or all rows
    C_2: float  # unlabeled rows, or instances of negative bags
    beta: float
    start: plain.Labels | None  # None: from the SVM (semi-supervised)

    @property
    def K(self) -> plain.Array:
        """Kernel matrix of all rows."""
        if self.kernel == "linear":
            return self.X @ self.X.T
        return np.exp(-self.gamma * squared_distances(self.X))

    @property
    def nu_svm(self) -> bool:
        """Section 5: the nu-SVM with squared hinge for nonlinear kernels, the SVM with hinge for the linear one."""
        return self.kernel != "linear"

    @property
    def bags(self) -> plain.Labels:
        """Bag of every instance, -1 for those of negative bags."""
        return np.where(self.labels[self.groups] > 0, self.groups, -1)

    def solve(self) -> plain.PlainFit:
        """The paper's algorithm, by the plain statement."""
        if self.kind == "semi_supervised":
            return plain.semi_supervised(self.K, self.labels, self.C_1, self.C_2, self.nu_svm, self.start)
        if self.kind == "multi_instance":
            return plain.multi_instance(self.K, self.bags, self.C_1, self.C_2, self.nu_svm, self.start)
        return plain.clustering(self.K, self.beta, self.C_1, self.nu_svm, self.start)


def all_problems() -> list[Problem]:
    """The twenty problems."""
    return [make_problem(kind, kernel, seed) for (kind, kernel), seeds in SEEDS.items() for seed in seeds]


def make_problem(kind: Kind, kernel: Kernel, seed: int) -> Problem:
    """A random problem; sizes and prices are drawn too."""
    make = {"semi_supervised": _semi_supervised, "multi_instance": _multi_instance, "clustering": _clustering}
    return make[kind](kernel, seed, np.random.default_rng(seed))


def squared_distances(X: plain.Array) -> plain.Array:
    """Between all pairs of rows."""
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def _semi_supervised(kernel: Kernel, seed: int, rng: np.random.Generator) -> Problem:
    n, d, n_labeled = int(rng.integers(20, 61)), int(rng.integers(3, 11)), int(rng.integers(4, 11))
    y = np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1  # both classes have a label
    X = rng.standard_normal((n, d)) + np.outer(y, rng.uniform(0.2, 0.8) * (np.arange(d) < 2))
    X /= np.sqrt(2 * d)  # so that few rows are beyond the margin, where alpha and r are 0
    gamma = rng.uniform(0.3, 1.5) / squared_distances(X).mean()
    C_2 = rng.choice([0.1, 0.5, 1.0] if kernel == "rbf" else [0.02, 0.05, 0.1])
    labels = np.where(np.arange(n) < n_labeled, y, 0)
    return Problem("semi_supervised", kernel, seed, X, gamma, labels, np.empty(0, int), 1.0, C_2, 0.0, None)


def _multi_instance(kernel: Kernel, seed: int, rng: np.random.Generator) -> Problem:
    n_positive, n_negative, d = int(rng.integers(4, 10)), int(rng.integers(3, 6)), int(rng.integers(3, 9))
    sizes = rng.integers(2, 6, n_positive + n_negative)
    groups = np.repeat(np.arange(sizes.size), sizes)
    labels = np.where(np.arange(sizes.size) < n_positive, 1, -1)
    X = rng.standard_normal((groups.size, d)) / np.sqrt(d)
    first = np.concatenate([[0], np.cumsum(sizes)[: n_positive - 1]])
    X[first + rng.integers(0, sizes[:n_positive]), :2] += rng.uniform(1.0, 2.5) / np.sqrt(d)
    gamma = rng.uniform(0.3, 2.0) / squared_distances(X).mean()
    C_2 = rng.choice([0.5, 1.0] if kernel == "rbf" else [0.1, 0.2, 0.5])
    C_1 = C_2 * rng.choice([1.0, 4.0, 10.0])
    start = plain.key_argmax(rng.standard_normal(sizes[:n_positive].sum()), groups[labels[groups] > 0])
    return Problem("multi_instance", kernel, seed, X, gamma, labels, groups, C_1, C_2, 0.0, start)


def _clustering(kernel: Kernel, seed: int, rng: np.random.Generator) -> Problem:
    n, d = int(rng.integers(20, 51)), int(rng.integers(2, 9))
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.standard_normal((n, d)) + np.outer(y, rng.uniform(0.5, 2.0) * (np.arange(d) < 2))
    X /= np.sqrt(2 * d)
    gamma = rng.uniform(0.5, 2.0) / squared_distances(X).mean()
    C = rng.choice([0.5, 1.0, 5.0] if kernel == "rbf" else [0.05, 0.1, 0.2])
    beta = 0.3 * n
    problem = Problem("clustering", kernel, seed, X, gamma, np.empty(0, int), np.empty(0, int), C, C, beta, None)
    start = plain.best_aligned(problem.K, plain.random_assignments(n, beta, rng))
    return Problem("clustering", kernel, seed, X, gamma, problem.labels, problem.groups, C, C, beta, start)


# ------------------------------------------------------------------ how near to a tie


@dataclass(frozen=True)
class ClosestCall:
    """The nearest that a fit comes to another choice; see the head of this file."""

    margin: float
    between: float  # largest relative distance to the largest y'Hy that is at most APART; 0 is an exact tie
    clearance: float
    master_steps: int

    def is_clear(self) -> bool:
        """Whether two correct implementations must agree."""
        safe = self.margin >= MARGIN and self.between <= TIED
        return safe and self.clearance >= CLEAR and self.master_steps <= MASTER_STEPS


def closest_call(problem: Problem, fit: plain.PlainFit) -> ClosestCall:
    """Measure how near to a tie the discrete choices of a fit are."""
    margin, between, clearance = np.inf, 0.0, np.inf
    for k, one in enumerate(fit.rounds):
        margin = min(margin, _margin(problem, one.r, one.generated) / np.max(np.abs(one.r)))
        below = 1 - one.relative_norms
        between = max(between, float(below[below <= APART].max()))
        decrease = np.inf if k == 0 else fit.rounds[k - 1].objective - one.objective
        for value in (one.violation, decrease):
            ratio = max(value, 1e-12) / 1e-3
            clearance = min(clearance, max(ratio, 1 / ratio))
    return ClosestCall(margin, between, clearance, max(one.master_steps for one in fit.rounds))


def _margin(problem: Problem, r: plain.Array, y: plain.Labels) -> float:
    """What r'y loses, at least, if the label vector changes in the smallest way that B allows."""
    if problem.kind == "multi_instance":
        bags = problem.bags[problem.bags >= 0]
        gaps = [np.diff(np.sort(r[bags == bag])[-2:]) for bag in np.unique(bags)]
        return float(min(gap[0] for gap in gaps if gap.size))
    free = problem.labels == 0 if problem.kind == "semi_supervised" else np.ones(r.size, dtype=bool)
    swap = r[free & (y > 0)].min() - r[free & (y < 0)].max()
    if problem.kind == "semi_supervised":
        return float(swap)
    flips = [abs(r_i) for r_i, y_i in zip(r, y) if abs(y.sum() - 2 * y_i) <= problem.beta]
    return float(min([swap, *flips]))
