"""The checkpoint of an estimator: which file keeps its fit, and which problem that file belongs to."""

from __future__ import annotations

from typing import Any

from wellsvm.engine.checkpoint import Checkpoint, Stages
from wellsvm.rows import LinearRows, Rows

__all__ = ["stages_of"]


def stages_of(estimator: Any, rows: Rows, **problem: Any) -> Stages:
    """The stages of the estimator's fit, in the file that it is kept in."""
    if getattr(estimator, "neighbors", None) is not None:
        raise ValueError(
            f"checkpoint and neighbors={estimator.neighbors!r} cannot be combined; set one of them to None"
        )
    if not isinstance(rows, LinearRows):
        raise ValueError(f"checkpoint is for kernel='linear'; got kernel={estimator.kernel!r}: pass checkpoint=None")
    asked = estimator.get_params(deep=False)
    parameters = {name: value for name, value in asked.items() if name not in ("checkpoint", "n_jobs", "verbose")}
    described = {"parameters": {"class": type(estimator).__name__, **parameters}, "X": rows.squared_norms, **problem}
    return Stages(Checkpoint(estimator.checkpoint, described))
