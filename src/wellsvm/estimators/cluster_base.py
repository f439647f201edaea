"""What both ways to find clusters share, together and by division: rows, the price, warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wellsvm._input import is_sparse
from wellsvm._typing import IntArray, Matrix
from wellsvm._warnings import callers_level
from wellsvm.estimators.base import KernelModel
from wellsvm.options import Options
from wellsvm.rows import CentredRows, GramRows, LinearRows
from wellsvm.rows.block_rows import CentredBlockRows, linear_rows
from wellsvm.rows.blocks import Blocks

__all__ = ["TIES_SPLIT", "ClusterModel", "cluster_rows"]

TIES_SPLIT = (
    "rows of equal decision value were divided by their index to keep the balance; predict puts them into one cluster. "
    "Raise balance, or drop duplicate rows or constant features."
)


def cluster_rows(X: Matrix, bias: float, center: bool) -> LinearRows:
    """Rows of X, in memory or in blocks; dense ones less their mean if ``center``."""
    if not center or is_sparse(X):
        return linear_rows(X, bias)
    return CentredBlockRows(X, bias) if isinstance(X, Blocks) else CentredRows(X, bias)


class ClusterModel(KernelModel):
    """Parameters, and attributes of a fit."""

    C: Any
    balance: Any
    loss: Any
    kernel: Any
    fit_intercept: bool
    center: bool
    n_init: int
    n_jobs: Any
    labels_: IntArray
    children_: IntArray | None

    def _price(self, rows: GramRows | LinearRows) -> float:
        """C, resolved on the rows as they are used."""
        self.C_ = self.C
        if self.C == "scale":
            squared = float(np.mean(rows.squared_norms)) - rows.bias**2
            self.C_ = Options.scaled_C / squared if squared > np.finfo(np.float64).tiny else Options.scaled_C
        return float(self.C_)

    def _warn_if(self, condition: bool, message: str) -> None:
        if condition:
            warnings.warn(f"{type(self).__name__}: {message}", UserWarning, stacklevel=callers_level())
