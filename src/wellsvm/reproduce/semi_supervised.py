"""Section 5.1: semi-supervised classification, with the parameters chosen by cross-validation or fixed.

The paper's choice, "all parameters are determined by the five-fold cross-validated accuracy", is made in two steps, the
same for all methods: the kernel by that of the supervised SVM, then what a method does with unlabeled rows, for that
kernel. Of kernels with equal accuracy the one with the smaller loss on the held-out rows is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time
from typing import Any, ClassVar, NamedTuple

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import Bunch

from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm._typing import Matrix
from wellsvm.baselines import CCCPSVM, S4VM, TSVM, AnnealedS3VM, GradientS3VM, LaplacianSVM
from wellsvm.geometry.kernels import Kernel, mean_squared_distance
from wellsvm.model_selection import SemiSupervisedSplit
from wellsvm.reproduce.outcome import Outcome

__all__ = ["METHODS", "run"]

# Random draws of the labeled rows, until every class has enough of them.
MOST_DRAWS = 1000


@dataclass(frozen=True)
class Settings:
    """How an experiment of this section is made; the README of the protocols says what each key means."""

    labeled: float
    per_class: int = 2
    test: float = 0.25
    split: str = "random"
    train: float | None = None
    scale: str = "features"
    kernels: tuple[float | str, ...] = ("linear",)
    loss: str = "auto"
    Cs_unlabeled: tuple[float, ...] = ()
    neighbors: tuple[int, ...] = (6,)
    folds: int = 5
    C: float = 1.0
    C_unlabeled: float = 0.1
    balance: Any = "labels"
    dtype: str = "float64"


class Split(NamedTuple):
    """Training rows, their labels with NaN where hidden, and test rows."""

    X: Matrix
    y: np.ndarray
    X_test: Matrix
    y_test: np.ndarray


@dataclass(frozen=True)
class Fitted:
    """A model, and the parameters that were chosen for it."""

    model: ClassifierMixin
    chosen: dict[str, Any] = field(default_factory=dict)


def run(data: Bunch, settings: dict[str, Any], method: str, repeat: int, figure: str) -> Outcome:
    """One method on one split: accuracy, or error in per cent, on the rows that no method has seen the labels of."""
    how = Settings(**settings)
    split = make_split(data, how, repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels, few folds: known, and the same for all methods
        began = process_time()
        fitted = METHODS[method](split, how, repeat)
        seconds = process_time() - began
        accuracy = float(fitted.model.score(split.X_test, split.y_test))
    n_iter = getattr(fitted.model, "n_iter_", None) if method == "WellSVM" else None
    value = 100 * (1 - accuracy) if figure == "error" else accuracy
    return Outcome(value, seconds, n_iter, fitted.chosen)


def make_split(data: Bunch, how: Settings, repeat: int) -> Split:
    """Training rows, partly labeled, and test rows: what ``repeat`` draws, or the stored splits of the set.

    Without a share of test rows the unlabeled ones are the test.
    """
    X, y = data.X, np.asarray(data.y)
    rng = np.random.default_rng(repeat)
    if how.split == "stored":
        rows, n_train = np.arange(y.size), y.size
        labeled = data.labeled_idx[int(how.labeled)][repeat]
    else:
        rows = rng.permutation(y.size)
        n_train = y.size - int(how.test * y.size)
        rows = np.concatenate([rows[: _count(how.train, y.size) or n_train], rows[n_train:]])
        n_train = rows.size - (y.size - n_train)
        labeled = _draw(y[rows[:n_train]], _count(how.labeled, y.size), how.per_class, rng)
    train, test = rows[:n_train], rows[n_train:]
    y_partial = np.full(train.size, np.nan)
    y_partial[labeled] = y[train[labeled]]
    if not how.test:
        test = np.delete(train, labeled)
    X_train, X_test = _scaled(X[train], X[test], how)
    return Split(X_train, y_partial, X_test, y[test].astype(np.float64))


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
    first = np.concatenate([rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in classes])
    others = np.setdiff1d(np.arange(y.size), first)
    return np.concatenate([first, rng.choice(others, n_labeled - first.size, replace=False)])


def _scaled(X_train: Matrix, X_test: Matrix, how: Settings) -> tuple[Matrix, Matrix]:
    X_train, X_test = X_train.astype(how.dtype), X_test.astype(how.dtype)
    if how.scale == "features" and not sparse.issparse(X_train):
        scaler = StandardScaler().fit(X_train)
        return scaler.transform(X_train), scaler.transform(X_test)
    if how.scale == "overall":  # components keep their relative lengths
        length = np.sqrt(X_train.var(axis=0).mean())
        return X_train / length, X_test / length
    return X_train, X_test


# ---------------------------------------------------------------------------------------------------- kernels


def choose_kernel(split: Split, how: Settings, seed: int) -> dict[str, Any]:
    """Parameters of the kernel: the only one, or by cross-validation of the supervised SVM."""
    kernels = [_kernel(split.X, name) for name in how.kernels]
    if len(kernels) == 1:
        return kernels[0]
    X, y = _labeled(split)
    n_folds = max(2, min(how.folds, int(np.unique(y, return_counts=True)[1].min())))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)

    def merit(kernel: dict[str, Any]) -> tuple[float, float]:
        values = cross_val_predict(_svc(how.C, kernel, y), X, y, cv=folds, method="decision_function")
        if values.ndim > 1:
            return float(np.mean(np.unique(y)[values.argmax(axis=1)] == y)), 0.0
        right = np.where(y == y.max(), values, -values)
        return float(np.mean(right > 0)), -float(np.mean(np.maximum(0.0, 1.0 - right) ** 2))

    return max(kernels, key=merit)


def _svc(C: float, kernel: dict[str, Any], y: np.ndarray) -> Any:
    """The supervised SVM; more than two classes one against the rest, as in the other methods."""
    svm = SVC(C=C, **kernel)
    return svm if np.unique(y).size == 2 else OneVsRestClassifier(svm)


def _kernel(X: Matrix, name: float | str) -> dict[str, Any]:
    """The linear kernel, or the Gaussian of width s: ``gamma = m / (2 s^2)`` with 1/m the mean squared distance."""
    if isinstance(name, str):
        return {"kernel": name}
    return {"kernel": "rbf", "gamma": 1 / (2 * name**2 * mean_squared_distance(X))}


def _labeled(split: Split) -> tuple[Matrix, np.ndarray]:
    rows = np.flatnonzero(~np.isnan(split.y))
    return split.X[rows], split.y[rows]


# ---------------------------------------------------------------------------------------------------- methods

Method = Callable[[Split, Settings, int], Fitted]


def supervised(split: Split, how: Settings, seed: int) -> Fitted:
    """The standard SVM, which sees the labeled rows alone."""
    kernel = choose_kernel(split, how, seed)
    if kernel == {"kernel": "linear"} and sparse.issparse(split.X):
        model = LinearSVC(C=how.C, loss="hinge", max_iter=20_000, random_state=seed)
    else:
        model = _svc(how.C, kernel, _labeled(split)[1])
    return Fitted(model.fit(*_labeled(split)), kernel)


def wellsvm(split: Split, how: Settings, seed: int) -> Fitted:
    """SemiSupervisedSVCCV, or SemiSupervisedSVC where there is nothing to choose."""
    kernel = choose_kernel(split, how, seed)
    common = {"C": how.C, "loss": how.loss, "balance": how.balance, "random_state": seed, **kernel}
    if not how.Cs_unlabeled:
        model = SemiSupervisedSVC(C_unlabeled=how.C_unlabeled, **common)
        return Fitted(model.fit(split.X, split.y), kernel)
    model = SemiSupervisedSVCCV(Cs_unlabeled=how.Cs_unlabeled, cv=how.folds, **common)
    model.fit(split.X, split.y)
    return Fitted(model, {**kernel, "C_unlabeled": model.C_unlabeled_})


def rival(cls: type) -> Method:
    """A rival that has prices C and C_unlabeled as we do."""

    def fit(split: Split, how: Settings, seed: int) -> Fitted:
        kernel = choose_kernel(split, how, seed)
        model = cls(C=how.C, C_unlabeled=how.C_unlabeled, balance=how.balance, random_state=seed, **kernel)
        return _searched(model, split, how, kernel, {"C_unlabeled": how.Cs_unlabeled})

    return fit


class SharedGraphs(LaplacianSVM):
    """LapSVM for a search: its many fits on the same rows share their kernel matrix and graph."""

    graphs: ClassVar[dict[str, Any]] = {}

    def _rows(self, X: Matrix, kernel: Kernel) -> Any:
        key = joblib.hash((X, kernel, self.n_neighbors, self.normalized))
        graph = self.graphs.get(key)  # once: a search in another thread may empty them
        if graph is None:
            graph = self.graphs[key] = super()._rows(X, kernel)
        return graph


def laplacian(split: Split, how: Settings, seed: int) -> Fitted:
    """LapSVM: ``gamma_A = 1 / (2 C)``; gamma_I from the values of the others' C_unlabeled."""
    kernel = choose_kernel(split, how, seed)
    model = SharedGraphs(gamma_A=1 / (2 * how.C), gamma_I=how.C_unlabeled, random_state=seed, **kernel)
    try:
        return _searched(model, split, how, kernel, {"gamma_I": how.Cs_unlabeled, "n_neighbors": how.neighbors})
    finally:
        SharedGraphs.graphs.clear()


def _searched(model: Any, split: Split, how: Settings, kernel: dict[str, Any], grid: dict[str, Any]) -> Fitted:
    """The model fitted; with parameters of the best cross-validated accuracy if there are any to choose from."""
    if not how.Cs_unlabeled:
        return Fitted(model.fit(split.X, split.y), kernel)
    values = {name: list(values) for name, values in grid.items()}
    search = GridSearchCV(model, values, cv=SemiSupervisedSplit(how.folds))
    search.fit(split.X, split.y)
    return Fitted(search.best_estimator_, {**kernel, **search.best_params_})


METHODS: dict[str, Method] = {
    "SVM": supervised,
    "TSVM": rival(TSVM),
    "LapSVM": laplacian,
    "USVM": rival(CCCPSVM),
    "∇S3VM": rival(GradientS3VM),
    "∇DA": rival(AnnealedS3VM),
    "S4VM": rival(S4VM),
    "WellSVM": wellsvm,
}
