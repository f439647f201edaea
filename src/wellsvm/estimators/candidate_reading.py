"""Candidate classes of rows: a matrix, a list of sets, or plain labels, read and checked."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._input import checked_sparse
from wellsvm._typing import BoolArray
from wellsvm.partial_labels import class_order, normalize_partial_labels

__all__ = ["read_candidates"]


def read_candidates(Y: Any, n_rows: int, classes: Any) -> tuple[np.ndarray, BoolArray]:
    """Return the classes, sorted, and, of shape (n_rows, n_classes), which of them each row may have.

    Parameters
    ----------
    Y : bool or 0/1 matrix of shape (n_rows, n_classes), sequence of sets, or labels of shape (n_rows,)
        Candidates of every row; an empty set says nothing, so that every class is a candidate.
    n_rows : int
        Number of rows of X.
    classes : sequence or None
        Names of the columns; None: those of a data frame, 0, 1, ..., or the sorted members of the sets.
    """
    if Y is None:
        raise ValueError("CandidateLabelSVC requires y to be passed, but the target y is None.")
    if hasattr(Y, "columns") and classes is None:
        classes = list(Y.columns)
    if sparse.issparse(Y):
        Y = checked_sparse(Y, "y").toarray()
    if np.ndim(Y if hasattr(Y, "ndim") else 0) == 2 and np.shape(Y)[1] > 1:
        named, candidates = _of_matrix(np.asarray(Y), classes)
    elif isinstance(Y, (list, tuple)) and any(_is_set(cell) for cell in Y):
        named, candidates = _of_sets(Y, classes)
    elif isinstance(Y, np.ndarray) and Y.dtype == object and Y.ndim == 1 and any(_is_set(cell) for cell in Y):
        named, candidates = _of_sets(Y.tolist(), classes)
    else:
        partial = normalize_partial_labels(Y, None)
        named, candidates = _of_sets([{c} for c in partial.classes[partial.codes].tolist()], classes)
    if len(candidates) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y {len(candidates)}"
        )
    if named.size < 2:
        raise ValueError(f"Training needs at least 2 classes; y names {named.size} class: {named.tolist()}")
    never = ~candidates.any(axis=0)
    if never.any():
        raise ValueError(
            f"class {named[int(np.argmax(never))]!r} is not a candidate of any row; leave it out of classes and y"
        )
    if candidates.all():
        raise ValueError("every class is a candidate of every row, so the classes cannot be distinguished")
    order = class_order(named)
    return named[order], candidates[:, order]


def _is_set(cell: Any) -> bool:
    return isinstance(cell, (set, frozenset, list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim == 1)


def _of_matrix(Y: np.ndarray, classes: Any) -> tuple[np.ndarray, BoolArray]:
    if Y.dtype.kind not in "biufO" or not np.isin(Y, [0, 1]).all():
        raise ValueError(
            "a matrix of candidates must be boolean, or hold 0 and 1: one row per sample, one column per class"
        )
    named = np.arange(Y.shape[1]) if classes is None else np.asarray(classes)
    if named.shape != (Y.shape[1],) or len(set(named.tolist())) != named.size:
        raise ValueError(f"classes must name the {Y.shape[1]} columns of y, all different; got classes={classes!r}")
    candidates = Y.astype(np.bool_)
    return named, candidates | ~candidates.any(axis=1, keepdims=True)


def _of_sets(sets: Any, classes: Any) -> tuple[np.ndarray, BoolArray]:
    for i, cell in enumerate(sets):
        if not _is_set(cell) or not isinstance(cell, Sized):
            way = "set() where all classes are possible" if cell is None else f"{{{cell!r}}}"
            raise TypeError(f"y[{i}] = {cell!r} is not a set of classes, but other entries of y are; use {way}")
    try:
        present = sorted({c for cell in sets for c in cell})
    except TypeError:
        raise TypeError("y mixes classes of different types; use numbers or strings for all of them") from None
    named = np.array(present) if classes is None else np.asarray(classes)
    if named.ndim != 1:
        raise TypeError(f"classes must be a list of classes or None; got classes={classes!r}")
    place = {c: k for k, c in enumerate(named.tolist())}
    candidates = np.zeros((len(sets), named.size), dtype=np.bool_)
    for i, cell in enumerate(sets):
        for c in np.asarray(list(cell)).tolist():
            if c not in place:
                raise ValueError(f"y[{i}] holds the class {c!r}, which is not one of classes={named.tolist()}")
            candidates[i, place[c]] = True
    return named, candidates | ~candidates.any(axis=1, keepdims=True)
