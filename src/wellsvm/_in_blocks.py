"""X that is no matrix in memory: rows in blocks, and dask collections, which become such or stay lazy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from scipy import sparse

from wellsvm._typing import Matrix
from wellsvm.rows.blocks import Blocks

__all__ = ["blocks_of", "check_blocks", "computed", "is_sparse", "lazy_on_dask", "require_linear"]

Method = TypeVar("Method", bound=Callable[..., Any])


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, dataframe or series; dask is not imported to find out."""
    return "dask" in sys.modules and sys.modules["dask"].is_dask_collection(X)


def blocks_of(X: Any) -> Blocks | None:
    """X as rows in blocks, where it is such or a dask collection; else None."""
    if isinstance(X, Blocks):
        return X
    if not is_dask(X):
        return None
    from wellsvm.dask import rows

    return rows(X)


def computed(y: Any) -> Any:
    """Labels in memory, from a dask collection or as they are."""
    return y.compute() if is_dask(y) else y


def check_blocks(estimator: Any, X: Blocks, *, reset: bool) -> Blocks:
    """Check width and names against those of `fit`; with ``reset`` keep them instead."""
    if reset:
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if X.feature_names is not None:
            estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def is_sparse(X: Matrix) -> bool:
    """Whether rows are sparse, in memory or in blocks."""
    return X.is_sparse if isinstance(X, Blocks) else sparse.issparse(X)


def require_linear(kernel: Any, X: Matrix) -> None:
    """Refuse rows in blocks under another kernel: its values are those of all pairs of rows."""
    if isinstance(X, Blocks) and not (isinstance(kernel, str) and kernel == "linear"):
        raise ValueError(
            f"kernel={kernel!r} needs all rows in memory, and X is in blocks; pass kernel='linear', or make features "
            "that stand for the kernel, block by block: fit sklearn.kernel_approximation.Nystroem on a sample such as "
            "X[:1000], transform every block, and write the result with wellsvm.write_rows"
        )


def lazy_on_dask(method: Method) -> Method:
    """A method that maps rows to values gives, for a dask array or dataframe, a dask array that is not computed yet."""

    @wraps(method)
    def lazy(self: Any, X: Any) -> Any:
        if not (is_dask(X) or getattr(X, "is_lazy", False)):
            return method(self, X)
        from wellsvm.dask import lazily

        return lazily(self, method.__name__, X)

    return cast(Method, lazy)
