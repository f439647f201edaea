"""What ``verbose`` prints at the end of a fit: how many rows were labeled, were assigned a class, are uncertain."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._class_shares import NOT_USED, shares_told
from wellsvm._typing import BoolArray, Matrix
from wellsvm.engine.report import tell

__all__ = ["tell_outcome"]


def tell_outcome(model: Any, X: Matrix, labeled: BoolArray) -> None:
    """Print what a fitted semi-supervised model found for its training rows."""
    values = model._evaluate(X)
    lead = np.abs(values[:, 0]) if values.shape[1] == 1 else np.diff(np.sort(values, axis=1)[:, -2:], axis=1)[:, 0]
    names, counts = np.unique(model.transduction_[~labeled], return_counts=True)
    found = ", ".join(f"{name}: {count:,}" for name, count in zip(names.tolist(), counts))
    tell(
        f"{labeled.size:,} rows: {labeled.sum():,} labeled, {(~labeled).sum():,} found ({found or 'none'}), of which "
        f"{np.sum(~labeled & (lead < 1)):,} are uncertain (inside the margin)"
    )
    if told := shares_told(model):
        tell(f"class shares: {told}")
    if not model.used_unlabeled_:
        tell(f"unlabeled rows: {NOT_USED}")
    endings = [model.status_] if isinstance(model.status_, str) else model.status_
    tell("ended: " + "; ".join(dict.fromkeys(endings)))
