"""Cross-validation and experiments with partly labeled targets.

Scores need known labels, training gains from unlabeled rows: so folds are cut from the labeled rows alone,
and every unlabeled row takes part in every training set.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import check_random_state

from wellsvm.partial_labels import PartialLabels, normalize_partial_labels, require_two_classes

__all__ = ["SemiSupervisedSplit", "hide_labels"]

IndexArray = NDArray[np.intp]


def splitter_or_folds(cv: Any) -> Any:
    """The splitter that ``cv`` is, or its folds as a list, since a generator would be used up by the first call."""
    no_folds = isinstance(cv, (str, bytes, bytearray, type))  # text has a split too, and the class of a splitter
    if not no_folds and callable(getattr(cv, "split", None)):
        return cv
    if no_folds or not hasattr(cv, "__iter__") or (isinstance(cv, np.ndarray) and cv.ndim == 0):
        raise ValueError(f"cv={cv!r} must be an int, a splitter or an iterable of (train, test).")
    return list(cv)


class SemiSupervisedSplit(BaseCrossValidator):
    """Folds over the labeled rows, with every unlabeled row in each training set.

    Parameters
    ----------
    cv : int, splitter or iterable, default=5
        - int: number of stratified folds of the labeled rows. If the smallest class has fewer labeled rows,
          that many folds are made, with a warning.
        - scikit-learn splitter: applied to the labeled rows only. It sees their labels and groups, and a
          placeholder of the right length for X.
        - iterable of (train, test) index arrays into all rows, as scikit-learn takes it: unlabeled rows move
          from the test to the training part.
    unlabeled : "auto", None, a value, or a collection of values, default="auto"
        The value or values that mark unlabeled rows; see :func:`wellsvm.partial_labels.normalize_partial_labels`.
    shuffle : bool, default=False
        Shuffle the rows of each class before cutting folds; only with an int ``cv``.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling; only with ``shuffle=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm.model_selection import SemiSupervisedSplit
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> for train, test in SemiSupervisedSplit(cv=2, unlabeled=-1).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    def __init__(
        self, cv: Any = 5, *, unlabeled: Any = "auto", shuffle: bool = False, random_state: Any = None
    ) -> None:
        is_int = isinstance(cv, Integral) and not isinstance(cv, bool)
        if is_int and cv < 2:
            raise ValueError(f"cv={cv} must be at least 2 folds.")
        if not is_int:
            cv = splitter_or_folds(cv)
        if not is_int and (shuffle or random_state is not None):
            raise ValueError(f"shuffle={shuffle} and random_state={random_state} apply to an int cv only.")
        if random_state is not None and not shuffle:
            raise ValueError(f"random_state={random_state} has no effect without shuffle=True.")
        self.cv = cv
        self.unlabeled = unlabeled
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds; with an int ``cv`` and ``y`` given, the number that ``y`` allows."""
        if isinstance(self.cv, list):
            return len(self.cv)
        if y is None:
            return int(self.cv) if isinstance(self.cv, Integral) else int(self.cv.get_n_splits(X, y, groups))
        partial = normalize_partial_labels(y, self.unlabeled)
        if isinstance(self.cv, Integral):
            return _feasible_folds(int(self.cv), partial)
        rows = np.flatnonzero(partial.labeled)
        labels = partial.classes[partial.codes[rows]]
        return int(self.cv.get_n_splits(np.zeros((rows.size, 1)), labels, _take(groups, rows, partial.labeled.size)))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[IndexArray, IndexArray]]:
        """Yield sorted (train, test) row indices.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Ignored; a placeholder of length n_samples is enough.
        y : array-like of shape (n_samples,)
            Target with unlabeled rows.
        groups : array-like of shape (n_samples,), default=None
            Passed, for the labeled rows, to a splitter given as ``cv``.
        """
        partial = normalize_partial_labels(y, self.unlabeled)
        labeled = partial.labeled
        for number, (train, test) in enumerate(self._parts(partial, groups)):
            in_test = np.zeros(labeled.size, dtype=bool)
            in_test[test] = True
            in_test &= labeled
            in_train = ~labeled
            in_train[train] = True
            if not in_test.any():
                raise ValueError(f"Fold {number} of cv has no labeled row in its test part, so it cannot be scored.")
            yield np.flatnonzero(in_train), np.flatnonzero(in_test)

    def _parts(self, partial: PartialLabels, groups: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (train, test) row indices before unlabeled rows are put in their place."""
        if isinstance(self.cv, list):
            for number, fold in enumerate(self.cv):
                yield _fold(fold, number, partial.labeled.size)
            return
        splitter = self.cv
        if isinstance(splitter, Integral):
            n_splits = _feasible_folds(int(splitter), partial)
            if n_splits < int(splitter):
                warnings.warn(
                    f"cv={splitter} lowered to {n_splits} folds, the number of labeled rows in the smallest "
                    "class; label more rows of it, or pass a smaller cv.",
                    UserWarning,
                    stacklevel=3,
                )
            splitter = StratifiedKFold(n_splits, shuffle=self.shuffle, random_state=self.random_state)
        rows = np.flatnonzero(partial.labeled)
        labels = partial.classes[partial.codes[rows]]
        for train, test in splitter.split(np.zeros((rows.size, 1)), labels, _take(groups, rows, partial.labeled.size)):
            # A splitter made for all rows (PredefinedSplit, say) would pick wrong ones without this test.
            if max(np.max(train, initial=0), np.max(test, initial=0)) >= rows.size:
                raise ValueError(
                    f"cv={self.cv!r} gives indices beyond the {rows.size} labeled rows it is applied to. "
                    "If it was made for all rows, pass cv=list(splitter.split(X, y)) instead."
                )
            yield rows[train], rows[test]


