"""Section 5.1: semi-supervised classification, with the parameters chosen by cross-validation or fixed.

The paper's choice, "all parameters are determined by the five-fold cross-validated accuracy", is made in two steps, the
same for all methods: the kernel by that of the supervised SVM, then what a method does with unlabeled rows, for that
kernel. Of kernels with equal accuracy the one with the smaller loss on the held-out rows is taken. The column "as in
the paper" chooses kernel and C_unlabeled together, as the paper does; it has no C_unlabeled = 0 to choose.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import Bunch

from experiments.internals import Matrix
from experiments.paper.joint_choice import FoldFits, best_candidate
from experiments.paper.outcome import Outcome
from experiments.paper.protocol import method_name
from experiments.splits import Split, SplitPlan, make_split
from experiments.widths import gamma_of_width
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.baselines import (
    CCCPSVM,
    S4VM,
    TSVM,
    AnnealedS3VM,
    BranchAndBoundS3VM,
    ContinuationS3VM,
    GradientS3VM,
    LaplacianSVM,
    NewtonS3VM,
)
from wellsvm.model_selection import SemiSupervisedSplit

__all__ = ["METHODS", "Choices", "run"]


# Masters of the column "as in the paper" are solved to this relative gap: to as_in_paper's 1e-8 one fit on lds_text
# does not end in ten minutes.
MASTER_TOL = 1e-2
# Where its parameters are chosen there are up to 210 fits for one figure. Those of the folds have few label vectors and
# rough masters, the last one as many vectors as the paper ever saw ("always fewer than 25").
FOLD_TOL, FOLD_VECTORS, MOST_VECTORS = 1e-1, 5, 25
# Branch and bound is given up after so many nodes: some seconds on the 200 rows of 2moons.
MOST_NODES = 20_000


@dataclass(frozen=True)
class Choices:
    """Parameters, fixed or to choose from; the README of the protocols says what each means."""

    kernels: tuple[float | str, ...] = ("linear",)
    squared_distance: bool = True
    loss: str = "auto"
    Cs_unlabeled: tuple[float, ...] = ()
    neighbors: tuple[int, ...] = (6,)
    folds: int = 5
    C: float = 1.0
    C_unlabeled: float = 0.1
    balance: Any = "labels"
    cross_validated: bool = False
    defaults: bool = False
    trace: bool = False
    of_equals: str = "first"
    fit_intercept: bool = False


class Chosen(NamedTuple):
    """A fitted model, and the parameters that were chosen for it."""

    model: ClassifierMixin
    parameters: dict[str, Any]


def run(data: Bunch, settings: dict[str, Any], method: str, repeat: int, figure: str) -> Outcome:
    """One method on one split: accuracy, or error in per cent, on the rows that no method has seen the labels of."""
    of_split = {field.name for field in fields(SplitPlan)}
    plan = SplitPlan(**{name: value for name, value in settings.items() if name in of_split})
    choices = Choices(**{name: value for name, value in settings.items() if name not in of_split})
    split = make_split(data, plan, repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels, few folds: known, and the same for all methods
        began = process_time()
        chosen = METHODS[method_name(method)](split, choices, repeat)
        seconds = process_time() - began
        accuracy = float(chosen.model.score(split.X_test, split.y_test))
    n_iter = getattr(chosen.model, "n_iter_", None) if method.startswith(("WellSVM", "as in the paper")) else None
    value = 100 * (1 - accuracy) if figure == "error" else accuracy
    return Outcome(value, seconds, n_iter, chosen.parameters)


# ---------------------------------------------------------------------------------------------------- kernels


def choose_kernel(split: Split, choices: Choices, seed: int) -> dict[str, Any]:
    """Parameters of the kernel: the only one, or by cross-validation of the supervised SVM."""
    kernels = _kernels(split.X, choices)
    if len(kernels) == 1:
        return kernels[0]
    X, y = split.labeled
    n_folds = max(2, min(choices.folds, int(np.unique(y, return_counts=True)[1].min())))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)

    def merit(kernel: dict[str, Any]) -> tuple[float, float]:
        values = cross_val_predict(_svc(choices.C, kernel, y), X, y, cv=folds, method="decision_function")
        if values.ndim > 1:
            return float(np.mean(np.unique(y)[values.argmax(axis=1)] == y)), 0.0
        right = np.where(y == y.max(), values, -values)
        return float(np.mean(right > 0)), -float(np.mean(np.maximum(0.0, 1.0 - right) ** 2))

    return max(kernels, key=merit)


def _svc(C: float, kernel: dict[str, Any], y: np.ndarray) -> Any:
    """The supervised SVM; more than two classes one against the rest, as in the other methods."""
    svm = SVC(C=C, **kernel)
    return svm if np.unique(y).size == 2 else OneVsRestClassifier(svm)


def _kernels(X: Matrix, choices: Choices) -> list[dict[str, Any]]:
    """Of every kernel to choose from its parameters: the linear one, or the Gaussian of a width."""
    return [
        {"kernel": name}
        if isinstance(name, str)
        else {"kernel": "rbf", "gamma": gamma_of_width(X, name, choices.squared_distance)}
        for name in choices.kernels
    ]


# ---------------------------------------------------------------------------------------------------- methods

Method = Callable[[Split, Choices, int], Chosen]


def supervised(split: Split, choices: Choices, seed: int) -> Chosen:
    """The standard SVM, which sees the labeled rows alone."""
    kernel = choose_kernel(split, choices, seed)
    if kernel == {"kernel": "linear"} and sparse.issparse(split.X):
        model = LinearSVC(C=choices.C, loss="hinge", max_iter=20_000, random_state=seed)
    else:
        model = _svc(choices.C, kernel, split.labeled[1])
    return Chosen(model.fit(*split.labeled), kernel)


def larger_class(split: Split, choices: Choices, seed: int) -> Chosen:
    """No method: every row has the label that most labeled rows have."""
    return Chosen(DummyClassifier(strategy="most_frequent").fit(*split.labeled), {})


def wellsvm(split: Split, choices: Choices, seed: int) -> Chosen:
    """SemiSupervisedSVC or SemiSupervisedSVCCV, at their defaults or with the prices and the grid of the table."""
    if choices.defaults:
        return _at_defaults(split, choices, seed)
    if choices.cross_validated:
        return _cross_validated(split, choices, seed)
    kernel = choose_kernel(split, choices, seed)
    common = {"C": choices.C, "loss": choices.loss, "balance": choices.balance, "random_state": seed, **kernel}
    if not choices.Cs_unlabeled:
        model = SemiSupervisedSVC(C_unlabeled=choices.C_unlabeled, **common)
        return Chosen(model.fit(split.X, split.y), kernel)
    model = SemiSupervisedSVCCV(Cs_unlabeled=choices.Cs_unlabeled, cv=choices.folds, **common)
    model.fit(split.X, split.y)
    return Chosen(model, {**kernel, "C_unlabeled": model.C_unlabeled_})


def _at_defaults(split: Split, choices: Choices, seed: int) -> Chosen:
    """SemiSupervisedSVC at its defaults, with the table's kernel. It may find that unlabeled rows do not help."""
    kernel = choose_kernel(split, choices, seed)
    model = SemiSupervisedSVC(random_state=seed, **kernel).fit(split.X, split.y)
    return Chosen(model, {**kernel, "C_unlabeled": model.C_unlabeled_ if model.used_unlabeled_ else 0.0})


