"""One adapter per competitor: how it is built for a problem, what it is shown, how it is scored.

``build`` is not timed and may import what it needs; an ImportError there means that the competitor is skipped. A new
competitor is one entry of `ADAPTERS` and its name in a list of `wellsvm.bench.workloads`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.bench.problems import Problem

__all__ = ["ADAPTERS", "NOT_INSTALLED", "Adapter", "Task"]

Settings = Mapping[str, Any]
UNLABELED = -1  # scikit-learn's mark
NOT_INSTALLED = "not installed"  # begins the word for a competitor whose package is missing


@dataclass(frozen=True)
class Task:
    """What a competitor is shown (timed), and its figures of merit (not timed)."""

    fit: Callable[[Any, Problem], Any]
    score: Callable[[Any, Problem], dict[str, float]]


@dataclass(frozen=True)
class Adapter:
    """A competitor.

    ``max_rows`` is for those whose time or memory is out of reach beyond. ``code`` instead of ``build`` and ``task`` is
    what a bare interpreter runs; it prints its own times.
    """

    build: Callable[[Problem, Settings], Any] | None = None
    task: Task | None = None
    threads: int = 1
    max_rows: int | None = None
    code: str | None = None


# ------------------------------------------------------------------ what is shown, what is scored


def _zero_one(y_partial: FloatArray | None) -> np.ndarray:
    """0 and 1 with -1 for unlabeled rows, as scikit-learn's semi-supervised estimators want it."""
    y = np.asarray(y_partial)
    return np.where(np.isnan(y), UNLABELED, (y > 0).astype(int))


def _fit_labeled(model: Any, problem: Problem) -> Any:
    labeled = ~np.isnan(np.asarray(problem.y_partial))
    return model.fit(problem.X[labeled], problem.y[labeled])


def _same(predicted: Any, y: Any) -> float:
    """Share of equal signs: classes are -1 and 1, or 0 and 1."""
    return float(np.mean((np.asarray(predicted) > 0) == (np.asarray(y) > 0)))


def _score_test(model: Any, problem: Problem) -> dict[str, float]:
    return {} if problem.X_test is None else {"accuracy_test": _same(model.predict(problem.X_test), problem.y_test)}


def _score_hidden(model: Any, problem: Problem) -> dict[str, float]:
    """Accuracy on test rows and, as no label of them was shown, on the unlabeled training rows."""
    hidden = np.isnan(np.asarray(problem.y_partial))
    predicted = model.transduction_ if hasattr(model, "transduction_") else model.predict(problem.X)
    return _score_test(model, problem) | {"accuracy_unlabeled": _same(predicted[hidden], problem.y[hidden])}


def _score_clusters(model: Any, problem: Problem) -> dict[str, float]:
    from wellsvm.metrics import clustering_accuracy

    return {"accuracy_clusters": clustering_accuracy(problem.y, model.labels_)}


def _score_bags(model: Any, problem: Problem) -> dict[str, float]:
    predicted = model.predict(problem.X_test, groups=problem.groups_test)
    return {"accuracy_test": _same(predicted, problem.y_test)}


def _score_instances(model: Any, problem: Problem) -> dict[str, float]:
    """A bag is positive where its instance of largest value is."""
    values, y_test = model.decision_function(problem.X_test), np.asarray(problem.y_test)
    positive = np.isin(np.arange(y_test.size), np.asarray(problem.groups_test)[values > 0])
    return {"accuracy_test": _same(positive, y_test)}


PARTIAL = Task(lambda model, p: model.fit(p.X, p.y_partial), _score_hidden)
PARTIAL_SKLEARN = Task(lambda model, p: model.fit(p.X, _zero_one(p.y_partial)), _score_hidden)
LABELED = Task(_fit_labeled, _score_hidden)
ALL_LABELS = Task(lambda model, p: model.fit(p.X, p.y), _score_test)
CLUSTERS = Task(lambda model, p: model.fit(p.X), _score_clusters)
BAGS = Task(lambda model, p: model.fit(p.X, p.y, groups=p.groups), _score_bags)
INSTANCES = Task(lambda model, p: model.fit(p.X, p.y[p.groups]), _score_instances)


# ------------------------------------------------------------------ how they are built


def _kernel(problem: Problem, settings: Settings) -> dict[str, Any]:
    """Kernel and width, the same number for all competitors."""
    from wellsvm.geometry.kernels import resolve_gamma

    if settings.get("kernel", "linear") == "linear":
        return {"kernel": "linear"}
    return {"kernel": settings["kernel"], "gamma": resolve_gamma("mean", problem.X)}


def _semi_supervised(problem: Problem, settings: Settings, n_jobs: int | None = None) -> Any:
    from wellsvm import SemiSupervisedSVC

    return SemiSupervisedSVC(
        C_unlabeled=settings["C_unlabeled"], fit_intercept=False, random_state=0, n_jobs=n_jobs,
        **_kernel(problem, settings),
    )  # fmt: skip


