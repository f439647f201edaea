"""First label vectors without any label: well aligned with the kernel (section 5.3), or k-means'.

With all dual variables one, ``||u_y||^2 = y'Ky`` is the alignment of y with the kernel, up to constants. Which start is
the better one differs from set to set; the objective of their SVMs tells, and costs little.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.cutting_plane import climb
from wellsvm.labels import BalancedLabels, ClusterLabels, LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows, Rows
from wellsvm.rows.landmarks import Landmarks
from wellsvm.solver import Candidate, State, begin, fit_svm
from wellsvm.threads import one_thread

__all__ = ["aligned_clusters", "best_aligned", "climb_alignment", "least_objective", "means_of_clusters"]


def best_aligned(
    rows: Rows, label_set: LabelSet, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> LabelArray:
    """Of ``n_draws`` random label vectors the one best aligned with the kernel; of equals the first."""
    state = _at_ones(rows, label_set, options)
    return max(_drawn(state, n_draws, rng), key=lambda candidate: candidate.squared_norm).y


def climb_alignment(
    rows: Rows, label_set: LabelSet, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> LabelArray:
    """The best of a few random label vectors after relabelling by ``argmax over z of z'Ky`` while that aligns better.

    Power iteration, its iterates rounded to members of B: it ends near the leading eigenvectors of K, and costs two
    passes over the data per step. Where all of B is balanced (``sum y = 0``) that is K centred.
    """
    state = _at_ones(rows, label_set, options)
    drawn = sorted(_drawn(state, n_draws, rng), key=lambda candidate: -candidate.squared_norm)
    climbed = (climb(state, start) for start in drawn[: options.alignment_climbs])
    return max(climbed, key=lambda candidate: candidate.squared_norm).y


def aligned_clusters(
    rows: Rows, label_set: ClusterLabels, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> list[LabelArray]:
    """Well aligned halves of the rows and, where the rows allow it, what they become within the balance of B.

    Among halves alignment does not see the mean of the rows, which would else draw all of them into one cluster. Where
    rows are many, halves are found on some of them and carried over to all by the direction between their means.
    """
    some = rows.thinned(options.alignment_sample, rng)
    half = climb_alignment(some, ClusterLabels.halves(some.n_instances), n_draws, rng, options)
    if some is not rows:
        direction = some.combine(half.astype(np.float64)[:, None])
        return [ClusterLabels.halves(rows.n_instances).linear_oracle(rows.scores(direction)[:, 0])]
    if not rows.centred:
        return [half]
    state = _at_ones(rows, label_set, options)
    moved = label_set.oriented(climb(state, state.candidate(half)).y, half)
    return [half, moved]


def _at_ones(rows: Rows, label_set: LabelSet, options: Options) -> State:
    ones = np.ones(label_set.n_rows)
    return begin(rows, label_set, Losses.of("hinge", ones), ones, options)


def _drawn(state: State, n_draws: int, rng: np.random.Generator) -> list[Candidate]:
    return state.candidates([state.label_set.initial(rng) for _ in range(n_draws)])


# ------------------------------------------------------------------ k-means


def means_of_clusters(
    rows: Rows, n_clusters: int, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> FloatArray:
    """How near every row is to each mean of the best of ``n_draws`` runs of k-means, ``m'x - ||m||^2 / 2``.

    Of many rows some are clustered. Under a kernel rows are given by their values with a few landmarks.
    """
    if not isinstance(rows, LinearRows):
        rows = LinearRows(_coordinates(rows, rng, options))
    n, most = rows.n_instances, _compared_rows(options) if n_clusters == 2 else options.alignment_sample
    few = n <= options.alignment_sample
    some = rows.taken(np.arange(n) if few else np.sort(rng.choice(n, most, replace=False)))
    some = some.astype(np.float64, copy=False)  # in single precision sums of squares overflow early
    if sparse.issparse(some):  # k-means asks for short indices
        parts = (some.data, some.indices.astype(np.int32), some.indptr.astype(np.int32))
        some = sparse.csr_matrix(parts, shape=some.shape)
    seed = int(rng.integers(np.iinfo(np.int32).max))
    model = KMeans(n_clusters, n_init=n_draws, max_iter=options.k_means_rounds, random_state=seed)
    with warnings.catch_warnings(), one_thread():  # with several threads its sums depend on their order
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        means = model.fit(some).cluster_centers_.astype(np.float64)
    weights = np.ascontiguousarray(np.vstack([means.T, np.zeros(n_clusters)]))
    return np.asarray(rows.scores(weights) - 0.5 * np.sum(means * means, axis=1))


def _compared_rows(options: Options) -> int:
    return min(options.k_means_sample, options.alignment_sample)


def _coordinates(rows: Rows, rng: np.random.Generator, options: Options) -> FloatArray:
    """A matrix whose rows lie as the instances do under their kernel."""
    n = rows.n_instances
    chosen = np.sort(rng.choice(n, min(n, options.start_landmarks), replace=False))
    unit = np.zeros((n, chosen.size))
    unit[chosen, np.arange(chosen.size)] = 1.0
    return Landmarks(np.ascontiguousarray(rows.scores(unit)), chosen, options).coordinates


def least_objective(
    rows: Rows, losses: Losses, starts: Sequence[list[LabelArray]], rng: np.random.Generator, options: Options
) -> list[LabelArray]:
    """Of several lists of label vectors the one that holds that of the least SVM objective; of many rows some count."""
    n, chosen = rows.n_instances, None
    if n > options.alignment_sample and isinstance(rows, LinearRows):
        chosen = np.sort(rng.choice(n, _compared_rows(options), replace=False))
        rows, losses = rows.part(chosen), Losses(losses.cap[chosen], losses.ridge[chosen])

    def objective(y: LabelArray) -> float:
        y = y if chosen is None else y[chosen]
        tol = options.compared_tol * options.tol
        return fit_svm(rows, BalancedLabels.known(y), losses, y, tol=tol, rng=rng, options=options).upper

    return min(starts, key=lambda labels: min(objective(y) for y in labels))
