"""First label vectors where no label is known: well aligned with the kernel (section 5.3), or from k-means.

With all dual variables one, ``||u_y||^2 = y'Ky`` is the alignment of y with the kernel, up to constants. Which start is
better differs from data set to data set. The objectives of their SVMs decide, and cost little.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.engine.cutting_plane import climb
from wellsvm.engine.search import search
from wellsvm.engine.task import Guess, Task
from wellsvm.labels import ClusterLabels, LabelSet, LinkedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows, Rows
from wellsvm.rows.landmarks import Landmarks
from wellsvm.solver import Candidate, Solution, State, begin
from wellsvm.threads import one_thread

__all__ = [
    "aligned_clusters", "best_aligned", "best_relabelled", "climb_alignment", "joined_means", "means_of_clusters",
]  # fmt: skip


def best_aligned(
    rows: Rows, label_set: LabelSet, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> LabelArray:
    """The one of ``n_draws`` random label vectors that is best aligned with the kernel; of equals the first."""
    state = _at_ones(rows, label_set, options)
    return max(_drawn(state, n_draws, rng), key=lambda candidate: candidate.squared_norm).y


def climb_alignment(
    rows: Rows, label_set: LabelSet, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> LabelArray:
    """The best of a few random label vectors after relabeling by ``argmax over z of z'Ky`` while that aligns better.

    Power iteration, its iterates rounded to members of B: it ends near the leading eigenvectors of K, and costs two
    passes over the data per step. Where all of B is balanced (``sum y = 0``) that is K centered.
    """
    state = _at_ones(rows, label_set, options)
    drawn = sorted(_drawn(state, n_draws, rng), key=lambda candidate: -candidate.squared_norm)
    climbed = (climb(state, start) for start in drawn[: options.alignment_climbs])
    return max(climbed, key=lambda candidate: candidate.squared_norm).y


def aligned_clusters(
    rows: Rows,
    label_set: ClusterLabels | LinkedLabels,
    n_draws: int,
    rng: np.random.Generator,
    options: Options = Options(),
) -> list[LabelArray]:
    """Well aligned halves of the rows and, where the rows allow it, what they become within the balance of B.

    Among halves alignment does not see the mean of the rows, which would else draw all of them into one cluster. Where
    rows are many, halves are found on some of them, without links, and carried over to all by the direction between
    their means.
    """  # fmt: skip
    some = rows.thinned(options.alignment_sample, rng)
    if some is rows and isinstance(label_set, LinkedLabels):
        return [climb_alignment(rows, label_set, n_draws, rng, options)]
    half = climb_alignment(some, ClusterLabels.halves(some.n_instances), n_draws, rng, options)
    if some is not rows:
        direction = some.combine(half.astype(np.float64)[:, None])
        return [label_set.halved(rows.scores(direction)[:, 0])]
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
    return _near_means(rows, n_clusters, n_draws, rng, options)[0]


def joined_means(
    rows: Rows, n_clusters: int, times: int, rng: np.random.Generator, options: Options = Options()
) -> FloatArray:
    """How near every row is to the nearest of the means that make up each cluster.

    k-means finds ``times`` as many means, which are joined to clusters by Ward's method, however many rows they have.
    k-means alone would rather split a large cluster than find two small ones.
    """
    n_means = min(times * n_clusters, rows.n_instances)
    near, means = _near_means(rows, n_means, options.joined_draws, rng, options)
    cluster = cut_tree(linkage(means, "ward"), n_clusters)[:, 0]
    return np.stack([near[:, cluster == k].max(axis=1) for k in range(n_clusters)], axis=1)


def _near_means(
    rows: Rows, n_clusters: int, n_draws: int, rng: np.random.Generator, options: Options
) -> tuple[FloatArray, FloatArray]:
    """How near every row is to each mean, and the means."""
    if not isinstance(rows, LinearRows):
        rows = LinearRows(_coordinates(rows, rng, options))
    n, most = rows.n_instances, options.alignment_sample
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
    return np.asarray(rows.scores(weights) - 0.5 * np.sum(means * means, axis=1)), means


def _coordinates(rows: Rows, rng: np.random.Generator, options: Options) -> FloatArray:
    """A matrix whose rows lie as the instances do under their kernel."""
    n = rows.n_instances
    chosen = np.sort(rng.choice(n, min(n, options.start_landmarks), replace=False))
    unit = np.zeros((n, chosen.size))
    unit[chosen, np.arange(chosen.size)] = 1.0
    return Landmarks(np.ascontiguousarray(rows.scores(unit)), chosen, options).coordinates


# ------------------------------------------------------------------ the best of many


def best_relabelled(
    task: Task,
    labels_of_some: Callable[[int], ClusterLabels],
    n_draws: int,
    rng: np.random.Generator,
    options: Options = Options(),
) -> Solution:
    """The start of the least SVM objective, after relabeling from each: the paper's, alignment's, those of k-means.

    Where rows are many, starts are found and compared on some of them, with labels of ``labels_of_some``, which know no
    links. The best is relabeled on more and more rows, so that there is little left to do on all of them.
    """
    tol = options.compared_tol * options.tol
    rough = options.but(tol=tol, unsettled_labels=options.few_moves / tol)
    samples = _samples(task.rows, rng, options)
    few = _on_some(task, samples[0], labels_of_some)
    found = [search(few, Guess(y.astype(np.float64), None), rough, rng) for y in _starts(few, n_draws, rng, options)]
    best = min(found, key=lambda svm: svm.upper)
    for chosen, more in pairwise(samples):
        assert chosen is not None  # only the last one is
        weights = task.rows.from_part(best.coefficients(), chosen)
        few = _on_some(task, more, labels_of_some)
        scores = few.rows.scores(np.ascontiguousarray(weights[:, None]))[:, 0]
        best = search(few, Guess(scores, None), rough, rng)
    return best


def _samples(rows: Rows, rng: np.random.Generator, options: Options) -> list[IntArray | None]:
    """Ever more rows, drawn at random; None stands for all of them, the last."""
    samples: list[IntArray | None] = []
    if isinstance(rows, LinearRows) and rows.n_instances > options.alignment_sample:
        n, size = rows.n_instances, min(options.k_means_sample, options.alignment_sample)
        while size * options.sample_growth <= n or not samples:
            samples.append(np.sort(rng.choice(n, size, replace=False)))
            size *= options.sample_growth
    return [*samples, None]


def _on_some(task: Task, chosen: IntArray | None, labels_of_some: Callable[[int], ClusterLabels]) -> Task:
    """The same problem on some rows."""
    if chosen is None:
        return task
    losses = Losses(task.losses.cap[chosen], task.losses.ridge[chosen])
    return Task(task.rows.part(chosen), labels_of_some(chosen.size), losses)


def _starts(task: Task, n_draws: int, rng: np.random.Generator, options: Options) -> list[LabelArray]:
    """Label vectors to relabel from."""
    rows, labels = task.rows, task.labels
    assert isinstance(labels, ClusterLabels | LinkedLabels)
    starts = [*aligned_clusters(rows, labels, n_draws, rng, options), best_aligned(rows, labels, n_draws, rng, options)]
    for _ in range(options.start_draws):
        near = means_of_clusters(rows, 2, 1, rng, options)
        nearer = near[:, 1] - near[:, 0]
        if np.ptp(nearer) > options.tie_single * np.abs(near).max():  # else all rows are equal
            starts.append(labels.linear_oracle(nearer))
    return starts
