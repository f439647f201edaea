"""Where the fit of an estimator is kept, if it is: in which file, and for which problem."""

from __future__ import annotations

import os
from typing import Any

from wellsvm.engine.checkpoint import Checkpoint
from wellsvm.rows import LinearRows, Rows

__all__ = ["checkpoint_of", "require_path"]


def require_path(checkpoint: Any) -> None:
    """Refuse a checkpoint of a wrong kind: before data are looked at, or a long fit begins."""
    if checkpoint is not None and not isinstance(checkpoint, (str, os.PathLike)):
        raise TypeError(f"checkpoint must be the path of a file or None; got checkpoint={checkpoint!r}")


def checkpoint_of(estimator: Any, rows: Rows, **problem: Any) -> Checkpoint:
    """The file that the estimator's fit is kept in."""
    if getattr(estimator, "neighbors", None) is not None:
        raise ValueError(
            f"checkpoint and neighbors={estimator.neighbors!r} cannot be combined; set one of them to None"
        )
    if not isinstance(rows, LinearRows):
        raise ValueError(f"checkpoint is for kernel='linear'; got kernel={estimator.kernel!r}: pass checkpoint=None")
    asked = estimator.get_params(deep=False)
    parameters = {name: value for name, value in asked.items() if name not in ("checkpoint", "n_jobs", "verbose")}
    told = {"parameters": {"class": type(estimator).__name__, **parameters}, "X": rows.squared_norms, **problem}
    return Checkpoint(estimator.checkpoint, told)
