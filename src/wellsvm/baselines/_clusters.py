"""What the rivals of Table 11 share: checks, the kernel matrix they work on, storing clusters, prediction."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClusterMixin

from wellsvm._arguments import seed_of
from wellsvm._input import check_matrix
from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.baselines._kernel_matrix import KernelMatrix, function_of
from wellsvm.engine.starts import best_aligned
from wellsvm.estimators.base import KernelModel, fitting, make_kernel
from wellsvm.labels import ClusterLabels
from wellsvm.options import Options
from wellsvm.rows import GramRows

__all__ = ["ClusterBaseline", "Clusters", "Cut", "TwoClusterBaseline", "aligned_labels"]


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


def aligned_labels(K: FloatArray, rng: np.random.Generator) -> LabelArray:
    """Of some random halvings the one best aligned with the kernel: the paper's start, "-r" in Table 11."""
    rows, halves = GramRows(np.ascontiguousarray(K)), ClusterLabels.halves(K.shape[0])
    return best_aligned(rows, halves, Options.alignment_draws, rng)


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
        with fitting(self):
            X = check_matrix(self, X, reset=True)
            self._check_parameters(X.shape[0])
            kernel = make_kernel(self, X)
            seed = seed_of(getattr(self, "random_state", None))
            matrix = KernelMatrix.of(X, kernel)
            found = self._find(matrix.K, np.random.default_rng(seed))
            self.labels_ = found.labels
            coef = np.stack([matrix.to_store(coef) for coef in found.coef])
            self._store_function(function_of(X, kernel, coef, found.intercept), kernel)
        return self

    @abstractmethod
    def _check_parameters(self, n_rows: int) -> None:
        """Check all parameters that are not of the kernel."""

    @abstractmethod
    def _find(self, K: FloatArray, rng: np.random.Generator) -> Clusters:
        """Clusters of the rows behind the kernel matrix."""


class TwoClusterBaseline(ClusterBaseline):
    """Two clusters by the sign of one function; subclasses find it in `_cut`. Cluster 0 is the larger one."""

    def _check_parameters(self, n_rows: int) -> None:
        if n_rows < 2:
            raise ValueError(f"two clusters need at least 2 rows; got n_samples={n_rows}")

    def _find(self, K: FloatArray, rng: np.random.Generator) -> Clusters:
        y, coef, intercept = self._cut(K, rng)
        n_positive = int(np.count_nonzero(y > 0))
        # As in MaxMarginClustering: cluster 1 is the smaller one; of equal ones, that without the first row.
        sign = -1 if 2 * n_positive > y.size or (2 * n_positive == y.size and y[0] > 0) else 1
        return Clusters((sign * y > 0).astype(np.int32), sign * coef[None], np.array([sign * intercept]))

    @abstractmethod
    def _cut(self, K: FloatArray, rng: np.random.Generator) -> Cut:
        """Labels and the function behind them."""

    def decision_function(self, X: Any) -> FloatArray:
        """Values of the function: positive for cluster 1.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"``, the kernel values with the training rows.
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
