"""objectives, cluster_objectives: how far above a tight run fits at the defaults end.

The tight run has tol=1e-4 and up to 200 label vectors, all else the same. "relaxation" is that of ``refine=False``, the
default for clusters, where it is the result. "labeling" is the default for classes and bags, where a search settles on
one labeling and its objective is that of the result; the relaxation that the search starts from is ended early. Rows
are standardized, text is as it comes; ten labels of each class, balance="labels". Tight runs of linear bags take
minutes to hours and are left out. Sets of bags with several concepts have the first one against the second, or, where a
bag has several labels, the first label against none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.paper.protocol import load_protocol
from experiments.runner import Trial
from experiments.studies.study import Study, fit_facts
from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC
from wellsvm.model_selection import hide_labels

__all__ = ["OBJECTIVE_STUDIES"]

CLUSTERS = tuple(case.data for case in load_protocol("11").cases)
CLASSES = (
    "uci_house_votes", "uci_ionosphere", "uci_heart_statlog", "uci_liver", "uci_diabetes", "uci_australian",
    "uci_clean1", "lds_g50c", "text_pcmac", "text_relathe",
)  # fmt: skip
BAGS = (
    "mil_newsgroups2", "mil_musk1", "mil_fox", "mil_tiger", "mil_elephant", "mil_msrcv2", "mil_corel20",
    "mil_usps_roi", "mil_news_roi", "mil_musk2",
)  # fmt: skip
SEEDS = {"clusters": (0, 1, 2), "classes": (0,), "bags": (0,)}
KERNELS = {"clusters": ("linear", "rbf"), "classes": ("linear", "rbf"), "bags": ("rbf",)}
TIGHT: dict[str, Any] = {"tol": 1e-4, "max_iter": 200}
METHODS = ("defaults", "tight")
RELAXATION, LABELING = "result", "labeling"  # a relaxation that is the result, or the labeling of a search


def _cells(clusters: bool) -> list[dict[str, Any]]:
    tasks = [("classes", name, use) for use in (LABELING, RELAXATION) for name in CLASSES]
    tasks += [("bags", name, use) for use in (LABELING, RELAXATION) for name in BAGS]
    if clusters:
        tasks = [("clusters", name, RELAXATION) for name in CLUSTERS]
    cells = [
        {"task": task, "set": name, "use": use, "kernel": kernel, "seed": seed}
        for task, name, use in tasks
        for kernel in KERNELS[task]
        if kernel == "linear" or not name.startswith("text")
        for seed in SEEDS[task]
    ]
    return sorted(cells, key=lambda cell: (cell["kernel"], cell["seed"]))


def _trials(clusters: bool, journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {**cell, "method": method}, partial(_run, method=method, **cell))
        for cell in _cells(clusters)
        for method in METHODS
    ]


def _run(task: str, set: str, use: str, kernel: str, seed: int, method: str) -> Entry:
    data = load_set(set)
    X = data.X if sparse.issparse(data.X) else StandardScaler().fit_transform(np.asarray(data.X, dtype=np.float64))
    how = {"kernel": kernel, "refine": use == LABELING, "random_state": seed, **(TIGHT if method == "tight" else {})}
    with fit_facts() as facts:
        if task == "clusters":
            model = MaxMarginClustering(cut="balance", **how).fit(X)  # the relaxation's, whatever k-means finds
        elif task == "bags":
            bags, positive = _two_classes(Bags(X, data.groups), data)
            model = MultiInstanceSVC(positive_class=True, **how).fit(bags, positive)
        else:
            y = np.unique(data.y, return_inverse=True)[1].astype(float)
            labels = hide_labels(y, n_labeled=20, random_state=seed)
            model = SemiSupervisedSVC(balance="labels", **how).fit(X, labels)
    reached = model.objective_ if use == RELAXATION else model.refined_objective_
    facts |= {"objective": float(reached), "violation": float(model.oracle_violation_)}
    return facts | {"status": str(model.status_), "n_iter": model.n_iter_}


def _two_classes(bags: Bags, data: Bunch) -> tuple[Bags, np.ndarray]:
    """Bags of two classes: a set's own, its first two concepts, or those with and without its first label."""
    concept = data.get("concept", data.get("category"))
    if concept is None:
        y = np.asarray(data.y)
        return bags, (y if y.ndim == 1 else y[:, 0]) > 0
    first_two = np.flatnonzero(np.asarray(concept) < 2)
    return bags[first_two], np.asarray(concept)[first_two] == 0


def _table(entries: Sequence[Entry], figure: str) -> str:
    """The worst and the median ratio to the better of both runs, and how many are above 1.1."""
    found = {tuple(e[k] for k in ("task", "use", "kernel", "set", "seed", "method")): e for e in entries}
    groups: dict[tuple[str, ...], list[tuple[float, float, float]]] = {}
    for key, ours in found.items():
        tight = found.get((*key[:-1], "tight"))
        if key[-1] == "defaults" and tight is not None:
            best = min(ours["objective"], tight["objective"])
            times = ours["cpu_seconds"], tight["cpu_seconds"]
            groups.setdefault(tuple(map(str, key[:3])), []).append((ours["objective"] / best, *times))
    lines = []
    for (task, use, kernel), values in sorted(groups.items()):
        ratios, ours, tight = np.array(values).T
        figures = [f"{np.median(ratios):.3f}", f"{ratios.max():.3f}", f"{np.count_nonzero(ratios > 1.1)}"]
        lines.append(
            [
                task,
                "relaxation" if use == RELAXATION else use,
                kernel,
                f"{len(ratios)}",
                *figures,
                f"{np.median(ours):.2f}",
                f"{np.median(tight):.2f}",
            ]
        )
    head = [
        "task",
        "result",
        "kernel",
        "runs",
        "median ratio",
        "largest",
        "above 1.1",
        "CPU s",
        "tight, CPU s",
    ]
    return pipe_table(head, lines)


OBJECTIVE_STUDIES = {
    "objectives": Study(
        "objectives of classes and bags at the defaults beside those of tight runs",
        (*CLASSES, *BAGS),
        partial(_trials, False),
        _table,
    ),
    "cluster_objectives": Study(
        "objectives of two clusters at the defaults beside those of tight runs",
        CLUSTERS,
        partial(_trials, True),
        _table,
    ),
}