def hide_labels(
    y: Any,
    fraction: float | None = None,
    *,
    n_labeled: int | None = None,
    stratify: bool = True,
    unlabeled: Any = None,
    random_state: Any = None,
) -> Any:
    """Return a copy of ``y`` with some labels hidden, to turn labeled data into a semi-supervised problem.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of at least two classes. Rows that are unlabeled already stay so and do not count: missing
        cells and cells equal to ``unlabeled``; if that is None, also -1 next to at least two other values
        (pass ``unlabeled=np.nan`` if -1 is a class there).
    fraction : float in [0, 1), default=None
        Share of the labels to hide. Pass either this or ``n_labeled``.
    n_labeled : int, default=None
        Number of labels to keep.
    stratify : bool, default=True
        Keep the class proportions among the remaining labels. In any case, at least one row of each class stays
        labeled, even if ``fraction`` would leave fewer.
    unlabeled : scalar, default=None
        Value that marks the hidden rows. None chooses by the type of the labels: -1 for integers that are all >= 0, a
        masked array for other integers and for booleans, NaN for floats, NaT for dates, None in an object array for
        strings.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of rows.

    Returns
    -------
    ndarray or Series of shape (n_samples,)
        For a pandas or polars Series, a Series with the same index and name; with ``unlabeled=None``, hidden cells are
        missing values if the type has one, as categorical types do. For anything else, a NumPy array, masked only as
        described under ``unlabeled``.

    Examples
    --------
    >>> from wellsvm.model_selection import hide_labels
    >>> hide_labels([0, 0, 2, 2], n_labeled=2, random_state=0)
    array([-1,  0,  2, -1])
    """
    if not isinstance(stratify, (bool, np.bool_)):
        raise TypeError(f"stratify={stratify!r:.80} must be True or False.")
    if np.ndim(unlabeled) or isinstance(unlabeled, (set, frozenset)):
        raise TypeError(f"unlabeled={unlabeled!r} must be a single value, which marks the hidden rows.")
    partial = normalize_partial_labels(y, () if unlabeled is None else unlabeled)
    if unlabeled is None and partial.classes.size > 2 and partial.classes.dtype.kind in "if":
        # Only now can -1 mean "unlabeled"; two values are two classes, and "auto" would ask about them.
        partial = normalize_partial_labels(y, "auto")
    require_two_classes(partial)
    rows = np.flatnonzero(partial.labeled)
    n_keep = _labels_to_keep(fraction, n_labeled, rows.size, partial.classes.size)
    kept = _choose(partial.codes[rows], n_keep, stratify, check_random_state(random_state))
    codes = np.full_like(partial.codes, -1)
    codes[rows[kept]] = partial.codes[rows[kept]]
    return _as_given(y, _decode(partial.classes, codes, unlabeled), codes < 0, unlabeled)


def _fold(fold: Any, number: int, n_rows: int) -> tuple[IndexArray, IndexArray]:
    """The train and test rows of a fold that the caller gives, as indices."""
    try:
        train, test = (np.arange(n_rows)[np.asarray(part)].reshape(-1) for part in fold)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"fold {number} of cv must be two lists of rows between 0 and {n_rows - 1}, to train and to test: {error}"
        ) from error
    return train, test


