"""Which rows are positive: a target that names one class, all other rows being unlabeled."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from wellsvm._arguments import require_class
from wellsvm.partial_labels import PartialLabels, missing_cells, unlabeled_cells

__all__ = ["read_positives"]

# Pairs of values of which the first marks unlabeled rows, as in other libraries.
USUAL = ((0, 1), (-1, 1))


def read_positives(y: Any, n_rows: int, unlabeled: Any, positive_class: Any, negative_class: Any) -> PartialLabels:
    """Read a target of positive and unlabeled rows; classes are the negative and the positive one, in this order.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        One class, and what marks unlabeled rows.
    n_rows : int
        Number of rows of X.
    unlabeled, positive_class, negative_class :
        As in `PositiveUnlabeledSVC`.
    """
    if y is None:
        raise ValueError("PositiveUnlabeledSVC requires y to be passed, but the target y is None.")
    require_class("positive_class", positive_class)
    require_class("negative_class", negative_class)
    missing = missing_cells(y)
    cells = np.asarray(y, dtype=object).ravel()
    if cells.size != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y {cells.size}")
    strange = [cell for cell in cells[~missing] if not isinstance(cell, Hashable)]
    if strange:
        raise TypeError(f"y contains {strange[0]!r}, which is not a class; use numbers or strings")
    present = set(cells[~missing].tolist())
    _check_cells(present)
    auto = isinstance(unlabeled, str) and unlabeled == "auto"
    marked = missing if auto else unlabeled_cells(y, unlabeled, np.empty(0))
    markers = set(cells[marked & ~missing].tolist())
    left = present - markers
    if positive_class is None:
        positive_class = _only(left, markers | ({None} if missing.any() else set()))
    elif positive_class not in left:
        raise ValueError(f"positive_class={positive_class!r} does not occur in y, which holds {_shown(present)}")
    markers |= left - {positive_class}
    if len(markers) > 1 and auto:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y holds {_shown(markers)} in addition to positive_class={positive_class!r}, and negative rows cannot be "
            "given here. Name all of them in unlabeled=[...], or use SemiSupervisedSVC, which takes labels of both "
            "classes."
        )
    labeled = np.array([not absent and cell == positive_class for cell, absent in zip(cells, missing)], dtype=np.bool_)
    if labeled.all():
        raise ValueError(
            f"y contains only one class, {positive_class!r}, and no row is unlabeled; mark such rows with unlabeled="
        )
    negative = _negative(positive_class, markers) if negative_class is None else negative_class
    if negative == positive_class:
        raise ValueError(f"negative_class={negative!r} is also the positive class; choose another name")
    classes = np.array([negative, positive_class])
    if classes.dtype.kind in "US" and not isinstance(positive_class, str):
        raise TypeError(f"negative_class={negative!r} and the positive class {positive_class!r} are of different types")
    return PartialLabels(classes, np.where(labeled, 1, -1).astype(np.intp), labeled)


def _check_cells(present: set[Any]) -> None:
    for value in present:
        if isinstance(value, (bytes, complex)) or not isinstance(value, (int, float, str, np.generic)):
            raise ValueError(f"Unknown label type: {value!r} in y; labels are numbers, booleans or strings")
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(f"Unknown label type: continuous. y contains {value}, which is not a class")


def _only(left: set[Any], markers: set[Any]) -> Any:
    """The positive class where y does not mark it otherwise."""
    if len(left) == 1 and markers:
        return next(iter(left))
    if not left:
        raise ValueError("y has no positive rows: all are marked as unlabeled")
    if not markers:
        for pair in USUAL:
            if left == set(pair):
                return next(value for value in left if value == 1)
    if len(left) == 1:
        raise ValueError(
            f"y has only one class, {_shown(left)}: mark unlabeled rows with a missing value, 0, -1, or unlabeled=..."
        )
    raise ValueError(
        f"y contains {_shown(left)}, so the positive class is not clear: pass positive_class=..., or unlabeled=... "
        "for the values that mark unlabeled rows (classes need 1 label here, the positive one)"
    )


def _negative(positive: Any, markers: set[Any]) -> Any:
    """What a negative row is called."""
    if len(markers) == 1:
        return next(iter(markers))
    if isinstance(positive, str):
        return f"not {positive}"
    if isinstance(positive, (bool, np.bool_)):
        return not positive
    return 0 if positive != 0 else -1


def _shown(values: set[Any]) -> str:
    return ", ".join(sorted(map(repr, values))[:5]) + (", ..." if len(values) > 5 else "")