def _cross_validated(split: Split, choices: Choices, seed: int) -> Chosen:
    """SemiSupervisedSVCCV: all but C and the kind of the kernel at its defaults, which choose by labeled rows alone.

    Where every class has one label none can be held out; SemiSupervisedSVC is all there is then.
    """
    kernel = choose_kernel(split, choices, seed)
    if np.unique(split.labeled[1], return_counts=True)[1].max() == 1:
        return Chosen(SemiSupervisedSVC(C=choices.C, random_state=seed, **kernel).fit(split.X, split.y), kernel)
    model = SemiSupervisedSVCCV(C=choices.C, random_state=seed, **kernel).fit(split.X, split.y)
    chosen = {"gamma": model.gamma_, "neighbors": model.neighbors_, "C_unlabeled": model.C_unlabeled_}
    return Chosen(model, {**kernel, **chosen})


def as_in_paper(true_shares: bool = False) -> Method:
    """The paper's algorithm and protocol; with the labels' shares of the classes or with the unlabeled rows' true
    ones."""

    def fit(split: Split, choices: Choices, seed: int) -> Chosen:
        model = SemiSupervisedSVC.as_in_paper(
            C=choices.C,
            C_unlabeled=choices.C_unlabeled,
            balance=choices.balance,
            random_state=seed,
            tol=MASTER_TOL,
            fit_intercept=choices.fit_intercept,
        )
        if true_shares:
            model.set_params(balance=_shares(split))
        kernels = _kernels(split.X, choices)
        if not choices.Cs_unlabeled and len(kernels) == 1:
            if choices.trace:
                model.set_params(max_iter=MOST_VECTORS)
            model.set_params(**kernels[0]).fit(split.X, split.y)
            objectives = {"objectives": [record.objective for record in model.history_]} if choices.trace else {}
            return Chosen(model, {**kernels[0], **objectives})
        prices = choices.Cs_unlabeled or (choices.C_unlabeled,)
        grid = [{**kernel, "C_unlabeled": price} for price in prices for kernel in kernels]
        if choices.of_equals == "last":
            grid.reverse()
        fits = FoldFits(clone(model).set_params(tol=FOLD_TOL, max_iter=FOLD_VECTORS), split, choices.folds)
        best = best_candidate(len(grid), len(fits.folds), lambda k, fold: fits.score(grid[k], fold))
        parameters = grid[best or 0]
        return Chosen(model.set_params(max_iter=MOST_VECTORS, **parameters).fit(split.X, split.y), parameters)

    return fit


