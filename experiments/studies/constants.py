"""Constants of `wellsvm.options`, one at a time: what another value would change on small fits.

Figures are counts and accuracies, no seconds: the same on every machine. Work is what native loops and factors of
matrices were asked for, in multiply-adds.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import wellsvm
from experiments.internals import Options, threads
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.study import Study
from wellsvm.datasets import make_digit_bags, make_sparse_text

__all__ = ["CONSTANTS", "CONSTANT_STUDIES", "FITS", "constant", "counted_work"]

DRAWS = 2
AS_IT_IS = "as it is"


@contextmanager
def constant(name: str, value: Any) -> Iterator[None]:
    """Another value of a constant, for what reads it of an instance and for what reads it of the class."""
    made = Options.__init__

    def init(self: Options, **given: Any) -> None:
        made(self, **{name: value, **given})

    with patch.object(Options, "__init__", init), patch.object(Options, name, value):
        yield


@contextmanager
def counted_work() -> Iterator[dict[str, float]]:
    """The work of the fits inside, in multiply-adds."""
    work, cut, factor = {"work": 0.0}, threads.slices, sys.modules["scipy.linalg"].cho_factor

    def slices(n: int, work_per_row: float) -> Iterator[tuple[int, int]]:
        work["work"] += n * max(work_per_row, 1.0)
        return cut(n, work_per_row)

    def cho_factor(matrix: np.ndarray, *args: Any, **kwargs: Any) -> Any:
        work["work"] += matrix.shape[0] ** 3 / 3
        return factor(matrix, *args, **kwargs)

    with ExitStack() as stack:
        for module in [m for name, m in sys.modules.items() if name.startswith("wellsvm.")]:
            for name, old, new in (("slices", cut, slices), ("cho_factor", factor, cho_factor)):
                if module is not threads and getattr(module, name, None) is old:
                    stack.enter_context(patch.object(module, name, new))
        yield work


# ------------------------------------------------------------------ fits


def _hidden(y: np.ndarray, n_labeled: int, draw: int) -> np.ndarray:
    """A few labels of every class, drawn at random."""
    rng, hidden = np.random.default_rng(draw), np.full(y.size, np.nan)
    for c in np.unique(y):
        kept = rng.permutation(np.flatnonzero(y == c))[:n_labeled]
        hidden[kept] = c
    return hidden


def _partly(X: Any, y: np.ndarray, n_labeled: int, draw: int, **parameters: Any) -> Entry:
    hidden = _hidden(y, n_labeled, draw)
    model = wellsvm.SemiSupervisedSVC(random_state=draw, **parameters).fit(X, hidden)
    free = np.isnan(hidden)
    return {"accuracy": float(np.mean(model.predict(X)[free] == y[free])), "objective": _objective(model)}


def _objective(model: Any) -> float:
    reached = model.objective_ if model.refined_objective_ is None else model.refined_objective_
    return float(np.sum(reached))


def _cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def _wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return X, y


def _digits(*classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, classes)
    return X[chosen] / 16, y[chosen]


def _text(draw: int, n_rows: int = 1500, **parameters: Any) -> Entry:
    return _partly(*make_sparse_text(n_rows, n_features=2000, random_state=draw), 20, draw, **parameters)


def _bags(draw: int, kernel: str) -> Entry:
    data = make_digit_bags(target=3, n_bags=60, random_state=draw)
    bags = wellsvm.Bags(data.X / 16, data.groups)
    model = wellsvm.MultiInstanceSVC(kernel=kernel, random_state=draw).fit(bags, data.y)
    test = make_digit_bags(target=3, n_bags=60, random_state=100 + draw)
    accuracy = model.score(wellsvm.Bags(test.X / 16, test.groups), test.y)
    return {"accuracy": float(accuracy), "objective": _objective(model)}


def _clusters(draw: int, classes: tuple[int, ...], **parameters: Any) -> Entry:
    X, y = _digits(*classes)
    model = wellsvm.MaxMarginClustering(n_clusters=len(classes), random_state=draw, **parameters).fit(X)
    return {"accuracy": float(adjusted_rand_score(y, model.labels_)), "objective": _objective(model)}


def _positive(draw: int) -> Entry:
    X, y = _cancer()
    known = np.where(np.isnan(_hidden(np.where(y == 1, 1.0, np.nan), 30, draw)), 0, 1)
    model = wellsvm.PositiveUnlabeledSVC(random_state=draw).fit(X, known)
    return {"accuracy": float(np.mean((model.predict(X) == 1) == (y == 1))), "objective": _objective(model)}


def _noisy(draw: int) -> Entry:
    X, y = _cancer()
    flipped = np.where(np.random.default_rng(draw).random(y.size) < 0.2, 1 - y, y)
    model = wellsvm.NoisyLabelSVC(random_state=draw).fit(X, flipped)
    return {"accuracy": float(np.mean(model.predict(X) == y)), "objective": _objective(model)}


def _groups(draw: int) -> Entry:
    X, y = _cancer()
    groups = np.random.default_rng(draw).permutation(y.size) // 16
    shares = np.bincount(groups, weights=y) / np.bincount(groups)
    model = wellsvm.ProportionSVC(random_state=draw).fit(X, groups=groups, proportions=shares)
    return {"accuracy": float(np.mean((model.predict(X) == 1) == (y == 1))), "objective": _objective(model)}


def _cv(draw: int) -> Entry:
    X, y = _digits(3, 8)
    hidden = _hidden(y, 10, draw)
    model = wellsvm.SemiSupervisedSVCCV(kernel="rbf", random_state=draw).fit(X, hidden)
    free = np.isnan(hidden)
    return {"accuracy": float(np.mean(model.predict(X)[free] == y[free])), "objective": _objective(model)}


FITS: dict[str, Callable[[int], Entry]] = {
    "text": _text,
    "text, labels' balance": partial(_text, balance="labels"),
    "text, climb": partial(_text, n_rows=600, balance="labels", oracle="climb"),
    "dense": lambda draw: _partly(*_cancer(), 10, draw),
    "dense, hinge": lambda draw: _partly(*_cancer(), 10, draw, loss="hinge", balance="labels"),
    "uneven": lambda draw: _partly(*_wine(), 8, draw),
    "uneven, hinge": lambda draw: _partly(*_wine(), 8, draw, loss="hinge", balance="labels"),
    "kernel": lambda draw: _partly(*_digits(3, 8), 5, draw, kernel="rbf"),
    "kernel, C=100": lambda draw: _partly(*_digits(3, 8), 5, draw, kernel="rbf", C=100.0, balance="labels"),
    "closed form": lambda draw: _partly(
        *_digits(3, 8), 5, draw, kernel="rbf", weight_update="closed_form", refine=False, balance="labels"
    ),
    "bags": partial(_bags, kernel="linear"),
    "bags, kernel": partial(_bags, kernel="rbf"),
    "two clusters": lambda draw: _clusters(draw, (3, 8)),
    "two clusters, climbed": lambda draw: _clusters(draw, (3, 8), init="climbed"),
    "two clusters, kernel": lambda draw: _clusters(draw, (3, 8), kernel="rbf"),
    "five clusters": lambda draw: _clusters(draw, (0, 1, 2, 3, 4)),
    "five clusters, kernel": lambda draw: _clusters(draw, (0, 1, 2, 3, 4), kernel="rbf"),
    "positives": _positive,
    "noise": _noisy,
    "groups": _groups,
    "cross-validation": _cv,
}


# ------------------------------------------------------------------ constants


class Varied(NamedTuple):
    """Other values of a constant, and the fits that it matters for."""

    values: tuple[Any, ...]
    fits: tuple[str, ...]


MASTERS = ("text, labels' balance", "dense", "kernel", "bags, kernel", "two clusters, kernel")
SEARCHES = ("text", "text, labels' balance", "dense", "kernel", "uneven")
JUDGED = ("text", "dense", "kernel", "uneven")
DENSE = ("dense", "dense, hinge", "uneven", "uneven, hinge")
CONSTANTS: dict[str, Varied] = {
    "decrease_per_tol": Varied((1.0, 100.0), MASTERS[:3]),
    "rough": Varied((1.0, 20.0), MASTERS),
    "rough_rounds": Varied((10, 200), MASTERS),
    "max_rounds": Varied((500,), MASTERS),
    "svm_rounds": Varied((200, 1000), MASTERS),
    "closed_form_rounds": Varied((10_000,), ("closed form",)),
    "oracle_starts": Varied((3, 30), ("text, climb",)),
    "search_rounds": Varied((5, 20), SEARCHES),
    "annealed_prices": Varied(
        (
            (0.01, 0.1),
            (0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316),
            (0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562),
        ),
        SEARCHES,
    ),
    "rounds_per_price": Varied((1, 6), SEARCHES),
    "search_rough": Varied((1.0, 20.0), SEARCHES),
    "alignment_climbs": Varied((1, 20), ("two clusters, climbed",)),
    "start_tol": Varied((1.0, 100.0), ("bags", "bags, kernel")),
    "most_start_tol": Varied((0.01, 1.0), ("bags", "bags, kernel")),
    "folds": Varied((5, 20), JUDGED),
    "grown_leads": Varied(((0.5,), (0.8, 0.6, 0.4, 0.2)), JUDGED),
    "judge_folds": Varied((3, 10), JUDGED),
    "judge_tol": Varied((1.0, 10.0), JUDGED),
    "judge_rounds": Varied((1, 3), JUDGED),
    "judged_rows": Varied((300, 4000), ("text",)),
    "least_above": Varied((0.1, 0.5), ("positives",)),
    "normal_rounds": Varied((50,), ("positives",)),
    "noise_folds": Varied((2, 5), ("noise",)),
    "group_folds": Varied((2, 5), ("groups",)),
    "level": Varied((0.5, 0.9), MASTERS),
    "more_fall": Varied((2.0, 16.0), MASTERS),
    "most_epochs": Varied((5, 20), MASTERS),
    "dense_epochs": Varied((50.0, 800.0), DENSE),
    "dense_newton_steps": Varied((50,), DENSE),
    "slow_newton": Varied((0.1, 0.5), DENSE),
    "least_rounded_goal": Varied((1e-4, 1e-2), DENSE),
    "narrower": Varied((0.03, 0.3), DENSE),
    "uneven": Varied((30.0, 300.0), DENSE),
    "newton_steps": Varied((15,), ("kernel", "kernel, C=100")),
    "few_gamma_factors": Varied(((1.0,), (0.25, 1.0, 4.0, 16.0)), ("cross-validation",)),
    "joint_rounds": Varied((5, 20), ("five clusters", "five clusters, kernel")),
    "few_moves": Varied((1e-3, 1e-2), ("five clusters", "five clusters, kernel")),
    "k_means_rounds": Varied((30,), ("two clusters", "five clusters", "five clusters, kernel")),
    "start_landmarks": Varied((50, 200), ("two clusters, kernel",)),
    "start_coordinates": Varied((20, 200), ("five clusters, kernel",)),
}


def _trials(journal: Journal) -> list[Trial]:
    wanted = [(AS_IT_IS, AS_IT_IS, tuple(FITS))]
    wanted += [(name, str(value), varied.fits) for name, varied in CONSTANTS.items() for value in varied.values]
    return [
        Trial(
            journal,
            {"set": fit, "split": draw, "constant": name, "method": value},
            partial(_run, fit, draw, name, value),
        )
        for draw in range(DRAWS)
        for name, value, fits in wanted
        for fit in fits
    ]


def _run(fit: str, draw: int, name: str, told: str) -> Entry:
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if name != AS_IT_IS:
            (value,) = (value for value in CONSTANTS[name].values if str(value) == told)
            stack.enter_context(constant(name, value))
        work = stack.enter_context(counted_work())
        return {**FITS[fit](draw), **work}


def _table(entries: Sequence[Entry], figure: str) -> str:
    usual = {(e["set"], e["split"]): e for e in entries if e["constant"] == AS_IT_IS}
    lines = []
    for name, varied in CONSTANTS.items():
        for value in map(str, varied.values):
            pairs = [
                (e, usual[e["set"], e["split"]])
                for e in entries
                if (e["constant"], e["method"]) == (name, value) and (e["set"], e["split"]) in usual
            ]
            if pairs:
                lines.append([f"`{name}`", _short(getattr(Options, name)), _short(value), *_changes(pairs)])
    return pipe_table(["constant", "is", "tried", "fits", "accuracy", "objective", "work"], lines)


def _short(value: Any) -> str:
    return str(value).replace("(", "").replace(",)", "").replace(")", "")


def _changes(pairs: Sequence[tuple[Entry, Entry]]) -> list[str]:
    """Mean change of the accuracy, largest change of the objective, and the ratio of work, its geometric mean."""
    accuracy = np.mean([e["accuracy"] - u["accuracy"] for e, u in pairs])
    objective = max((e["objective"] / u["objective"] - 1 for e, u in pairs), key=abs)
    work = np.exp(np.mean([np.log(e["work"] / u["work"]) for e, u in pairs]))
    return [str(len(pairs)), f"{accuracy:+.4f}", f"{objective:+.2%}", f"{work:.2f}"]


CONSTANT_STUDIES = {
    "constants": Study("constants of the solver, the search and the estimates, one at a time", (), _trials, _table)
}
