"""Other weak labels: each estimator at its defaults beside rivals, on the same draws, scored on a quarter of the rows.

- positives: 20 and 50 known positives, all else unlabeled;
- proportions: random groups of 8, 32 and 64 rows whose share of positives is known;
- noise: 10, 20 and 30 % of the labels flipped;
- candidates: image regions with the labels of their image, and digits with three wrong candidates each.

An entry holds all methods of a cell. Trials come draw by draw, dense embeddings and large text last in each, so that a
run that is stopped has measured a little of everything. Even draws are the development half.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from math import nan
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.choices import UCI
from experiments.studies.few_labels import EMBEDDINGS, TOPICS
from experiments.studies.study import Study
from wellsvm import CandidateLabelSVC, NoisyLabelSVC, PositiveUnlabeledSVC, ProportionSVC
from wellsvm.baselines import AlternatingProportionSVC, AveragedCandidatesSVC, ElkanNotoSVC, MeanMap

__all__ = ["WEAK_STUDIES"]

N_DRAWS = 10
TEST = 0.25
PAIRS = tuple(f"{EMBEDDINGS}, {pair}" for pair in ("games-mail", "sound-math", "math-mail"))
SMALL = tuple(name for name in UCI if name not in ("uci_krvskp", "uci_sick"))
TASKS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "noise": ((*SMALL, "text_pcmac", *PAIRS), (0.1, 0.2, 0.3)),
    "proportions": ((*SMALL, *PAIRS), (8, 32, 64)),
    "positives": (("text_pcmac", "uci_krvskp", *PAIRS, "text_news20"), (20, 50)),
    "candidates": (("mil_msrcv2", "usps_digits"), (3,)),
}
WRONG_CANDIDATES = 3
DIGITS = 2000
ALTERNATING_DRAWS = 2  # it takes most of the time of a cell, and is far behind


class Rows(NamedTuple):
    """Training and test rows, their labels."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


@lru_cache(maxsize=2)
def _data(name: str) -> tuple[Any, np.ndarray]:
    file, _, pair = name.partition(", ")
    data = load_set(file)
    if not pair:
        return data.X, np.asarray(data.y)
    first, second = (TOPICS.index(topic) for topic in pair.split("-"))
    rows = np.flatnonzero(np.isin(data.y, [first, second]))
    return data.X[rows].astype(np.float32), np.where(np.asarray(data.y)[rows] == second, 1, -1)


def _split(X: Any, y: np.ndarray, rng: np.random.Generator, scale: bool) -> tuple[Rows, np.ndarray]:
    """A random quarter is the test; columns of dense sets are standardized. Also the training rows' numbers."""
    order = rng.permutation(y.size)
    test, train = np.split(order, [int(TEST * y.size)])
    parts = X[train], X[test]
    if scale and not sparse.issparse(X):
        scaler = StandardScaler().fit(parts[0])
        parts = scaler.transform(parts[0]), scaler.transform(parts[1])
    return Rows(parts[0], y[train], parts[1], y[test]), train


def _scored(methods: dict[str, Callable[[], Any]], rows: Rows, test: np.ndarray) -> Entry:
    """Accuracy and processor seconds of every method."""
    facts: Entry = {}
    for name, fit in methods.items():
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit()
        facts[f"{name} seconds"] = round(time.process_time() - began, 2)
        facts[name] = round(float(np.mean(model.predict(rows.X_test) == test)), 4)
    facts["accuracy"] = facts["ours"]
    return facts


def _noise(rows: Rows, share: float, rng: np.random.Generator) -> Entry:
    flipped = rng.random(rows.y.size) < share
    y = np.where(flipped, -rows.y, rows.y)
    models: dict[str, Any] = {}

    def ours() -> Any:
        models["ours"] = NoisyLabelSVC(random_state=0).fit(rows.X, y)
        return models["ours"]

    def dropping() -> Any:
        """The SVM without the rows that contradict an SVM on all of them most, as many as are wrong."""
        f = LinearSVC(random_state=0).fit(rows.X, y).decision_function(rows.X)
        kept = np.argsort(y * f, kind="stable")[round(share * y.size) :]
        return LinearSVC(random_state=0).fit(rows.X[kept], y[kept])

    facts = _scored(
        {
            "ours": ours,
            "SVM, C by cv": lambda: NoisyLabelSVC(noise=0.0, random_state=0).fit(rows.X, y),
            "LinearSVC": lambda: LinearSVC(random_state=0).fit(rows.X, y),
            "dropping": dropping,
        },
        rows,
        rows.y_test,
    )
    suspects = models["ours"].suspects_[: int(flipped.sum())]
    model = models["ours"]
    return facts | {
        "C": model.C_, "chosen": float(model.noise_[0]), "precision": round(float(flipped[suspects].mean()), 4)
    }  # fmt: skip


