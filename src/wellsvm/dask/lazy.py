"""Predictions for rows on a cluster, as dask arrays that are not computed yet."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np

from wellsvm.dask.blocks import DaskRows
from wellsvm.dask.partitions import partitions_of
from wellsvm.dask.tasks import applied

__all__ = ["lazily"]


def lazily(model: Any, method: str, X: Any) -> Any:
    """A method of a model on a dask array or dataframe, or on `rows`: a dask array that is not computed yet."""
    import dask.array as da

    if isinstance(X, DaskRows):
        parts, width, sizes = X.parts, X.shape[1], np.diff(X.offsets).tolist()
    else:
        parts, _ = partitions_of(X)
        width = X.shape[1]
        known = not hasattr(X, "columns") and not np.isnan(X.chunks[0]).any()
        sizes = list(X.chunks[0]) if known else [np.nan] * len(parts)
    names = list(X.columns) if hasattr(X, "columns") else None
    some = _named_row(X, names) if names else np.zeros((1, width))
    sample = applied(model, method, some)
    held, call = dask.delayed(model), dask.delayed(applied)
    made = [
        da.from_delayed(call(held, method, part), (size, *sample.shape[1:]), sample.dtype)
        for part, size in zip(parts, sizes)
    ]
    return da.concatenate(made, axis=0)


def _named_row(X: Any, names: list[Any]) -> Any:
    return X._meta_nonempty.head(1)[names] if hasattr(X, "_meta_nonempty") else np.zeros((1, len(names)))