def _take(groups: Any, rows: IndexArray, n_rows: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise ValueError(f"groups has shape {groups.shape}; expected one group for each of the {n_rows} rows.")
    return groups[rows]


def _feasible_folds(n_splits: int, partial: PartialLabels) -> int:
    """Largest number of folds up to ``n_splits`` that puts every class in each test part."""
    counts = np.bincount(partial.codes[partial.labeled])
    smallest = int(counts.argmin())
    if counts[smallest] < 2:
        raise ValueError(
            f"Class {partial.classes[smallest]!s} has 1 labeled row, so it cannot be in both parts of a fold "
            f"(cv={n_splits}). Label more rows of it, leave it out, or pass a splitter such as cv=KFold(5)."
        )
    return min(n_splits, int(counts[smallest]))


def _labels_to_keep(fraction: float | None, n_labeled: int | None, n_known: int, n_classes: int) -> int:
    if (fraction is None) == (n_labeled is None):
        raise ValueError(f"Give one of fraction and n_labeled, not {fraction=} and {n_labeled=}.")
    if n_labeled is not None:
        if not isinstance(n_labeled, Integral) or isinstance(n_labeled, bool):
            raise TypeError(f"n_labeled={n_labeled!r} must be an int.")
        if not n_classes <= n_labeled <= n_known:
            raise ValueError(
                f"n_labeled={n_labeled} must be in [{n_classes}, {n_known}]: at least one row of each class, "
                "at most all labels."
            )
        return int(n_labeled)
    if not isinstance(fraction, Real) or isinstance(fraction, bool):
        raise TypeError(f"fraction={fraction!r} must be a float.")
    if not 0 <= fraction < 1:
        raise ValueError(f"fraction={fraction} must be in [0, 1).")
    return max(n_classes, n_known - round(float(fraction) * n_known))


def _choose(codes: IndexArray, n_keep: int, stratify: bool, rng: np.random.RandomState) -> IndexArray:
    """Positions of ``n_keep`` labels, at least one of each class."""
    order = rng.permutation(codes.size)
    if stratify:
        quota = _proportional(np.bincount(codes), n_keep)
        return np.concatenate([order[codes[order] == c][:n] for c, n in enumerate(quota)])
    _, first = np.unique(codes[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)])[:n_keep]


def _proportional(counts: IndexArray, total: int) -> IndexArray:
    """Split ``total`` in the proportions of ``counts``, at least 1 and at most ``counts`` each."""
    exact = counts * (total / counts.sum())
    share = np.clip(np.floor(exact).astype(np.intp), 1, counts)
    while share.sum() < total:
        share[np.argmax(np.where(share < counts, exact - share, -np.inf))] += 1
    while share.sum() > total:
        share[np.argmax(np.where(share > 1, share - exact, -np.inf))] -= 1
    return share


def _decode(classes: NDArray[Any], codes: IndexArray, marker: Any) -> NDArray[Any]:
    """Write classes where ``codes >= 0`` and the marker elsewhere."""
    hidden, kind = codes < 0, classes.dtype.kind
    values = classes[codes]  # code -1 reads the last class, overwritten below
    if marker is None and kind in "iu" and classes[0] >= 0:
        marker = -1
    if marker is not None:
        # Next to strings anything else must stay an object, or NumPy would write it out as text.
        mark = np.asarray(marker, dtype=object if kind in "UO" and not isinstance(marker, str) else None)
        try:
            wide = np.promote_types(np.int64 if kind == "u" else classes.dtype, mark.dtype)
        except TypeError as error:
            raise TypeError(f"unlabeled={marker!r} cannot be combined with labels of type {classes.dtype}.") from error
        return np.where(hidden, mark.astype(wide), values.astype(wide))
    if kind in "bi":
        return np.ma.MaskedArray(values, mask=hidden)
    if kind in "UO":
        values = values.astype(object)
        values[hidden] = None
    else:
        values[hidden] = np.nan if kind == "f" else np.array("NaT", dtype=classes.dtype)
    return values


def _as_given(y: Any, values: NDArray[Any], hidden: NDArray[np.bool_], marker: Any) -> Any:
    """The values as a Series where y is one."""
    package = type(y).__module__.partition(".")[0]
    if package == "pandas" and hasattr(y, "iloc") and hasattr(y, "name"):
        own_missing = marker is None and not isinstance(y.dtype, np.dtype)
        if own_missing or np.ma.isMaskedArray(values):
            return y.convert_dtypes().mask(hidden) if isinstance(y.dtype, np.dtype) else y.mask(hidden)
        return type(y)(values, index=y.index, name=y.name)
    if package == "polars" and hasattr(y, "name"):
        return type(y)(y.name, values.tolist(), strict=False)
    return values