def _proportions(rows: Rows, size: float, alternate: bool) -> Entry:
    n = rows.y.size // int(size) * int(size)
    X, groups = rows.X[:n], np.arange(n) // int(size)
    truth = (rows.y[:n] > 0).astype(int)
    shares = np.bincount(groups, weights=truth) / size
    fits: dict[str, Any] = {
        "ours": ProportionSVC(random_state=0),
        "mean map": MeanMap(),
    }
    if alternate:
        fits["alternating"] = AlternatingProportionSVC(random_state=0)
    methods: dict[str, Callable[[], Any]] = {
        name: partial(model.fit, X, groups=groups, proportions=shares) for name, model in fits.items()
    }
    methods["supervised"] = lambda: LinearSVC(random_state=0).fit(X, truth)
    return _scored(methods, rows, (rows.y_test > 0).astype(int))


def _positives(rows: Rows, n: float, rng: np.random.Generator) -> Entry:
    y = np.zeros(rows.y.size, dtype=int)
    y[rng.choice(np.flatnonzero(rows.y > 0), int(n), replace=False)] = 1
    share = float(np.mean(rows.y[y == 0] > 0))
    models: dict[str, Any] = {}

    def ours() -> Any:
        models["ours"] = PositiveUnlabeledSVC(random_state=0).fit(rows.X, y)
        return models["ours"]

    def one_class() -> Any:
        return _Signs(OneClassSVM(kernel="linear", nu=0.1).fit(rows.X[y == 1]))

    facts = _scored(
        {
            "ours": ours,
            "true share": lambda: PositiveUnlabeledSVC(balance=share, random_state=0).fit(rows.X, y),
            "Elkan-Noto": lambda: ElkanNotoSVC(random_state=0).fit(rows.X, y),
            "one class": one_class,
            "as negative": lambda: LinearSVC(random_state=0).fit(rows.X, y),
            "as negative, balanced": lambda: LinearSVC(class_weight="balanced", random_state=0).fit(rows.X, y),
        },
        rows,
        (rows.y_test > 0).astype(int),
    )
    return facts | {"share": round(share, 3), "estimated": round(float(models["ours"].balance_[1]), 3)}


class _Signs:
    """A one-class model whose rows inside are 1 and all others 0."""

    def __init__(self, model: OneClassSVM) -> None:
        self.model = model

    def predict(self, X: Any) -> np.ndarray:
        """1 inside, else 0."""
        return (self.model.predict(X) > 0).astype(int)


def _candidates(name: str, rng: np.random.Generator) -> Entry:
    data = load_set(name)
    if name == "mil_msrcv2":
        X, y = data.X, np.asarray(data.instance_label) - 1
        possible = np.asarray(data.y)[np.asarray(data.groups)] > 0
    else:
        X, y = data.X / 255.0, np.asarray(data.y)
        chosen = rng.permutation(y.size)[:DIGITS]
        X, y = X[chosen], y[chosen]
        possible = np.zeros((y.size, 10), dtype=bool)
        possible[
            np.repeat(np.arange(y.size), WRONG_CANDIDATES), rng.integers(0, 10, (y.size, WRONG_CANDIDATES)).ravel()
        ] = True
        possible[np.arange(y.size), y] = True
    rows, train = _split(X, y, rng, scale=name == "mil_msrcv2")
    columns = np.flatnonzero(possible[train].any(axis=0))
    sets = possible[train][:, columns]
    return _scored(
        {
            "ours": lambda: CandidateLabelSVC(classes=columns, random_state=0).fit(rows.X, sets),
            "averaging": lambda: AveragedCandidatesSVC(classes=columns).fit(rows.X, sets),
            "supervised": lambda: LinearSVC(random_state=0).fit(rows.X, rows.y),
        },
        rows,
        rows.y_test,
    )


def _run(task: str, name: str, setting: float, draw: int) -> Entry:
    rng = np.random.default_rng([draw, 19])
    if task == "candidates":
        return _candidates(name, rng)
    rows, _ = _split(*_data(name), rng, scale=name.startswith("uci"))
    if task == "proportions":
        return _proportions(rows, setting, draw < ALTERNATING_DRAWS)
    return {"noise": _noise, "positives": _positives}[task](rows, setting, rng)


