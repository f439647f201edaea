"""Candidate labels: for each row a set of classes, one of which is true; one label set per class against the rest."""

from __future__ import annotations

import numpy as np

from wellsvm._typing import BoolArray, IntArray
from wellsvm.labels.balanced import BalancedLabels

__all__ = ["candidate_sets"]


def candidate_sets(candidates: BoolArray, counts: IntArray) -> list[BalancedLabels]:
    """One set for every class: rows with only this candidate are positive, rows without it negative, others free.

    Parameters
    ----------
    candidates : bool array of shape (n_rows, n_classes)
        Which classes a row may have.
    counts : int array of shape (n_classes,)
        Number of rows of each class, including certain ones.
    """
    certain = candidates.sum(axis=1) == 1
    sets = []
    for k, count in enumerate(counts):
        possible = candidates[:, k]
        y_known = np.where(possible, np.where(certain, 1, 0), -1).astype(np.int8)
        n_free = int(np.count_nonzero(possible & ~certain))
        sets.append(BalancedLabels(y_known, int(np.clip(count - np.count_nonzero(possible & certain), 0, n_free))))
    return sets
