"""Groups of rows and their class proportions: one reading of a dict, an array or a data frame, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wellsvm._arguments import at_least, at_most
from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels, class_order, missing_cells, normalize_partial_labels

__all__ = ["GroupShares", "read_group_shares"]


@dataclass(frozen=True)
class GroupShares:
    """Groups and bounds on the share of each class in them.

    Attributes
    ----------
    known : PartialLabels
        Classes, sorted, and the labels that are known.
    names : array of shape (n_groups,)
        Names of the groups.
    rows : array of shape (n_rows,)
        Group of every row, as an index into ``names``.
    low, high : arrays of shape (n_groups, n_classes)
        Bounds on the shares.
    """

    known: PartialLabels
    names: np.ndarray
    rows: IntArray
    low: FloatArray
    high: FloatArray

    @property
    def positive(self) -> list[int]:
        """The positive class of every two-class problem."""
        n_classes = len(self.known.classes)
        return [1] if n_classes == 2 else list(range(n_classes))

    def bounds(self, k: int, slack: float, y_known: LabelArray) -> tuple[IntArray, IntArray]:
        """Bounds on the number of rows of class k among those of unknown label in every group.

        A share that is one number becomes the nearest whole number of rows; known rows of the class are taken off.
        """
        n_groups = len(self.low)
        size = np.bincount(self.rows, minlength=n_groups)
        free = np.bincount(self.rows[y_known == 0], minlength=n_groups)
        found = np.bincount(self.rows[y_known == 1], minlength=n_groups)
        low, high = np.maximum(self.low[:, k] - slack, 0) * size, np.minimum(self.high[:, k] + slack, 1) * size
        least = np.array([at_least(a) if a < b else round(a) for a, b in zip(low, high)], dtype=np.int64)
        most = np.array([at_most(b) if a < b else round(b) for a, b in zip(low, high)], dtype=np.int64)
        narrow = least > most  # no whole number inside: the nearest to the middle
        least[narrow] = most[narrow] = np.round((low + high) / 2)[narrow]
        if np.any(self.low[:, k] > 0) or np.any(self.high[:, k] < 1):
            self._check_known(k, found, free, least, most)
        return np.clip(least - found, 0, free), np.clip(most - found, 0, free)

    def _check_known(self, k: int, found: IntArray, free: IntArray, least: IntArray, most: IntArray) -> None:
        wrong = np.flatnonzero((found > most + 1) | (found + free < least - 1))  # rounding may cost one row
        if wrong.size:
            g = int(wrong[0])
            name, group = self.known.classes.tolist()[k], self.names.tolist()[g]
            raise ValueError(
                f"proportions ask for {least[g]} to {most[g]} rows of class {name!r} in group {group!r}, but y already "
                f"has {found[g]} there and {free[g]} rows without a label; correct one of them or raise slack"
            )


def read_group_shares(n_rows: int, y: Any, groups: Any, proportions: Any, classes: Any, unlabeled: Any) -> GroupShares:
    """Read what `ProportionSVC.fit` takes; see there."""
    try:
        partial = None if y is None else normalize_partial_labels(y, unlabeled)
    except ValueError as error:
        hint = " If y holds the shares of groups, pass them as proportions=..." if proportions is None else ""
        raise ValueError(f"{error}{hint}") from error
    if partial is not None and partial.codes.size != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y {partial.codes.size}"
        )
    if groups is None and proportions is not None:
        raise ValueError("proportions needs groups: pass groups=..., with the group of every row")
    if groups is None:
        if partial is None:
            raise ValueError(
                "groups is None: ProportionSVC without groups and proportions requires y to be passed, but the target "
                "y is None"
            )
        if not partial.labeled.all():
            raise ValueError(
                "groups is None, so nothing is known about the unlabeled rows: pass groups and proportions"
            )
        names, rows = np.array([0]), np.zeros(n_rows, dtype=np.int64)
    else:
        names, rows = _groups(groups, n_rows, partial)
    low, high, columns = _bounds(proportions, names, partial)
    named = _classes(classes, columns, partial, low.shape[1])
    order = class_order(named)
    named, low, high = named[order], low[:, order], high[:, order]
    codes = np.full(n_rows, -1, dtype=np.intp)
    if partial is not None:
        place = {name: k for k, name in enumerate(named.tolist())}
        missing = [name for name in partial.classes.tolist() if name not in place]
        if missing:
            raise ValueError(f"y contains the class {missing[0]!r}, which is not one of the classes {named.tolist()}")
        of_classes = np.array([place[name] for name in partial.classes.tolist()])
        codes[partial.labeled] = of_classes[partial.codes[partial.labeled]]
    if len(named) < 2:
        raise ValueError(f"Training needs at least 2 classes; proportions and y name 1 class: {named.tolist()}")
    return GroupShares(PartialLabels(named, codes, codes >= 0), names, rows, low, high)


def _groups(groups: Any, n_rows: int, partial: PartialLabels | None) -> tuple[np.ndarray, IntArray]:
    """Names and numbers of the groups; rows without one get a group of their own, whose labels must be known."""
    missing = missing_cells(groups)
    cells = np.asarray(groups, dtype=object).ravel()
    if cells.size != n_rows:
        raise ValueError(f"groups must have one entry for each of the {n_rows} rows; got {cells.size}")
    if missing.any() and (partial is None or not partial.labeled[missing].all()):
        raise ValueError(
            f"row {int(np.argmax(missing))} has neither a group nor a label; leave it out, or give it one of them"
        )
    try:
        names, inverse = np.unique(np.array(cells[~missing].tolist()), return_inverse=True)
    except (TypeError, ValueError):
        raise TypeError("groups mixes values of different types; use numbers or strings for all of them") from None
    rows = np.full(n_rows, len(names), dtype=np.int64)
    rows[~missing] = inverse
    return names, rows


def _bounds(proportions: Any, names: np.ndarray, partial: PartialLabels | None) -> tuple[FloatArray, FloatArray, Any]:
    """Bounds of shape (n_groups, n_classes), a last free group for rows without one, and the classes if they tell."""
    n_known = 2 if partial is None else max(2, len(partial.classes))
    if proportions is None:
        if partial is None or not partial.labeled.all():
            raise ValueError("proportions is None: pass the share of every class in each group, or an interval")
        given = [[(0.0, 1.0)] * n_known] * len(names)
        columns = None
    else:
        given, columns = _listed(proportions, names)
    widths = {len(entry) for entry in given}
    if len(widths) > 1:
        raise ValueError(f"proportions must give every group the same number of classes; got {sorted(widths)}")
    width = widths.pop()
    if width < 2:
        raise ValueError(f"proportions must give a share of two or more classes; got {width} for each group")
    ends = np.array([given[g] if g < len(given) else [(0.0, 1.0)] * width for g in range(len(names) + 1)])
    low, high = ends[:, :, 0], ends[:, :, 1]
    total_low, total_high = low.sum(axis=1), high.sum(axis=1)
    wrong = np.flatnonzero((total_low > 1 + Options.shares_slack) | (total_high < 1 - Options.shares_slack))
    if wrong.size:
        g = int(wrong[0])
        raise ValueError(f"proportions of group {names[g]!r} sum to {total_low[g]:g}; those of all classes sum to 1")
    return low, high, columns


def _listed(proportions: Any, names: np.ndarray) -> tuple[list[list[tuple[float, float]]], Any]:
    """For every group a list of intervals, one per class, and the classes where a data frame or dict names them."""
    columns = None
    if hasattr(proportions, "columns") and hasattr(proportions, "index"):  # a data frame
        columns = list(proportions.columns)
        proportions = dict(zip(list(proportions.index), np.asarray(proportions).tolist()))
    elif hasattr(proportions, "index") and hasattr(proportions, "to_dict"):  # a series
        proportions = proportions.to_dict()
    if isinstance(proportions, dict):
        missing = [name for name in names.tolist() if name not in proportions]
        if missing:
            raise ValueError(f"proportions has no entry for group {missing[0]!r}")
        entries = [proportions[name] for name in names.tolist()]
        if entries and isinstance(entries[0], dict):
            columns = list(entries[0])
            entries = [[entry.get(c, 0.0) for c in columns] for entry in entries]
    else:
        entries = np.asarray(proportions).tolist()
        if not isinstance(entries, list) or len(entries) != len(names):
            n = len(entries) if isinstance(entries, list) else 1
            raise ValueError(f"proportions has entries for {n} groups, but groups names {len(names)}")
    return [_entry(entry, name) for entry, name in zip(entries, names.tolist())], columns


def _entry(entry: Any, name: Any) -> list[tuple[float, float]]:
    """The intervals of one group; a share or an interval alone is that of the second of two classes."""
    if isinstance(entry, tuple) and len(entry) == 2:
        low, high = _interval(entry, name)
        return [(1 - high, 1 - low), (low, high)]
    if isinstance(entry, (list, np.ndarray)):
        return [_interval(part, name) for part in entry]
    low, high = _interval(entry, name)
    return [(1 - high, 1 - low), (low, high)]


def _interval(value: Any, name: Any) -> tuple[float, float]:
    ends = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise TypeError(f"proportions of group {name!r} must be shares or intervals of shares; got {value!r}") from None
    if not 0 <= low <= high <= 1:
        raise ValueError(
            f"proportions of group {name!r} must be shares between 0 and 1, or intervals (low, high) of them; got "
            f"{value!r}"
        )
    return low, high


def _classes(classes: Any, columns: Any, partial: PartialLabels | None, width: int) -> np.ndarray:
    """Names of the classes: as given, as the columns are called, as in y, or 0, 1, ..."""
    if classes is not None:
        named = np.asarray(classes)
    elif columns is not None:
        named = np.asarray(columns)
    elif partial is not None and (len(partial.classes) == width or partial.labeled.all()):
        named = partial.classes
    else:
        named = np.arange(width)
    if named.ndim != 1 or len(set(named.tolist())) != named.size or (named.size != width and named.size > 1):
        raise ValueError(f"classes must name {width} different classes, one per column of proportions; got {classes!r}")
    return named
