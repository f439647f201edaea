"""What plots and reports read from a fitted model: one run of the cutting plane per two-class problem."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from wellsvm._typing import FloatArray
from wellsvm.engine.report import Record

__all__ = ["Run", "final_estimator", "has_runs", "run_named", "runs_of"]


class Run(NamedTuple):
    """One run of the cutting plane.

    Attributes
    ----------
    name : object
        The class that is positive, or the number of the division; None if there is one run.
    history : list of Record
        One record per label vector.
    status : str
        Why it ended.
    weights : array of shape (n_labelings,)
        Weights mu of the label vectors.
    labelings : array of shape (n_labelings, n_rows), or None
        The label vectors; None where the model was saved or pickled, which leaves them out.
    """

    name: Any
    history: list[Record]
    status: str
    weights: FloatArray
    labelings: np.ndarray | None

    def relative(self, quantity: str, least: float = 0.0) -> FloatArray:
        """Gap or violation of every record as a share of the objective, as ``tol`` counts them."""
        values = np.array([getattr(record, quantity) for record in self.history])
        scale = np.abs([record.objective for record in self.history])
        return np.maximum(values / np.maximum(scale, np.finfo(float).tiny), least)

    def votes(self) -> FloatArray:
        """Weighted mean of the label vectors, for every row."""
        assert self.labelings is not None
        return self.weights @ self.labelings


def final_estimator(model: Any) -> Any:
    """The fitted estimator inside a Pipeline or a search; the model itself if it is neither."""
    check_is_fitted(model)
    if hasattr(model, "best_estimator_"):
        return final_estimator(model.best_estimator_)
    if hasattr(model, "steps"):
        return final_estimator(model[-1])
    return model


def has_runs(model: Any) -> bool:
    """Whether a fitted model was made by the cutting plane; rivals were not."""
    return hasattr(model, "labeling_weights_")


def runs_of(model: Any) -> list[Run]:
    """The runs of a fitted model, also inside a Pipeline or a search."""
    model = final_estimator(model)
    if not has_runs(model):
        raise TypeError(
            f"{type(model).__name__} has no labeling_weights_, because it generates no label vectors; use an estimator "
            "such as SemiSupervisedSVC, MultiInstanceSVC or MaxMarginClustering"
        )
    labelings = getattr(model, "labelings_", None)
    if isinstance(model.status_, str):
        return [Run(None, model.history_, model.status_, model.labeling_weights_, labelings)]
    names = model.classes_.tolist() if hasattr(model, "classes_") else range(len(model.status_))
    vectors = [None] * len(model.status_) if labelings is None else labelings
    return [Run(*run) for run in zip(names, model.history_, model.status_, model.labeling_weights_, vectors)]


def run_named(runs: list[Run], name: Any) -> Run:
    """The run of a class or division; the first if ``name`` is None."""
    if not runs:
        raise ValueError("the model has no label vectors: a single cluster needs no division")
    if name is None:
        return runs[0]
    found = [run for run in runs if run.name == name]
    if not found:
        raise ValueError(f"problem={name!r} is not one of {[run.name for run in runs]}")
    return found[0]
