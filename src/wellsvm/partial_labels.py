"""Which rows are labeled: one reading of a partly known target, shared by the whole library.

A target may say "no label here" in many ways: a mask, ``None``, ``NaN``, ``pd.NA``, ``pd.NaT``, a polars
null, or a value such as -1. :func:`normalize_partial_labels` turns all of them into class codes with -1 for
"unlabeled", so that no other module has to guess. pandas and polars objects are recognized by their methods,
never imported.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from wellsvm._ambiguous_labels import assumed_unlabeled, refuse_empty_strings, warn_of_words_for_missing

__all__ = [
    "PartialLabels",
    "class_order",
    "missing_cells",
    "normalize_partial_labels",
    "require_label_values",
    "require_no_infinity",
    "require_one_kind",
    "require_two_classes",
    "require_weight_of_every_class",
    "unlabeled_cells",
]

_NUMBERS = "biuf"
_DATES = "mM"


@dataclass(frozen=True, eq=False)  # eq=False: comparing arrays has no single truth value
class PartialLabels:
    """A target whose labels are known for some rows only.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Known classes in sorted order, of the caller's kind of dtype.
    codes : ndarray of shape (n_samples,), dtype intp
        Index into ``classes``; -1 where the row is unlabeled.
    labeled : ndarray of shape (n_samples,), dtype bool
        True where the label is known.
    """

    classes: NDArray[Any]
    codes: NDArray[np.intp]
    labeled: NDArray[np.bool_]


def normalize_partial_labels(y: Any, unlabeled: Any = "auto") -> PartialLabels:
    """Read a partly labeled target.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        NumPy or masked array, list, pandas or polars Series of integers, whole floats, booleans or strings.
        A column vector is flattened with scikit-learn's ``DataConversionWarning``.
    unlabeled : "auto", None, a value, or a collection of values, default="auto"
        The value or values that mark unlabeled rows. Missing cells (masked, None, NaN, NA, NaT, null) always mark them,
        unless this is None.

        - ``"auto"``: if any cell is missing, the missing cells are the unlabeled rows and -1 is an ordinary class:
          {-1, 0, 1, NaN} has three classes. Otherwise, -1 means unlabeled if there are at least two other values
          (with a warning for {-1, 0, 1}); {-1, +1} is fully labeled, with a warning; -1 with one other value, or
          alone, is an error. The text "-1" is never special. An empty string among other strings is an error, because
          it may be a class or a missing label. Since "auto" looks at the values present, a subset of ``y`` may be
          read differently from the whole; pass the value if that matters.
        - a value or a list, tuple, set or array of values: these mark unlabeled rows. They need not occur.
        - None: every row is labeled, and missing cells are an error.

    Returns
    -------
    PartialLabels
        One known class is enough here; see :func:`require_two_classes`.

    Raises
    ------
    ValueError
        For a missing, empty, two-dimensional, continuous, infinite or complex target, an ambiguous -1,
        an ambiguous empty string, missing cells with ``unlabeled=None``, or no label at all.
    TypeError
        For labels that mix strings with other types, bytes, or markers of a type that ``y`` cannot hold.
    """
    known, missing = _split_missing(y)
    n_missing = int(missing.sum())
    if missing.size == 0:
        raise ValueError("y has 0 samples while a minimum of 1 is required.")
    if unlabeled is None and n_missing:
        raise ValueError(
            f"every row must have a label here (unlabeled=None), but y has {n_missing} missing cell(s), the first at "
            f"index {int(np.argmax(missing))}. Fill them, or use an estimator that takes unlabeled rows, with "
            "unlabeled='auto'."
        )
    rows = np.flatnonzero(~missing)
    auto = isinstance(unlabeled, str) and unlabeled == "auto"
    if unlabeled is not None and not auto:
        keep = ~_equals_marker(known, unlabeled)
        rows, known = rows[keep], known[keep]
    _check_discrete(known, rows)
    if auto:
        refuse_empty_strings(known, rows)
        warn_of_words_for_missing(known)
    if auto and not n_missing:
        keep = ~assumed_unlabeled(known)
        rows, known = rows[keep], known[keep]
    if not known.size:
        raise ValueError(
            f"y is all unlabeled: none of its {missing.size} rows has a known class. Label some rows of each "
            "class, or use MaxMarginClustering, which needs no labels."
        )
    classes, inverse = np.unique(known, return_inverse=True)
    codes = np.full(missing.size, -1, dtype=np.intp)
    codes[rows] = inverse
    return PartialLabels(classes, codes, codes >= 0)


def class_order(classes: NDArray[Any]) -> NDArray[np.intp]:
    """The positions of the classes in sorted order, as scikit-learn's metrics expect columns of probabilities."""
    try:
        return np.argsort(classes, kind="stable")
    except TypeError:
        raise TypeError(
            "classes mixes values of different types, which have no order; use numbers or strings for all of them; got "
            f"{classes.tolist()!r:.80}"
        ) from None


