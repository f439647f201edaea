"""Means of rows of instances, in the space of the features or of the kernel, and functions learned on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.engine.svm import LabeledSVM
from wellsvm.estimators._bags import AnyGeometry
from wellsvm.geometry import LinearGeometry

__all__ = ["OnMeans", "average", "averaging"]


def averaging(starts: IntArray) -> sparse.csr_matrix:
    """The matrix that takes instances to the means of their rows; row i holds ``starts[i] .. starts[i+1]-1``."""
    sizes = np.diff(starts)
    return sparse.csr_matrix((np.repeat(1.0 / sizes, sizes), np.arange(starts[-1]), starts))


def average(geometry: AnyGeometry, X: Matrix, starts: IntArray) -> AnyGeometry:
    """The geometry of the means: of the rows of X, or in the feature space of the kernel."""
    if isinstance(geometry, LinearGeometry):
        return LinearGeometry(averaging(starts) @ X, geometry.bias)
    return geometry.averaged(starts)


class OnMeans(NamedTuple):
    """An SVM on means, seen as a function of instances."""

    svm: LabeledSVM
    starts: IntArray

    @property
    def geometry(self) -> Any:
        """Of the means; the bias is the same."""
        return self._descent.geometry

    @property
    def _descent(self) -> Any:
        """Linear or on a Gram matrix: one has `weights`, the other `dual_coef`."""
        return self.svm.descent

    def weights(self, mu: FloatArray) -> FloatArray:
        """Weights of the features: the same for a mean as for an instance."""
        return np.asarray(self._descent.weights(mu))

    def dual_coef(self, mu: FloatArray) -> FloatArray:
        """Coefficients of the instances: each has its share of its row's."""
        return np.asarray(averaging(self.starts).T @ self._descent.dual_coef(mu))

    def scores(self, geometry: AnyGeometry) -> FloatArray:
        """f of every instance of ``geometry``."""
        mu = self.svm.master.mu
        if isinstance(geometry, LinearGeometry):
            return geometry.project(self.weights(mu)[:, None])[:, 0]
        return geometry.matmat(self.dual_coef(mu)[:, None])[:, 0]