def _shares(split: Split) -> Any:
    """Shares of the classes among the unlabeled rows: one number for two classes, else a dict."""
    classes, counts = np.unique(split.y_hidden, return_counts=True)
    shares = counts / counts.sum()
    return float(shares[1]) if len(classes) == 2 else dict(zip(classes.tolist(), shares.tolist()))


def rival(cls: type, or_svm: bool = False) -> Method:
    """A rival that has prices C and C_unlabeled as we do; or the supervised SVM, unless the rival is clearly better."""

    def fit(split: Split, choices: Choices, seed: int) -> Chosen:
        kernel = choose_kernel(split, choices, seed)
        model = cls(C=choices.C, C_unlabeled=choices.C_unlabeled, balance=choices.balance, random_state=seed, **kernel)
        search = _or_svm if or_svm else _searched
        return search(model, split, choices, kernel, {"C_unlabeled": choices.Cs_unlabeled})

    return fit


def branch_and_bound(split: Split, choices: Choices, seed: int) -> Chosen:
    """The best of all labelings, or the best so far where the nodes run out; ``nodes`` tells which."""
    kernel = choose_kernel(split, choices, seed)
    model = BranchAndBoundS3VM(
        C=choices.C,
        C_unlabeled=choices.C_unlabeled,
        balance=choices.balance,
        max_nodes=MOST_NODES,
        random_state=seed,
        **kernel,
    )
    return Chosen(model.fit(split.X, split.y), {**kernel, "nodes": len(model.history_)})


def laplacian(or_svm: bool = False) -> Method:
    """LapSVM: ``gamma_A = 1 / (2 C)``; gamma_I from the values of the others' C_unlabeled."""

    def fit(split: Split, choices: Choices, seed: int) -> Chosen:
        kernel = choose_kernel(split, choices, seed)
        model = LaplacianSVM(gamma_A=1 / (2 * choices.C), gamma_I=choices.C_unlabeled, random_state=seed, **kernel)
        search = _or_svm if or_svm else _searched
        return search(
            model, split, choices, kernel, {"gamma_I": choices.Cs_unlabeled, "n_neighbors": choices.neighbors}
        )

    return fit


def _searched(model: Any, split: Split, choices: Choices, kernel: dict[str, Any], grid: dict[str, Any]) -> Chosen:
    """The model fitted; with parameters of the best cross-validated accuracy if there are any to choose from."""
    if not choices.Cs_unlabeled:
        return Chosen(model.fit(split.X, split.y), kernel)
    values = {name: list(values) for name, values in grid.items()}
    search = GridSearchCV(model, values, cv=SemiSupervisedSplit(choices.folds))
    search.fit(split.X, split.y)
    return Chosen(search.best_estimator_, {**kernel, **search.best_params_})


def _or_svm(model: Any, split: Split, choices: Choices, kernel: dict[str, Any], grid: dict[str, Any]) -> Chosen:
    """What `_searched` finds if its accuracy on the folds is better than the supervised SVM's by more than one standard
    error of the difference, fold by fold: the choice that SemiSupervisedSVCCV has. Otherwise that SVM."""
    fits = FoldFits(model, split, choices.folds)
    plain = np.array(
        [fits.supervised_score(_svc(choices.C, kernel, split.labeled[1]), f) for f in range(len(fits.folds))]
    )
    points = [dict(point) for point in ParameterGrid({name: list(values) for name, values in grid.items()})]
    found: dict[tuple[int, int], float] = {}

    def score(point: int, fold: int) -> float:
        return found.setdefault((point, fold), fits.score({**kernel, **points[point]}, fold))

    best = best_candidate(len(points), len(fits.folds), score, to_beat=float(plain.mean()))
    if best is not None:
        gain = np.array([found[best, fold] for fold in range(len(fits.folds))]) - plain
        if gain.size == 1 or gain.mean() > gain.std(ddof=1) / np.sqrt(gain.size):
            return Chosen(model.set_params(**points[best]).fit(split.X, split.y), {**kernel, **points[best]})
    svm = _svc(choices.C, kernel, split.labeled[1]).fit(*split.labeled)
    return Chosen(svm, {**kernel, "C_unlabeled": 0.0})


METHODS: dict[str, Method] = {
    "larger class": larger_class,
    "SVM": supervised,
    "TSVM": rival(TSVM),
    "LapSVM": laplacian(),
    "USVM": rival(CCCPSVM),
    "∇S3VM": rival(GradientS3VM),
    "∇DA": rival(AnnealedS3VM),
    "S4VM": rival(S4VM),
    "cS3VM": rival(ContinuationS3VM),
    "Newton": rival(NewtonS3VM),
    "BB": branch_and_bound,
    "TSVM or SVM": rival(TSVM, or_svm=True),
    "LapSVM or SVM": laplacian(or_svm=True),
    "USVM or SVM": rival(CCCPSVM, or_svm=True),
    "WellSVM": wellsvm,
    "as in the paper": as_in_paper(),
    "as in the paper, true shares": as_in_paper(true_shares=True),
}
