"""MaxMarginClustering: section 4.3 of the paper behind scikit-learn's interface, and more clusters by bisection."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm._warnings import callers_level
from wellsvm.engine.alignment import climb_alignment
from wellsvm.estimators._callbacks import CallbackSupportMixin, Task, with_callbacks
from wellsvm.estimators._common import BIAS, KernelModel, all_or_nothing, check_matrix, make_geometry, make_kernel
from wellsvm.estimators._parameters import number, whole_number
from wellsvm.estimators._threads import run
from wellsvm.estimators._two_class import Settings, settings_of
from wellsvm.estimators._two_clusters import TwoClusters, fit_two_clusters, halves
from wellsvm.geometry import GramGeometry, LinearGeometry
from wellsvm.geometry.kernels import Kernel
from wellsvm.labels.clusters import ClusterLabels

__all__ = ["MaxMarginClustering"]

# Linear rows that the start is found on; more change nothing but its time.
SAMPLE = 10_000


@dataclass(frozen=True)
class _Split:
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


class _Leaf(NamedTuple):
    """A cluster: its rows, its division if it can be divided, and its place in the tree."""

    rows: IntArray
    split: _Split | None
    place: tuple[int, int]

    @property
    def gain(self) -> float:
        """What a division is worth."""
        return -np.inf if self.split is None else self.split.fit.gain


class MaxMarginClustering(CallbackSupportMixin, ClusterMixin, KernelModel):
    """Clusters with a large margin between them, and a rule for rows never seen.

    Of all ways to label the rows by two clusters of about the same size it looks for those that an SVM separates with a
    large margin, combines them by a convex program, and (with ``refine``) settles on one. More clusters are made by
    dividing again and again the cluster whose division gains the most margin.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    C : float, default=1.0
        Price of the loss of a row.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel; a callable maps two matrices to the matrix of kernel values. Dense rows are centred for "linear", sparse
        ones are not.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Width of "rbf", "poly" and "sigmoid". "mean" is one over the mean squared distance between training rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "hinge", "squared_hinge"}, default="auto"
        "auto" is hinge for the linear kernel and squared hinge otherwise, as in the paper.
    fit_intercept : bool, default=False
        Whether to add a constant feature; it is regularised like the others. The threshold that makes the labels is
        chosen in either case.
    balance : float, default=0.3
        beta / N of the paper: the sizes of the two clusters differ by at most this share of the rows, in every
        division. 0 halves the rows, 1 is free; no cluster is ever empty, and an odd number of rows may differ by one.
    n_init : int, default=20
        Random halvings drawn; the one best aligned with the kernel, aligned better step by step, is the first label
        vector.
    oracle : {"paper", "climb"}, default="paper"
        How the next label vector is found: by one linearisation, or by climbing from many starts.
    refine : bool, default=False
        Whether to settle on one labelling after the relaxation: round, solve the SVM, relabel, until nothing changes.
    tol : float, default=1e-2
        Relative to the objective: duality gap of the final solution, and violation below which a label vector is not
        worth adding. A label vector that lowers the objective by less than 10 ``tol`` is the last; others may then
        still be violated, and ``oracle_violation_`` tells by how much.
    max_iter : int, default=50
        Most label vectors to generate, in every division.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the divisions of more than two clusters; results do not depend on it.
    verbose : int, default=0
        1 prints a table row per label vector.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row, 0 the largest. Every division keeps the balance.
    coef_, intercept_ : arrays of shape (n_clusters - 1, n_features) and (n_clusters - 1,)
        Weights of every division, for the linear kernel, the threshold included; `intercept_` exists for every kernel.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients of shape (n_clusters - 1, n_support), rows and their indices.
    threshold_ : array of shape (n_clusters - 1,)
        What was taken off the f of every division to keep the balance; 0 is the paper's rule, the sign of f.
    children_ : array of shape (n_clusters - 1, 2)
        Where rows go whose value of a division is negative, and positive: another division, or ``-1 - cluster``.
    labelings_ : array of shape (n_labelings, n_samples), or a list of them
        Label vectors of the relaxation; for more clusters one array per division, 0 for rows outside.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_clusters - 1,)
        Upper bound of the restricted master, its distance to the lower bound, and the violation of the last label
        vector generated. No violation found is no proof that there is none.
    refined_objective_ : float, array or None
        Mixed-integer objective of the labelling that refinement settled on.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Label vectors generated (most over the divisions).
    status_ : str, or a list of them
        Why the cutting plane ended.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    ``predict`` of the training rows is ``labels_``: the threshold lies between two different values of f. Only where
    the balance cannot be kept without dividing rows of equal f, equal rows for instance, ``labels_`` divides them by
    index, ``predict`` keeps them together, and `fit` warns. A pickle leaves ``labelings_`` out.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from wellsvm import MaxMarginClustering
    >>> X, y = make_blobs(100, centers=2, random_state=0, cluster_std=0.5)
    >>> model = MaxMarginClustering(random_state=0).fit(X)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters=2,
        C=1.0,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=False,
        balance=0.3,
        n_init=20,
        oracle="paper",
        refine=False,
        tol=1e-2,
        max_iter=50,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.n_init = n_init
        self.oracle = oracle
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None):
        """Cluster the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, dense (C order) and CSR are used as they are.
        y : ignored
            For scikit-learn's interface.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X)

    @with_callbacks
    def _fit(self, X):
        settings = settings_of(self)
        n_clusters = whole_number("n_clusters", self.n_clusters, low=1)
        number("balance", self.balance, low=0.0, high=1.0)
        whole_number("n_init", self.n_init, low=1)
        X = check_matrix(self, X, reset=True)
        if X.shape[0] < n_clusters:
            raise ValueError(
                f"n_samples={X.shape[0]} is smaller than n_clusters={n_clusters}: every cluster needs a row; "
                "lower n_clusters"
            )
        kernel = make_kernel(self, X)
        n_divisions = max(1, 2 * n_clusters - 3)  # tried, not kept: both halves of every one but the last
        task = Task.fit(self, X, parts=n_divisions, max_iter=settings.max_iter)
        splits, children, labels = self._grow(X, kernel, settings, n_clusters, task)
        self.children_, self.labels_ = children, labels
        self._store_splits(X, kernel, splits)
        task.end(fitted=True)
        return self

    def _grow(
        self, X: Matrix, kernel: Kernel, settings: Settings, n_clusters: int, task: Task
    ) -> tuple[list[_Split], IntArray, IntArray]:
        """Divide until there are ``n_clusters``: the divisions made, where they lead, and the labels."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        whole = None if kernel.name == "linear" else make_geometry(X, kernel, self.fit_intercept)

        def divide(rows: IntArray, number_of_fit: int) -> _Split | None:
            """The cluster ``rows`` in two; its number, with the seed, fixes every random choice."""
            if rows.size < 2:
                return None
            geometry, mean = self._part(X, whole, rows)
            rng = np.random.default_rng([seed, number_of_fit])
            first = self._start_of_linear_rows(X, geometry, rows, rng)
            labels = ClusterLabels.of_share(rows.size, float(self.balance))
            with task.part(number_of_fit, f"{rows.size} rows in two", max_iter=settings.max_iter) as part:
                fit = fit_two_clusters(
                    geometry, labels, float(self.C), settings, self.n_init, rng,
                    first=first, precision=X.dtype.char, task=part,
                )  # fmt: skip
            return _Split(rows, fit, mean)

        every = np.arange(X.shape[0])
        leaves = [_Leaf(every, divide(every, 0) if n_clusters > 1 else None, (0, 0))]
        splits: list[_Split] = []
        children = np.zeros((max(1, n_clusters - 1), 2), dtype=np.int64)
        while len(splits) < n_clusters - 1:
            _, split, place = leaves.pop(max(range(len(leaves)), key=lambda k: leaves[k].gain))
            assert split is not None  # there are as many rows as clusters: some cluster can be divided
            node, halves = len(splits), split.halves()
            splits.append(split)
            children[place] = node  # of the first one it is overwritten below
            last = len(splits) == n_clusters - 1
            tasks = [partial(divide, rows, 2 * node + 1 + side) for side, rows in enumerate(halves)]
            fits = [None, None] if last else run(tasks, self.n_jobs)
            leaves += [_Leaf(rows, fit, (node, side)) for side, (rows, fit) in enumerate(zip(halves, fits))]

        labels = np.empty(X.shape[0], dtype=np.int32)
        for k, leaf in enumerate(sorted(leaves, key=lambda leaf: (-leaf.rows.size, leaf.rows[0]))):
            labels[leaf.rows], children[leaf.place] = k, -1 - k
        return splits, children, labels

    def _part(
        self, X: Matrix, whole: GramGeometry | LinearGeometry | None, rows: IntArray
    ) -> tuple[GramGeometry | LinearGeometry, FloatArray | None]:
        """The geometry of some rows; dense rows under the linear kernel are centred, and their mean is returned."""
        every = rows.size == X.shape[0]
        if isinstance(whole, GramGeometry):
            return whole if every else GramGeometry(whole.K[np.ix_(rows, rows)], whole.bias), None
        part = X if every else X[rows]
        bias = BIAS if self.fit_intercept else 0.0
        if sparse.issparse(part):
            return LinearGeometry(part, bias), None
        with np.errstate(over="ignore", invalid="ignore"):  # the geometry refuses what overflows, and names the row
            mean = part.mean(axis=0, dtype=np.float64)
            return LinearGeometry(part - mean.astype(part.dtype), bias), mean

    def _start_of_linear_rows(
        self, X: Matrix, geometry: GramGeometry | LinearGeometry, rows: IntArray, rng: np.random.Generator
    ) -> LabelArray | None:
        """First labels of rows that are many or not centred: halves aligned on some of them, carried over to all.

        None where `fit_two_clusters` may look for itself.
        """
        if isinstance(geometry, GramGeometry) or (rows.size <= SAMPLE and not sparse.issparse(X)):
            return None
        if rows.size <= SAMPLE:
            return climb_alignment(geometry, halves(rows.size), self.n_init, rng)
        part, _ = self._part(X, None, np.sort(rng.choice(rows, SAMPLE, replace=False)))
        assert isinstance(part, LinearGeometry)
        y = climb_alignment(part, halves(SAMPLE), self.n_init, rng)
        direction = part.weights(y.astype(np.float64)[:, None])
        return halves(rows.size).linear_oracle(geometry.project(direction)[:, 0])

    def _store_splits(self, X: Matrix, kernel: Kernel, splits: list[_Split]) -> None:
        fits = [split.fit for split in splits]
        if any(fit.ties_split for fit in fits):
            warnings.warn(
                f"{type(self).__name__}: rows of equal decision value were divided by their index to keep the balance; "
                "predict puts them into one cluster. Raise balance, or drop duplicate rows or constant features.",
                UserWarning,
                stacklevel=callers_level(),
            )
        signs = np.array([split.sign for split in splits])
        self.threshold_ = signs * np.array([fit.threshold for fit in fits])
        self._store_values(X, kernel, splits, signs)

        def on_all_rows(split: _Split) -> np.ndarray:
            labelings = np.zeros((len(split.fit.result.labels), X.shape[0]), dtype=np.int8)
            labelings[:, split.rows] = split.sign * np.stack(split.fit.result.labels)
            return labelings

        self._store_report(fits, [on_all_rows(split) for split in splits])

    def _store_values(self, X: Matrix, kernel: Kernel, splits: list[_Split], signs: IntArray) -> None:
        """Store ``sign * (f - threshold)`` of every division as one function of uncentred rows."""
        self._kernel = kernel
        if kernel.name == "linear":
            weights = [sign * split.fit.weights() for sign, split in zip(signs, splits)]
            self.coef_ = np.array([w[:-1] for w in weights]).reshape(len(splits), X.shape[1])
            bias = BIAS if self.fit_intercept else 0.0
            centre = [0.0 if split.mean is None else w[:-1] @ split.mean for split, w in zip(splits, weights)]
            self.intercept_ = np.array([w[-1] * bias for w in weights]) - centre - self.threshold_
            return
        coef = np.zeros((len(splits), X.shape[0]))
        for k, split in enumerate(splits):
            coef[k, split.rows] = signs[k] * split.fit.dual_coef()
        self.intercept_ = (BIAS if self.fit_intercept else 0.0) ** 2 * coef.sum(axis=1) - self.threshold_
        self.support_ = np.flatnonzero(np.any(coef != 0, axis=0))
        self.dual_coef_ = np.ascontiguousarray(coef[:, self.support_])
        self.support_vectors_ = np.empty((0, 0)) if kernel.name == "precomputed" else X[self.support_]

    def decision_function(self, X):
        """How far a row is inside a cluster: the value of f, less the threshold.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` kernel values with the training rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_clusters)
            Two clusters: positive for cluster 1. More: for each cluster the least of the margins on the way to it,
            positive for the row's own cluster only; its largest entry is the margin of the row. One: infinity.
        """
        values = self._values(X)
        if values.shape[1] == 1:
            return values[:, 0]
        margins = np.empty((values.shape[0], values.shape[1] + 1))

        def descend(node: int, least: FloatArray) -> None:
            for side, sign in enumerate((-1, 1)):
                child, margin = self.children_[node, side], np.minimum(least, sign * values[:, node])
                if child < 0:
                    margins[:, -1 - child] = margin
                else:
                    descend(child, margin)

        if values.shape[1] == 0:
            margins[:] = np.inf
        else:
            descend(0, np.full(values.shape[0], np.inf))
        return margins

    def predict(self, X):
        """Cluster of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        positive = self._values(X) > 0
        if positive.shape[1] == 0:
            return np.zeros(positive.shape[0], dtype=np.int32)
        place = np.zeros(positive.shape[0], dtype=np.int64)
        for _ in range(positive.shape[1]):
            inside = np.flatnonzero(place >= 0)
            place[inside] = self.children_[place[inside], positive[inside, place[inside]].astype(np.intp)]
        return (-1 - place).astype(np.int32)

    def _values(self, X: Any) -> FloatArray:
        """Values of every division; a single cluster has none."""
        check_is_fitted(self)
        if self.intercept_.size:
            return self._functions(X)
        return np.empty((check_matrix(self, X, reset=False).shape[0], 0))

    def __getstate__(self):
        """A pickle leaves out the label vectors: they are of the size of the training set, times their number."""
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k != "labelings_"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