def require_two_classes(partial: PartialLabels) -> None:
    """Raise ValueError unless at least two classes are known."""
    if partial.classes.size < 2:
        names = ", ".join(str(c) for c in partial.classes)
        raise ValueError(
            f"Training needs samples of at least 2 classes; y has {partial.classes.size} class: {names} "
            f"(on {int(partial.labeled.sum())} labeled of {partial.labeled.size} rows)."
        )


def require_weight_of_every_class(partial: PartialLabels, weight: NDArray[np.float64], name: str) -> None:
    """Raise ValueError if all labeled rows of a class have weight 0."""
    known = partial.codes[partial.labeled & (weight > 0)]
    without = np.flatnonzero(np.bincount(known, minlength=partial.classes.size) == 0)
    if without.size:
        raise ValueError(
            f"{name} is 0 for every labeled row of class {partial.classes[without[0]]}; give at least one of them a "
            "positive weight, or leave the class out"
        )


def _split_missing(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the cells that hold a value, and the mask of those that do not (over all rows)."""
    if y is None:
        raise ValueError("Fitting requires y to be passed, but the target y is None.")
    cells, missing = _container_missing(y)
    if cells.dtype.kind not in "OT" + _DATES + _NUMBERS + "U":
        raise _unknown_type(cells)
    extra = _absent(cells)
    if cells.dtype.kind in "OT":
        # A list carries no dtype of its own; an object array does, and keeps it if it holds strings.
        cells = _typed(cells[~extra].astype(object), keep_object=not isinstance(y, (list, tuple)))
    else:
        cells = cells[~extra]
    return cells, _with(missing, extra)


def missing_cells(values: Any) -> NDArray[np.bool_]:
    """Which cells hold no value.

    Parameters
    ----------
    values : array-like of shape (n,)
        NumPy or masked array, list, pandas or polars Series.

    Returns
    -------
    mask : bool array of shape (n,)
        True where a cell is masked, None, NaN, NA, NaT or null.
    """
    cells, missing = _container_missing(values)
    return _with(missing, _absent(cells))


def require_one_kind(y: Any) -> None:
    """Raise TypeError if labels mix text with other types, which NumPy would convert to text."""
    if isinstance(y, (list, tuple)) or str(getattr(y, "dtype", "")) == "object":
        kinds = {type(cell).__name__: isinstance(cell, str) for cell in y if not _is_missing(cell)}
        if len(set(kinds.values())) > 1:
            raise _mixed(kinds)


def require_label_values(y: Any) -> NDArray[Any]:
    """The cells that hold labels, as an array of their type; an error for values that cannot be labels, as by
    `normalize_partial_labels`."""
    known, missing = _split_missing(y)
    _check_discrete(known, np.flatnonzero(~missing))
    return known


def _mixed(kinds: Iterable[str]) -> TypeError:
    return TypeError(f"y mixes strings with other types ({', '.join(sorted(kinds))}); convert all labels to one type.")


def unlabeled_cells(y: Any, unlabeled: Any, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells hold no label, if the classes are already known. With "auto", -1 too, unless it is a class.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    unlabeled : "auto", None, a value, or a collection of values
        What marks an unlabeled row, in addition to missing values.
    classes : array of shape (n_classes,)
        Known classes.
    """
    missing = missing_cells(y)
    auto = isinstance(unlabeled, str) and unlabeled == "auto"
    markers = set([-1] if auto else _markers(unlabeled)) - set(classes.tolist())
    return missing | np.fromiter((cell in markers for cell in np.asarray(y).ravel().tolist()), bool, missing.size)


def _absent(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Cells that are a missing value themselves."""
    if cells.dtype.kind in "OT":
        return np.fromiter((_is_missing(v) for v in cells), dtype=bool, count=cells.size)
    if cells.dtype.kind in _DATES:
        return np.isnat(cells)
    return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(cells.size, dtype=bool)


def _with(missing: NDArray[np.bool_], extra: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Missing rows, and of the others those of ``extra``."""
    together = missing.copy()
    together[np.flatnonzero(~missing)[extra]] = True
    return together


def _container_missing(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Drop what the container itself marks as missing.

    Dropping before conversion keeps the dtype: an integer Series with one null would otherwise become float.
    """
    one_dimensional = len(getattr(y, "shape", ())) == 1
    if isinstance(y, np.ma.MaskedArray):
        cells = column_or_1d(np.ma.getdata(y), warn=True)
        missing = np.ma.getmaskarray(y).reshape(-1)
        return cells[~missing], missing
    if one_dimensional and hasattr(y, "is_null") and hasattr(y, "drop_nulls"):  # polars
        return column_or_1d(y.drop_nulls().to_numpy()), np.array(y.is_null().to_numpy(), dtype=bool)
    if one_dimensional and hasattr(y, "isna"):  # pandas
        missing = np.array(y.isna(), dtype=bool)
        return column_or_1d(np.asarray(y[~missing])), missing
    try:
        cells = np.asarray(y)
    except (TypeError, ValueError) as error:  # lists of different lengths
        raise ValueError(f"y is not a list of labels: {error}") from None
    if cells.dtype.kind == "U" and not isinstance(y, np.ndarray):
        cells = np.asarray(y, dtype=object)  # else NumPy would have written NaN and numbers out as text
    cells = column_or_1d(cells, warn=True)
    return cells, np.zeros(cells.size, dtype=bool)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":  # pd.NA has no truth value, so test it by name
        return True
    try:
        return bool(value != value)  # NaN and NaT are the values that differ from themselves
    except (TypeError, ValueError):
        return False


def _typed(cells: NDArray[Any], *, keep_object: bool) -> NDArray[Any]:
    """Give object cells without missing ones the dtype of their values."""
    n_strings = sum(isinstance(v, str) for v in cells)
    if n_strings == cells.size:
        return cells if keep_object else cells.astype(str)
    if n_strings:
        raise _mixed({type(v).__name__ for v in cells})
    try:
        typed = np.array(cells.tolist())
    except ValueError:  # cells are sequences of different lengths
        typed = cells
    if typed.ndim != 1 or typed.dtype.kind not in _NUMBERS + _DATES:
        raise _unknown_type(typed if typed.dtype.kind in "cS" else cells)
    return typed


def _unknown_type(cells: NDArray[Any]) -> Exception:
    if cells.dtype.kind == "c":
        return ValueError("Complex data not supported in y.")
    if cells.dtype.kind == "S":
        return TypeError("Labels of type bytes are not supported; convert y to strings or integers.")
    kind = type(cells[0]).__name__ if cells.size else str(cells.dtype)
    return ValueError(
        f"Unknown label type: {kind}. Labels must be integers (of at most 64 bits), whole floats, booleans or strings."
    )


def _equals_marker(known: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    """Mask of the cells equal to one of the caller's markers."""
    markers = _markers(unlabeled)
    text = known.dtype.kind in "UO"
    # Compare like with like only: NumPy would turn -1 into "-1" and find it among the strings.
    fitting = [m for m in markers if (isinstance(m, str) if text else _is_number_or_date(m))]
    if markers and not fitting and known.size:
        raise TypeError(
            f"unlabeled={unlabeled!r} can never occur in y, whose labels are "
            f"{'strings' if text else known.dtype.name}; pass a value of that type."
        )
    if not fitting:
        return np.zeros(known.size, dtype=bool)
    return np.isin(known, np.array(fitting, dtype=object if known.dtype.kind == "O" else None))


def _markers(unlabeled: Any) -> list[Any]:
    """The caller's markers, one by one; missing values mark rows anyway."""
    several = isinstance(unlabeled, (list, tuple, set, frozenset)) or np.ndim(unlabeled) == 1
    markers = [m for m in (unlabeled if several else np.ravel(unlabeled)) if not _is_missing(m)]
    if not all(isinstance(m, Hashable) for m in markers):
        raise TypeError(
            f"unlabeled={unlabeled!r:.80} must be a value that marks unlabeled rows, or a list of such values."
        )
    return markers


def _is_number_or_date(value: Any) -> bool:
    return isinstance(value, (Number, np.generic)) and not isinstance(value, (str, bytes))


def require_no_infinity(known: NDArray[Any], rows: NDArray[np.intp]) -> None:
    """Raise ValueError if a label is infinite, and name the first of ``rows`` that has one."""
    infinite = np.isinf(known) if known.dtype.kind == "f" else np.zeros(known.size, dtype=bool)
    if infinite.any():
        raise ValueError(f"Input y contains infinity, first at index {rows[np.argmax(infinite)]}.")


def _check_discrete(known: NDArray[Any], rows: NDArray[np.intp]) -> None:
    if known.dtype.kind != "f":
        return
    require_no_infinity(known, rows)
    fractional = known != np.trunc(known)
    if fractional.any():
        first = np.argmax(fractional)
        raise ValueError(
            f"Unknown label type: continuous. y[{rows[first]}] = {known[first]} is not a whole number; a "
            "classifier expects discrete classes, not a regression target."
        )
