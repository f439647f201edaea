"""Studies behind the defaults of SemiSupervisedSVC and SemiSupervisedSVCCV, beside supervised SVMs on the same splits.

Text: tf-idf, 75/25 random splits, 50 or 200 labels drawn at random (at least one of each class; for the cross-validated
models at least two). UCI: standardized features, 75/25, 10 % of the training rows labeled. "rcv1 n" are n rows of
`wellsvm.datasets.make_sparse_text`. What a study does not set is as in version 0.1, for which they were made; see
few_labels.py for the defaults of today.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC, LinearSVC

from experiments.data_sets import load_set
from experiments.internals import Matrix
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import SplitPlan, make_split
from experiments.studies.study import Study, fit_facts, mean_of
from experiments.widths import gamma_of_width
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV

__all__ = ["CHOICES", "CHOICE_STUDIES", "TEXT", "UCI", "VERSION_0_1"]

TRAIN = 0.75
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # the paper's
TEXT = ("text_news20", "text_pcmac", "text_basehock", "text_relathe", "text_debian")
FEW_TEXT = TEXT[1:4]
UCI = (
    "uci_echocardiogram", "uci_house", "uci_heart9", "uci_heart_statlog", "uci_haberman", "uci_liver", "uci_spectf",
    "uci_ionosphere", "uci_house_votes", "uci_clean1", "uci_isolet", "uci_australian", "uci_diabetes", "uci_german",
    "uci_krvskp", "uci_sick",
)  # fmt: skip
VERSION_0_1: dict[str, Any] = {
    "C": 1.0, "C_unlabeled": 0.1, "loss": "paper", "balance": "labels", "search": "local", "safe": False,
    "intercept_scaling": 1.0,
}  # fmt: skip
ONLY_WITHOUT_CV = ("C_unlabeled", "safe")

Fit = Callable[[Matrix, np.ndarray], Any]


def supervised(kernel: str) -> Fit:
    """A supervised SVM on the labeled rows, nothing tuned: the baseline of the text table."""

    def fit(X: Matrix, y: np.ndarray) -> Any:
        labeled = ~np.isnan(y)
        model = LinearSVC(loss="hinge", dual=True, max_iter=20_000) if kernel == "linear" else SVC(kernel=kernel)
        return model.fit(X[labeled], y[labeled])

    return fit


def semi(**parameters: Any) -> Fit:
    """SemiSupervisedSVC."""
    return lambda X, y: SemiSupervisedSVC(random_state=0, **(VERSION_0_1 | parameters)).fit(X, y)


def semi_cv(**parameters: Any) -> Fit:
    """SemiSupervisedSVCCV; with ``Cs_unlabeled=[0.0]`` the supervised SVM tuned the same way."""
    old = {name: value for name, value in VERSION_0_1.items() if name not in ONLY_WITHOUT_CV}
    return lambda X, y: SemiSupervisedSVCCV(random_state=0, **(old | parameters)).fit(X, y)


def semi_cv_rbf(**parameters: Any) -> Fit:
    """SemiSupervisedSVCCV with the paper's widths."""

    def fit(X: Matrix, y: np.ndarray) -> Any:
        return semi_cv(kernel="rbf", gammas=[gamma_of_width(X, s) for s in WIDTHS], **parameters)(X, y)

    return fit


@dataclass(frozen=True)
class Choice:
    """Methods on splits of sets. A share of labels is one of the training rows."""

    about: str
    sets: tuple[str, ...]
    n_splits: int
    labels: tuple[float, ...]
    methods: dict[str, Fit]
    per_class: int = 1
    dtype: str = "float64"


