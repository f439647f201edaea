"""Errors and warnings where tools of scikit-learn cannot handle unlabeled rows.

These tools take a marker such as -1 for a class. A score is given y, so the case is clear there. A fit sees y as its
caller changed it: only the call stack shows that the caller calibrates probabilities, or has encoded the labels.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

from wellsvm._warnings import OURS, callers_level
from wellsvm.partial_labels import PartialLabels, require_label_values, unlabeled_cells

__all__ = ["require_labels", "require_marked"]

TOOLS = "wellsvm.model_selection.SemiSupervisedSplit or scoring=wellsvm.metrics.make_labeled_scorer(...)"
# Modules that fit on codes 0, 1, ... in place of y: votes and stacks, bagging, one-vs-rest.
ENCODING = ("sklearn.ensemble._base", "sklearn.ensemble._bagging", "sklearn.multiclass")


def require_labels(y: Any, unlabeled: Any, classes: np.ndarray) -> np.ndarray:
    """The labels to score by, of their own type: scikit-learn cannot compare numbers among objects, as they are where
    others were None. Rows that have no label, or something that is none, are refused."""
    labels = require_label_values(y)
    n_unlabeled = int(np.count_nonzero(unlabeled_cells(y, unlabeled, classes)))
    if n_unlabeled:
        raise ValueError(
            f"{n_unlabeled} of the {len(y)} rows to score are unlabeled and cannot be scored: score only labeled rows, "
            f"in searches and cross-validation with cv={TOOLS}"
        )
    return labels


def require_marked(estimator: str, partial: PartialLabels, unlabeled: Any) -> None:
    """Refuse or warn where unlabeled rows would be, or may have been, taken for a class; warn where there are none."""
    if not partial.labeled.all():
        if _called_from("sklearn.calibration"):
            raise ValueError(
                "CalibratedClassifierCV treats the marker of unlabeled rows as a class, whatever its cv: use "
                "SemiSupervisedSVC(probability=True), or calibrate FrozenEstimator(model) on labeled rows kept aside "
                f"(searches and scores, but not calibration, accept unlabeled rows through cv={TOOLS})"
            )
        return
    message = (
        f"{estimator}: no row of y is unlabeled, so this is a plain supervised SVM; mark unlabeled rows with NaN, None "
        "or the value given as unlabeled=..."
    )
    if unlabeled is not None and _called_from(*ENCODING):
        message = (
            f"{estimator} inside an ensemble or one-vs-rest of scikit-learn, which encode y and turn the marker of "
            "unlabeled rows into a class: leave these rows out and pass unlabeled=None, or fit it on its own (searches "
            f"and scores, but not ensembles, accept unlabeled rows through cv={TOOLS})"
        )
        if not (isinstance(unlabeled, str) and unlabeled == "auto"):
            raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=callers_level())


def _called_from(*modules: str) -> bool:
    """Whether the present fit was called by one of these modules of scikit-learn.

    The search ends at the first caller outside of it: estimators of others may hide labels and know what they do.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name in modules:
            return True
        if name.split(".")[0] not in OURS:
            return False
        frame = frame.f_back
    return False
