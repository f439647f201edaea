"""Values of y that may be a class or mark an unlabeled row: what ``unlabeled="auto"`` makes of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellsvm._warnings import callers_level

__all__ = ["assumed_unlabeled", "refuse_empty_strings", "warn_of_words_for_missing"]

# What missing values become where an array is made text: np.array(["a", np.nan]) has the word "nan".
WORDS = ("nan", "NaN", "None", "<NA>", "NaT")


def warn_of_words_for_missing(known: NDArray[Any]) -> None:
    """Warn of labels that read like a missing value; they are a class."""
    for word in WORDS if known.dtype.kind in "UO" else ():
        if n := int(np.count_nonzero(known == word)):
            warnings.warn(
                f"y has {n} label(s) that read {word!r}, which is taken for a class. Pass unlabeled={word!r} if they "
                "mark unlabeled rows.",
                UserWarning,
                stacklevel=callers_level(),
            )


def refuse_empty_strings(known: NDArray[Any], rows: NDArray[np.intp]) -> None:
    """Raise ValueError for labels that are empty strings: files have them where a label is missing."""
    empty = known == "" if known.dtype.kind in "UO" else np.zeros(known.size, dtype=bool)
    if empty.any():
        raise ValueError(
            f"y has {int(empty.sum())} empty string(s), the first at index {rows[np.argmax(empty)]}: the empty string "
            "may be a class or stand for missing labels. Pass unlabeled=None if it is a class, or unlabeled='' if it "
            "marks unlabeled rows."
        )


def assumed_unlabeled(known: NDArray[Any]) -> NDArray[np.bool_]:
    """Apply ``unlabeled="auto"`` to a target without missing cells: which rows does -1 mark?"""
    nothing = np.zeros(known.size, dtype=bool)
    if known.dtype.kind not in "if" or not (known == -1).any():
        return nothing
    others = [v.item() for v in np.unique(known) if v != -1]
    if not others:
        raise ValueError(
            "y contains only -1: either every row is unlabeled (then use MaxMarginClustering) or y has 1 class, "
            "while at least 2 classes are needed."
        )
    if others == [1]:
        warnings.warn(
            "y contains only -1 and +1, so every row is treated as labeled. Pass unlabeled=None to confirm, "
            "or unlabeled=-1 if -1 marks unlabeled rows.",
            UserWarning,
            stacklevel=3,
        )
        return nothing
    if len(others) == 1:
        raise ValueError(
            f"y contains only -1 and {others[0]}: -1 may be a class or mark unlabeled rows. Pass unlabeled=None "
            "if it is a class, or unlabeled=-1 if it marks unlabeled rows."
        )
    if others == [0, 1]:
        warnings.warn(
            "y contains -1, 0 and 1: -1 is treated as unlabeled, 0 and 1 as classes. Pass unlabeled=-1 to "
            "confirm, unlabeled=0 if 0 marks unlabeled rows, or unlabeled=None if all three are classes.",
            UserWarning,
            stacklevel=3,
        )
    return np.asarray(known == -1)
