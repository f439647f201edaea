"""The plan of splits: which rows, or bags, a method learns from, with which labels, and what it is tested on.

A split is drawn from the number of its repeat alone: all methods of an experiment see the same, in whatever order and
on however many processes they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize
from sklearn.utils import Bunch

from experiments.internals import Matrix

__all__ = ["Split", "SplitPlan", "bag_folds", "draw_of_each", "make_split", "scaling"]

# Random draws of the labeled rows, until every class has enough of them.
MOST_DRAWS = 1000


@dataclass(frozen=True)
class SplitPlan:
    """How rows are split.

    Attributes
    ----------
    labeled : float
        Labeled rows: a number, or a share of all rows.
    per_class : int
        Labeled rows of every class, at least.
    test : float
        Test rows: a number, or a share of all rows; 0: the unlabeled rows are the test.
    train : float or None
        Training rows, a number or a share; None: all that are not for the test.
    split : {"random", "stored"}
        Drawn, or the labeled rows that are stored with the data.
    draw : {"random", "shares"}
        Labels of any rows, or of every class as many as its share of the training rows.
    scale : {"features", "range", "overall", "rows", "none"}
        See `scaling`.
    dtype : {"float64", "float32"}
        Of X.
    share_of : {"all", "training"}
        Rows that ``labeled`` is a share of.
    test_draw : {"random", "shares"}
        Test rows: any, or of every class as many as its share of all rows.
    """

    labeled: float
    per_class: int = 2
    test: float = 0.25
    train: float | None = None
    split: str = "random"
    draw: str = "random"
    scale: str = "features"
    dtype: str = "float64"
    share_of: str = "all"
    test_draw: str = "random"


class Split(NamedTuple):
    """Training rows, their labels with NaN where hidden, test rows; and the labels that were hidden."""

    X: Matrix
    y: np.ndarray
    X_test: Matrix
    y_test: np.ndarray
    y_hidden: np.ndarray

    @property
    def labeled(self) -> tuple[Matrix, np.ndarray]:
        """The labeled rows and their labels."""
        rows = np.flatnonzero(~np.isnan(self.y))
        return self.X[rows], self.y[rows]


def make_split(data: Bunch, plan: SplitPlan, repeat: int) -> Split:
    """Training rows, partly labeled, and test rows: what ``repeat`` draws, or the stored split of that number."""
    y = np.asarray(data.y)
    rng = np.random.default_rng(repeat)
    if plan.split == "stored":
        rows, n_train = np.arange(y.size), y.size
        labeled = data.labeled_idx[int(plan.labeled)][repeat]
    else:
        rows = rng.permutation(y.size)
        n_test = int(plan.test if plan.test >= 1 else plan.test * y.size)
        if plan.test_draw == "shares":
            rows, n_test = _test_last(y, rows, n_test)
        n_train = y.size - n_test
        rows = np.concatenate([rows[: _count(plan.train, y.size) or n_train], rows[n_train:]])
        n_train = rows.size - (y.size - n_train)
        draw = _draw_by_shares if plan.draw == "shares" else _draw
        n_labeled = _count(plan.labeled, n_train if plan.share_of == "training" else y.size)
        labeled = draw(y[rows[:n_train]], n_labeled, plan.per_class, rng)
    train, test = rows[:n_train], rows[n_train:]
    y_partial = np.full(train.size, np.nan)
    y_partial[labeled] = y[train[labeled]]
    hidden = np.delete(train, labeled)
    if not plan.test:
        test = hidden
    X_train, X_test = data.X[train].astype(plan.dtype), data.X[test].astype(plan.dtype)
    scale = scaling(X_train, plan.scale)
    return Split(scale(X_train), y_partial, scale(X_test), y[test].astype(np.float64), y[hidden].astype(np.float64))


def _test_last(y: np.ndarray, rows: np.ndarray, n_test: int) -> tuple[np.ndarray, int]:
    """The rows with those for the test at the end, of every class its share of them, rounded; and their number."""
    classes, counts = np.unique(y, return_counts=True)
    numbers = np.rint(n_test * counts / y.size).astype(int)
    test = np.concatenate([rows[y[rows] == c][:n] for c, n in zip(classes, numbers)])
    return np.concatenate([rows[~np.isin(rows, test)], test]), test.size


def _count(wanted: float | None, n_rows: int) -> int:
    """A number of rows: the number itself, or a share of all rows."""
    return 0 if wanted is None else int(wanted) if wanted >= 1 else round(wanted * n_rows)


def _draw(y: np.ndarray, n_labeled: int, per_class: int, rng: np.random.Generator) -> np.ndarray:
    """Rows to label, drawn at random until every class has enough; of many classes, those first and then the rest."""
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < per_class:
        raise ValueError(f"class {classes[counts.argmin()]} has {counts.min()} training rows, fewer than {per_class}")
    n_labeled = max(n_labeled, per_class * classes.size)
    for _ in range(MOST_DRAWS):
        rows = rng.choice(y.size, n_labeled, replace=False)
        if all(np.count_nonzero(y[rows] == c) >= per_class for c in classes):
            return rows
    first = draw_of_each(y, per_class, rng)
    others = np.setdiff1d(np.arange(y.size), first)
    return np.concatenate([first, rng.choice(others, n_labeled - first.size, replace=False)])


def _draw_by_shares(y: np.ndarray, n_labeled: int, per_class: int, rng: np.random.Generator) -> np.ndarray:
    """Rows to label: of every class its share of them, rounded."""
    classes, counts = np.unique(y, return_counts=True)
    numbers = np.maximum(per_class, np.rint(n_labeled * counts / y.size).astype(int))
    return np.concatenate([rng.choice(np.flatnonzero(y == c), n, replace=False) for c, n in zip(classes, numbers)])


def draw_of_each(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` rows, or bags, of every class."""
    return np.concatenate([rng.choice(np.flatnonzero(y == c), n, replace=False) for c in np.unique(y)])


def bag_folds(y: np.ndarray, repeat: int, n_folds: int = 10) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test bags of a stratified cross-validation."""
    return iter(StratifiedKFold(n_folds, shuffle=True, random_state=repeat).split(y, y))


def scaling(X: Matrix, how: str) -> Callable[[Matrix], Matrix]:
    """How rows are scaled, learnt from X.

    "features": dense features are standardized, each for itself; "range": each is scaled to [0, 1]; "overall": all are
    divided by one length, so that components keep their relative lengths; "rows": every row has length 1; "none".
    """
    if how == "features" and not sparse.issparse(X):
        transform: Callable[[Matrix], Matrix] = StandardScaler().fit(X).transform
        return transform
    if how == "range":
        scale: Callable[[Matrix], Matrix] = MinMaxScaler().fit(X).transform
        return scale
    if how == "overall":
        length = np.sqrt(X.var(axis=0).mean())
        return lambda rows: rows / length
    if how == "rows":
        return normalize
    return lambda rows: rows
