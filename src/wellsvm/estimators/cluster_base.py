"""What finding clusters together and finding them by division share: rows, the price, warnings."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from wellsvm._input import is_sparse
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm._warnings import callers_level
from wellsvm.estimators.base import KernelModel
from wellsvm.function import KernelFunction, LinearFunction
from wellsvm.options import Options
from wellsvm.rows import CentredRows, GramRows, LinearRows
from wellsvm.rows.block_rows import CentredBlockRows, linear_rows
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.landmarks import Landmarks

__all__ = ["TIES_SPLIT", "ClusterModel", "Space", "cluster_rows"]

TIES_SPLIT = (
    "rows of equal decision value were divided by their index to keep the balance; predict puts them into one cluster. "
    "Raise balance, or drop duplicate rows or constant features."
)


def cluster_rows(X: Matrix, bias: float, center: bool) -> LinearRows:
    """Rows of X, in memory or in blocks; dense ones less their mean if ``center``."""
    if not center or is_sparse(X):
        return linear_rows(X, bias)
    return CentredBlockRows(X, bias) if isinstance(X, Blocks) else CentredRows(X, bias)


class Space(NamedTuple):
    """Where functions of clusters are linear: rows, or coordinates by landmarks; and the rows as k-means sees them."""

    rows: LinearRows
    seen: LinearRows
    landmarks: Landmarks | None


class ClusterModel(KernelModel):
    """Parameters, and attributes of a fit."""

    C: Any
    balance: Any
    loss: Any
    kernel: Any
    fit_intercept: bool
    center: bool
    refine: bool
    n_init: int
    n_jobs: Any
    labels_: IntArray
    children_: IntArray | None

    def _price(self, rows: GramRows | LinearRows) -> float:
        """C, resolved on the rows as they are used; what their mean is off by rounding is no scale."""
        self.C_ = self.C
        if self.C == "scale":
            squared, double = float(np.mean(rows.squared_norms)) - rows.bias**2, np.finfo(np.float64)
            mean = rows.origin if isinstance(rows, LinearRows) and rows.origin is not None else np.zeros(1)
            rounding = (rows.n_instances * double.eps) ** 2 * float(mean @ mean)
            self.C_ = Options.scaled_C / squared if squared > max(rounding, double.tiny) else Options.scaled_C
        return float(self.C_)

    def _space(self, X: Matrix, kernel: Kernel, options: Options, seed: int) -> Space:
        """The rows under a kernel."""
        if kernel.name == "linear":
            rows = cluster_rows(X, 0.0, self.center)
            return Space(rows, rows, None)
        landmarks = Landmarks.drawn(X, kernel, options.landmarks, np.random.default_rng([seed, 2]), options)
        if kernel.name in ("rbf", "poly", "sigmoid"):
            seen = cluster_rows(X, 0.0, True)  # means in the space of X do better than under the kernel
        else:
            seen = CentredRows(landmarks.leading(options.start_coordinates))
        return Space(CentredRows(landmarks.coordinates), seen, landmarks)

    def _store_in(self, space: Space, X: Matrix, kernel: Kernel, weights: FloatArray, intercepts: FloatArray) -> None:
        """Store functions that are linear in a space."""
        if space.landmarks is None:
            self._store_function(LinearFunction(weights, intercepts), kernel)
        else:
            expansion = space.landmarks.expansion(weights)
            self._store_function(KernelFunction.over(X, kernel, expansion, intercepts), kernel)

    def _warn_if(self, condition: bool, message: str) -> None:
        if condition:
            warnings.warn(f"{type(self).__name__}: {message}", UserWarning, stacklevel=callers_level())
