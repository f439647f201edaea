"""README's example, five digits with 20 labels, over five splits and beside scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.study import Study, fit_facts, mean_of
from wellsvm import SemiSupervisedSVC
from wellsvm.model_selection import hide_labels

__all__ = ["DIGIT_STUDIES", "METHODS"]

N_SPLITS, N_LABELED = 5, 20
METHODS: dict[str, Callable[[], Any]] = {
    "SVC on the labels": SVC,
    "self-training": lambda: SelfTrainingClassifier(SVC(probability=True, random_state=0)),
    "self-training, LogisticRegression(C=10)": lambda: SelfTrainingClassifier(LogisticRegression(C=10)),
    "LabelSpreading": lambda: LabelSpreading(kernel="knn"),
    "LabelSpreading, its defaults": LabelSpreading,
    "SemiSupervisedSVC": lambda: SemiSupervisedSVC(kernel="rbf", unlabeled=-1, random_state=0),
    "neighbors=6": lambda: SemiSupervisedSVC(kernel="rbf", neighbors=6, unlabeled=-1, random_state=0),
}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": "digits", "split": split, "method": method}, partial(_run, split, method))
        for split in range(N_SPLITS)
        for method in METHODS
    ]


def _run(split: int, method: str) -> Entry:
    X, y = load_digits(n_class=5, return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y.astype(float), random_state=split)
    y_partial = hide_labels(y_train, n_labeled=N_LABELED, random_state=split)
    scaler, known = MinMaxScaler().fit(X_train), ~np.isnan(y_partial)
    rows, labels = scaler.transform(X_train), np.where(known, np.nan_to_num(y_partial), -1).astype(int)
    if method == "SVC on the labels":
        rows, labels = rows[known], labels[known]
    with fit_facts() as facts:
        model = METHODS[method]().fit(rows, labels)
    facts["accuracy"] = float(model.score(scaler.transform(X_test), y_test.astype(int)))
    return facts


def _table(entries: Sequence[Entry], figure: str) -> str:
    lines = [
        [method, *(f"{mean_of(entries, name, method=method):.3f}" for name in ("accuracy", "cpu_seconds"))]
        for method in METHODS
    ]
    return pipe_table(["method", "accuracy", "CPU s"], lines)


DIGIT_STUDIES = {"five_digits": Study("README's five digits with 20 labels, five splits", (), _trials, _table)}
