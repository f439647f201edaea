"""What the rivals of Table 11 share: checks, the Gram matrix, storing clusters, prediction.

They work on the matrix of all kernel values, for the linear kernel too: made for comparison, not for many rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm.engine.alignment import best_aligned
from wellsvm.estimators._common import KernelModel, all_or_nothing, check_matrix, gram_matrix, make_kernel
from wellsvm.estimators._two_clusters import halves
from wellsvm.geometry import GramGeometry
from wellsvm.geometry.kernels import Kernel

__all__ = [
    "ClusterBaseline",
    "Clusters",
    "Cut",
    "Expansion",
    "TwoClusterBaseline",
    "aligned_labels",
    "full_gram",
]

# Random labellings of which the one best aligned with the kernel is taken, as in section 5.3.
DRAWS = 20


class Clusters(NamedTuple):
    """Labels of the rows, and functions ``coef @ k(x) + intercept`` that place new ones."""

    labels: IntArray
    coef: FloatArray
    intercept: FloatArray


class Cut(NamedTuple):
    """Two clusters: labels -1 and +1, and the function ``coef @ k(x) + intercept`` whose sign they are."""

    y: LabelArray
    coef: FloatArray
    intercept: float


@dataclass(frozen=True)
class Expansion:
    """``sum_j coef_j k(x_j, .)`` in the words of a descent, for `KernelModel._store_functions`."""

    X: Matrix
    coef: FloatArray

    geometry: ClassVar[Any] = SimpleNamespace(bias=0.0)  # no constant feature: the intercept is stored apart

    def weights(self, mu: FloatArray) -> FloatArray:
        """Weights of the features, and zero for the constant one."""
        return np.append(self.X.T @ self.coef, 0.0)

    def dual_coef(self, mu: FloatArray) -> FloatArray:
        """Coefficients of the rows."""
        return self.coef


def aligned_labels(K: FloatArray, rng: np.random.Generator) -> LabelArray:
    """Of `DRAWS` random halvings the one best aligned with the kernel: the paper's start, "-r" in Table 11."""
    return best_aligned(GramGeometry(np.ascontiguousarray(K)), halves(K.shape[0]), DRAWS, rng)


class ClusterBaseline(ClusterMixin, KernelModel):
    """`fit` for a method that sees the kernel matrix only; subclasses say how in `_find`."""

    kernel: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` the square matrix of kernel values.
        y : ignored
            For scikit-learn's interface.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            X = check_matrix(self, X, reset=True)
            self._check(X.shape[0])
            kernel = make_kernel(self, X)
            seed = check_random_state(getattr(self, "random_state", None)).randint(np.iinfo(np.int32).max)
            found = self._find(full_gram(X, kernel), np.random.default_rng(seed))
            self.labels_ = found.labels
            self._store_functions(X, kernel, [(Expansion(X, coef), np.ones(1)) for coef in found.coef])
            self.intercept_ = found.intercept
            if not found.coef.any() and kernel.name != "linear":  # constant; yet a row is needed to compare with
                self.support_, self.dual_coef_ = np.zeros(1, dtype=np.int64), found.coef[:, :1].copy()
                self.support_vectors_ = np.empty((0, 0)) if kernel.name == "precomputed" else X[:1]
        return self

    def _check(self, n_rows: int) -> None:
        """Check the parameters."""
        raise NotImplementedError

    def _find(self, K: FloatArray, rng: np.random.Generator) -> Clusters:
        """Clusters of the rows behind the kernel matrix."""
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def full_gram(X: Matrix, kernel: Kernel) -> FloatArray:
    """The kernel matrix in float64, checked as everywhere in the package."""
    return np.asarray(gram_matrix(X, kernel, single=False), dtype=np.float64)


class TwoClusterBaseline(ClusterBaseline):
    """Two clusters by the sign of one function; subclasses find it in `_cut`. Cluster 0 is the larger one."""

    def _check(self, n_rows: int) -> None:
        if n_rows < 2:
            raise ValueError(f"two clusters need at least 2 rows; got n_samples={n_rows}")

    def _find(self, K: FloatArray, rng: np.random.Generator) -> Clusters:
        y, coef, intercept = self._cut(K, rng)
        n_positive = int(np.count_nonzero(y > 0))
        # As in MaxMarginClustering: cluster 1 is the smaller one; of equal ones, that without the first row.
        sign = -1 if 2 * n_positive > y.size or (2 * n_positive == y.size and y[0] > 0) else 1
        return Clusters((sign * y > 0).astype(np.int32), sign * coef[None], np.array([sign * intercept]))

    def _cut(self, K: FloatArray, rng: np.random.Generator) -> Cut:
        """Labels and the function behind them."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> FloatArray:
        """Values of the function: positive for cluster 1.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` kernel values with the training rows.
        """
        return self._functions(X)[:, 0]

    def predict(self, X: Any) -> IntArray:
        """Cluster of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        return (self.decision_function(X) > 0).astype(np.int32)