def _cells() -> Iterator[Entry]:
    for draw in range(N_DRAWS):
        for heavy in (False, True):
            for task, (sets, settings) in TASKS.items():
                for name in sets:
                    if name.startswith((EMBEDDINGS, "text_news20")) == heavy:
                        for setting in settings:
                            yield {"task": task, "set": name, "setting": setting, "draw": draw, "method": "all"}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, cell, partial(_run, cell["task"], cell["set"], cell["setting"], cell["draw"]))
        for cell in _cells()
    ]


COLUMNS = {
    "noise": ("ours", "SVM, C by cv", "LinearSVC", "dropping", "C", "chosen", "precision"),
    "proportions": ("ours", "mean map", "alternating", "supervised"),
    "positives": (
        "ours",
        "true share",
        "Elkan-Noto",
        "one class",
        "as negative",
        "as negative, balanced",
        "estimated",
        "share",
    ),
    "candidates": ("ours", "averaging", "supervised"),
}


RIVALS = {"noise": "LinearSVC", "proportions": "mean map", "positives": "Elkan-Noto", "candidates": "averaging"}


def _table(entries: Sequence[Entry], figure: str) -> str:
    """A table per task: means per set and setting; with a task as figure, that one alone."""
    tasks = [task for task in TASKS if figure in ("accuracy", task)]
    return "\n\n".join(_of_task(task, [e for e in entries if e["task"] == task]) for task in tasks)


def _of_task(task: str, entries: Sequence[Entry]) -> str:
    """Means of every cell; then over all cells of a setting, over all, and the cell of least gain.

    Of all draws, of the UCI sets alone, of even draws and of odd ones.
    """
    sets, settings = TASKS[task]
    lines = []
    for name in sets:
        for setting in settings:
            of_cell = [e for e in entries if e["set"] == name and e["setting"] == setting]
            if of_cell:
                lines.append([name, f"{setting:g}", str(len(of_cell)), *_figures(task, of_cell)])
    uci = [e for e in entries if e["set"].startswith("uci")]
    halves = {"": entries, ", uci sets": uci, ", even draws": _half(entries, 0), ", odd draws": _half(entries, 1)}
    wanted: list[float | None] = [*settings, None] if len(settings) > 1 else [None]
    for half, of_half in halves.items():
        for setting_ in wanted:
            chosen = [e for e in of_half if setting_ in (None, e["setting"])]
            if chosen:
                shown = "" if setting_ is None else f"{setting_:g}"
                lines.append([f"**mean{half}**", shown, "", *_figures(task, chosen)])
        if cells := _cells_of(of_half):
            least = min(cells, key=lambda cell: float(_figures(task, cells[cell])[-1]))
            figures = _figures(task, cells[least])
            lines.append([f"**least gain{half}**: {least[0]}", f"{least[1]:g}", str(len(cells[least])), *figures])
    return f"{task}:\n\n" + pipe_table(["set", "setting", "draws", *COLUMNS[task], "gain"], lines)


def _half(entries: Sequence[Entry], rest: int) -> list[Entry]:
    return [e for e in entries if e["draw"] % 2 == rest]


def _cells_of(entries: Sequence[Entry]) -> dict[tuple[str, float], list[Entry]]:
    """Entries of every set and setting."""
    cells: dict[tuple[str, float], list[Entry]] = {}
    for entry in entries:
        cells.setdefault((entry["set"], entry["setting"]), []).append(entry)
    return cells


def _figures(task: str, entries: Sequence[Entry]) -> list[str]:
    """Means over cells, each the mean of its draws, and what ours gains over the rival."""
    columns = COLUMNS[task]
    means = np.nanmean(
        [
            np.nanmean([[e.get(c, nan) for c in columns] for e in of_cell], axis=0)
            for of_cell in _cells_of(entries).values()
        ],
        axis=0,
    )
    gain = means[0] - means[columns.index(RIVALS[task])]
    return [*(f"{value:.3f}" for value in means), f"{gain:+.3f}"]


WEAK_STUDIES = {
    "weak_labels": Study(
        "positives only, proportions, noise and candidates, beside rivals",
        tuple(dict.fromkeys(name.split(",")[0] for sets, _ in TASKS.values() for name in sets)),
        _trials,
        _table,
    )
}