CHOICES = {
    "text": Choice(
        "what unlabeled rows bring on text; refine, fit_intercept", TEXT, 10, (50, 200),
        {
            "LinearSVC": supervised("linear"),
            "relaxation, no intercept": semi(C_unlabeled=0.3, refine=False, fit_intercept=False),
            "refined, no intercept": semi(C_unlabeled=0.3, refine=True, fit_intercept=False),
            "relaxation": semi(C_unlabeled=0.3, refine=False, fit_intercept=True),
            "refined": semi(C_unlabeled=0.3, refine=True, fit_intercept=True),
        },
    ),
    "text_init": Choice(
        "first label vectors and oracles", FEW_TEXT, 10, (50, 200),
        {
            f"{init}, {oracle}, {'refined' if refine else 'relaxation'}": semi(
                C_unlabeled=0.3, init=init, oracle=oracle, refine=refine, fit_intercept=False
            )
            for init, oracle in (("refined", "paper"), ("svm", "paper"), ("alignment", "paper"), ("refined", "climb"))
            for refine in (False, True)
        },
    ),
    "text_balance": Choice(
        "the class balance", FEW_TEXT, 10, (20, 50, 200),
        {str(balance): semi(C_unlabeled=0.3, balance=balance) for balance in ("labels", 0.5, (0.3, 0.7), None)},
    ),
    "text_tol": Choice(
        "the tolerance", TEXT[:4], 5, (50, 200),
        {f"tol={tol:g}": semi(C_unlabeled=0.3, tol=tol) for tol in (1e-2, 1e-3, 1e-4)},
    ),
    "text_prices": Choice(
        "the price of unlabeled rows", FEW_TEXT, 10, (50, 200),
        {
            f"{'refined' if refine else 'relaxation'}, {C:g}": semi(C_unlabeled=C, refine=refine)
            for refine in (False, True) for C in (0.01, 0.1, 1.0)
        },
    ),
    "text_cv": Choice(
        "the price chosen by cross-validation, text", (*FEW_TEXT, TEXT[0], TEXT[4]), 5, (50,),
        {"supervised, same folds": semi_cv(Cs_unlabeled=[0.0]), "SemiSupervisedSVCCV": semi_cv()}, per_class=2,
    ),
    "large": Choice(
        "677,399 generated documents", ("rcv1 677399",), 5, (200,),
        {
            "LinearSVC": supervised("linear"),
            "C_unlabeled=0.01": semi(C_unlabeled=0.01, fit_intercept=False),
            "C_unlabeled=0.1": semi(C_unlabeled=0.1, fit_intercept=False),
        },
        dtype="float32",
    ),
    "uci_cv_linear": Choice(
        "the price chosen by cross-validation, UCI, linear", UCI, 5, (0.1,),
        {"supervised, same folds": semi_cv(Cs_unlabeled=[0.0]), "SemiSupervisedSVCCV": semi_cv()}, per_class=2,
    ),
    "uci_cv_rbf": Choice(
        "price and width chosen by cross-validation, UCI", UCI, 5, (0.1,),
        {"supervised, same folds": semi_cv_rbf(Cs_unlabeled=[0.0]), "SemiSupervisedSVCCV": semi_cv_rbf()}, per_class=2,
    ),
    "uci": Choice(
        "fixed prices, UCI", UCI, 5, (0.1,),
        {
            f"{kernel}, {'intercept' if bias else 'no intercept'}, {C:g}": semi(
                kernel=kernel, fit_intercept=bias, C_unlabeled=C, max_iter=30
            )
            for kernel in ("linear", "rbf") for bias in (False, True) for C in (0.0, 0.01, 0.1)
        },
    ),
}  # fmt: skip


def _trials(study: str, journal: Journal) -> list[Trial]:
    choice = CHOICES[study]
    return [
        Trial(
            journal,
            {"set": name, "labels": labels, "split": split, "method": method},
            partial(_run, study, name, labels, split, method),
        )
        for name in choice.sets
        for labels in choice.labels
        for split in range(choice.n_splits)
        for method in choice.methods
    ]


def _run(study: str, name: str, labels: float, repeat: int, method: str) -> Entry:
    choice, data = CHOICES[study], load_set(name)
    n_train = int(TRAIN * data.y.size)
    labeled = labels if labels >= 1 else round(labels * n_train)
    plan = SplitPlan(labeled, choice.per_class, test=data.y.size - n_train, dtype=choice.dtype)
    split = make_split(data, plan, repeat)
    with fit_facts() as facts:
        model = choice.methods[method](split.X, split.y)
    facts["accuracy"] = float(model.score(split.X_test, split.y_test))
    facts["C_unlabeled"] = getattr(model, "C_unlabeled_", None)
    if hasattr(model, "scores_"):
        facts["scores"] = model.scores_.mean(axis=2).round(4).tolist()
    return facts


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Mean of a figure per set and method, with the mean over the sets last."""
    methods = list(dict.fromkeys(entry["method"] for entry in entries))
    lines, rows = [], {}
    for name, labels in dict.fromkeys((entry["set"], entry["labels"]) for entry in entries):
        chosen = [entry for entry in entries if (entry["set"], entry["labels"]) == (name, labels)]
        rows[name, labels] = [mean_of(chosen, figure, method=method) for method in methods]
        lines.append([name, str(labels), *(f"{value:.3f}" for value in rows[name, labels])])
    for wanted in dict.fromkeys(labels for _, labels in rows):
        means = np.mean([values for (_, labels), values in rows.items() if labels == wanted], axis=0)
        lines.append(["**mean**", str(wanted), *(f"**{value:.3f}**" for value in means)])
    return pipe_table(["set", "labels", *methods], lines)


CHOICE_STUDIES = {
    name: Study(choice.about, choice.sets, partial(_trials, name), _table) for name, choice in CHOICES.items()
}