def _semi_supervised_cv(problem: Problem, settings: Settings) -> Any:
    from wellsvm import SemiSupervisedSVCCV

    return SemiSupervisedSVCCV(cv=settings["cv"], fit_intercept=False, random_state=0, **_kernel(problem, settings))


def _clustering(problem: Problem, settings: Settings) -> Any:
    from wellsvm import MaxMarginClustering

    return MaxMarginClustering(random_state=0)


def _multi_instance(problem: Problem, settings: Settings) -> Any:
    from wellsvm import MultiInstanceSVC

    return MultiInstanceSVC(random_state=0, **_kernel(problem, settings))


def _linear_svc(loss: str, price: str | None = None, fit_intercept: bool = False) -> Callable[[Problem, Settings], Any]:
    """LinearSVC with C = 1, or with the C of a setting."""

    def build(problem: Problem, settings: Settings) -> Any:
        from sklearn.svm import LinearSVC

        C = settings[price] if price else 1.0
        return LinearSVC(loss=loss, C=C, dual=True, fit_intercept=fit_intercept, max_iter=20_000, random_state=0)

    return build


def _svc(price: str | None = None) -> Callable[[Problem, Settings], Any]:
    def build(problem: Problem, settings: Settings) -> Any:
        from sklearn.svm import SVC

        return SVC(C=settings[price] if price else 1.0, **_kernel(problem, settings))

    return build


def _self_training(problem: Problem, settings: Settings) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.semi_supervised import SelfTrainingClassifier

    # SelfTrainingClassifier wants probabilities, which LinearSVC has not; of SGD's losses this is the nearest to hinge.
    return SelfTrainingClassifier(SGDClassifier(loss="modified_huber", fit_intercept=False, random_state=0))


def _label_spreading(problem: Problem, settings: Settings) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(kernel="knn", n_neighbors=7)


def _k_means(problem: Problem, settings: Settings) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters=2, n_init=1, random_state=0)


def _mini_batch_k_means(problem: Problem, settings: Settings) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(n_clusters=2, n_init=1, random_state=0)


_TIMED_IMPORT = (
    "import time; wall, cpu = time.perf_counter(), time.process_time(); {}; "
    "wall, cpu = time.perf_counter() - wall, time.process_time() - cpu; "
    "import json; print(json.dumps(dict(wall=wall, cpu=cpu)))"
)

ADAPTERS: dict[str, Adapter] = {
    "SemiSupervisedSVC": Adapter(_semi_supervised, PARTIAL),
    "SemiSupervisedSVC, n_jobs=2": Adapter(lambda p, s: _semi_supervised(p, s, n_jobs=2), PARTIAL, threads=2),
    "SemiSupervisedSVCCV": Adapter(_semi_supervised_cv, PARTIAL),
    "MaxMarginClustering": Adapter(_clustering, CLUSTERS),
    "MultiInstanceSVC": Adapter(_multi_instance, BAGS),
    "LinearSVC hinge, all labels": Adapter(_linear_svc("hinge", "C_unlabeled"), ALL_LABELS),
    "LinearSVC squared hinge, all labels": Adapter(_linear_svc("squared_hinge", "C_unlabeled"), ALL_LABELS),
    "LinearSVC hinge, labeled rows": Adapter(_linear_svc("hinge"), LABELED),
    "LinearSVC hinge, instances": Adapter(_linear_svc("hinge", fit_intercept=True), INSTANCES),
    "SVC, all labels": Adapter(_svc(), ALL_LABELS),
    "SVC, all labels, C=C_unlabeled": Adapter(_svc("C_unlabeled"), ALL_LABELS),
    "SVC, labeled rows": Adapter(_svc(), LABELED),
    "SVC, instances": Adapter(_svc(), INSTANCES),
    "SelfTrainingClassifier, SGD": Adapter(_self_training, PARTIAL_SKLEARN),
    "LabelSpreading, knn": Adapter(_label_spreading, PARTIAL_SKLEARN, max_rows=50_000),
    "KMeans": Adapter(_k_means, CLUSTERS),
    "MiniBatchKMeans": Adapter(_mini_batch_k_means, CLUSTERS),
    "import sklearn.svm": Adapter(code=_TIMED_IMPORT.format("import sklearn.svm")),
    "import sklearn.svm, wellsvm": Adapter(code=_TIMED_IMPORT.format("import sklearn.svm, wellsvm")),
    "import sklearn.svm, SemiSupervisedSVC": Adapter(
        code=_TIMED_IMPORT.format("import sklearn.svm; from wellsvm import SemiSupervisedSVC")
    ),
}
