"""Every competitor: how it is built for the data, what it is shown, how it is scored.

``build`` is not timed and may import what it needs; an ImportError there means that the competitor is skipped. A new
competitor is one entry of `COMPETITORS` and its name in a list of `experiments.bench.workloads`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.bench import weak
from experiments.bench.contest_data import ContestData
from experiments.internals import FloatArray
from experiments.widths import mean_squared_distance

__all__ = ["COMPETITORS", "NOT_INSTALLED", "Competitor", "Discipline"]

Build = Callable[[ContestData, Mapping[str, Any]], Any]
UNLABELED = -1  # scikit-learn's mark
NOT_INSTALLED = "not installed"  # begins the word for a competitor whose package is missing


@dataclass(frozen=True)
class Discipline:
    """What a competitor is shown (timed), and its figures of merit (not timed)."""

    fit: Callable[[Any, ContestData], Any]
    score: Callable[[Any, ContestData], dict[str, float]]


@dataclass(frozen=True)
class Competitor:
    """One of those that are compared.

    ``max_rows`` is for those whose time or memory is out of reach beyond. ``code`` instead of ``build`` and
    ``discipline`` is what a bare interpreter runs; it prints its own times.
    """

    build: Build | None = None
    discipline: Discipline | None = None
    threads: int = 1
    max_rows: int | None = None
    code: str | None = None


# ------------------------------------------------------------------ what is shown, what is scored


def _zero_one(y_partial: FloatArray | None) -> np.ndarray:
    """0 and 1 with -1 for unlabeled rows, as scikit-learn's semi-supervised estimators want it."""
    y = np.asarray(y_partial)
    return np.where(np.isnan(y), UNLABELED, (y > 0).astype(int))


def _fit_labeled(model: Any, data: ContestData) -> Any:
    labeled = ~np.isnan(np.asarray(data.y_partial))
    return model.fit(data.X[labeled], data.y[labeled])


def _same(predicted: Any, y: Any) -> float:
    """Share of equal signs: classes are -1 and 1, or 0 and 1."""
    return float(np.mean((np.asarray(predicted) > 0) == (np.asarray(y) > 0)))


def _score_test(model: Any, data: ContestData) -> dict[str, float]:
    return {} if data.X_test is None else {"accuracy_test": _same(model.predict(data.X_test), data.y_test)}


def _score_hidden(model: Any, data: ContestData) -> dict[str, float]:
    """Accuracy on test rows and, as no label of them was shown, on the unlabeled training rows."""
    hidden = np.isnan(np.asarray(data.y_partial))
    predicted = model.transduction_ if hasattr(model, "transduction_") else model.predict(data.X)
    return _score_test(model, data) | {"accuracy_unlabeled": _same(predicted[hidden], data.y[hidden])}


def _score_clusters(model: Any, data: ContestData) -> dict[str, float]:
    from wellsvm.metrics import clustering_accuracy

    return {"accuracy_clusters": clustering_accuracy(data.y, model.labels_)}


def _score_bags(model: Any, data: ContestData) -> dict[str, float]:
    predicted = model.predict(data.X_test, groups=data.groups_test)
    return {"accuracy_test": _same(predicted, data.y_test)}


def _score_instances(model: Any, data: ContestData) -> dict[str, float]:
    """A bag is positive where its instance of largest value is."""
    values, y_test = model.decision_function(data.X_test), np.asarray(data.y_test)
    positive = np.isin(np.arange(y_test.size), np.asarray(data.groups_test)[values > 0])
    return {"accuracy_test": _same(positive, y_test)}


PARTIAL = Discipline(lambda model, p: model.fit(p.X, p.y_partial), _score_hidden)
PARTIAL_SKLEARN = Discipline(lambda model, p: model.fit(p.X, _zero_one(p.y_partial)), _score_hidden)
LABELED = Discipline(_fit_labeled, _score_hidden)
ALL_LABELS = Discipline(lambda model, p: model.fit(p.X, p.y), _score_test)
CLUSTERS = Discipline(lambda model, p: model.fit(p.X), _score_clusters)
BAGS = Discipline(lambda model, p: model.fit(p.X, p.y, groups=p.groups), _score_bags)
INSTANCES = Discipline(lambda model, p: model.fit(p.X, p.y[p.groups]), _score_instances)


# ------------------------------------------------------------------ how they are built


def _kernel(data: ContestData, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Kernel and width, the same number for all competitors."""
    if settings.get("kernel", "linear") == "linear":
        return {"kernel": "linear"}
    return {"kernel": settings["kernel"], "gamma": 1 / mean_squared_distance(data.X)}


def _semi_supervised(data: ContestData, settings: Mapping[str, Any], n_jobs: int | None = None) -> Any:
    from wellsvm import SemiSupervisedSVC

    return SemiSupervisedSVC(
        C_unlabeled=settings["C_unlabeled"], fit_intercept=False, random_state=0, n_jobs=n_jobs,
        **_kernel(data, settings),
    )  # fmt: skip


def _semi_supervised_cv(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from wellsvm import SemiSupervisedSVCCV

    return SemiSupervisedSVCCV(cv=settings["cv"], fit_intercept=False, random_state=0, **_kernel(data, settings))


def _clustering(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from wellsvm import MaxMarginClustering

    return MaxMarginClustering(C=settings.get("C", "scale"), random_state=0)


def _multi_instance(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from wellsvm import MultiInstanceSVC

    return MultiInstanceSVC(random_state=0, **_kernel(data, settings))


def _linear_svc(loss: str, price: str | None = None, fit_intercept: bool = False) -> Build:
    """LinearSVC with C = 1, or with the C of a setting."""

    def build(data: ContestData, settings: Mapping[str, Any]) -> Any:
        from sklearn.svm import LinearSVC

        C = settings[price] if price else 1.0
        return LinearSVC(loss=loss, C=C, dual=True, fit_intercept=fit_intercept, max_iter=20_000, random_state=0)

    return build


def _svc(price: str | None = None) -> Build:
    def build(data: ContestData, settings: Mapping[str, Any]) -> Any:
        from sklearn.svm import SVC

        return SVC(C=settings[price] if price else 1.0, **_kernel(data, settings))

    return build


def _self_training(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.semi_supervised import SelfTrainingClassifier

    # SelfTrainingClassifier wants probabilities, which LinearSVC has not; of SGD's losses this is the nearest to hinge.
    return SelfTrainingClassifier(SGDClassifier(loss="modified_huber", fit_intercept=False, random_state=0))


def _label_spreading(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(kernel="knn", n_neighbors=7)


def _k_means(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters=2, n_init=1, random_state=0)


def _mini_batch_k_means(data: ContestData, settings: Mapping[str, Any]) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(n_clusters=2, n_init=1, random_state=0)


_TIMED_IMPORT = (
    "import time; wall, cpu = time.perf_counter(), time.process_time(); {}; "
    "wall, cpu = time.perf_counter() - wall, time.process_time() - cpu; "
    "import json; print(json.dumps(dict(wall=wall, cpu=cpu)))"
)

COMPETITORS: dict[str, Competitor] = {
    "SemiSupervisedSVC": Competitor(_semi_supervised, PARTIAL),
    "SemiSupervisedSVC, n_jobs=2": Competitor(lambda p, s: _semi_supervised(p, s, n_jobs=2), PARTIAL, threads=2),
    "SemiSupervisedSVCCV": Competitor(_semi_supervised_cv, PARTIAL),
    "PositiveUnlabeledSVC": Competitor(weak.positives, Discipline(weak.fit_positives, _score_test)),
    "ProportionSVC": Competitor(weak.proportions, Discipline(weak.fit_proportions, _score_test)),
    "NoisyLabelSVC": Competitor(weak.noisy, Discipline(weak.fit_noisy, _score_test)),
    "CandidateLabelSVC": Competitor(weak.candidates, Discipline(weak.fit_candidates, _score_test)),
    "WeakLabelSVC": Competitor(weak.own, Discipline(weak.fit_own, _score_test)),
    "MaxMarginClustering, links": Competitor(weak.linked, Discipline(weak.fit_linked, _score_clusters)),
    "MaxMarginClustering": Competitor(_clustering, CLUSTERS),
    "MultiInstanceSVC": Competitor(_multi_instance, BAGS),
    "LinearSVC hinge, all labels": Competitor(_linear_svc("hinge", "C_unlabeled"), ALL_LABELS),
    "LinearSVC squared hinge, all labels": Competitor(_linear_svc("squared_hinge", "C_unlabeled"), ALL_LABELS),
    "LinearSVC hinge, labeled rows": Competitor(_linear_svc("hinge"), LABELED),
    "LinearSVC hinge, instances": Competitor(_linear_svc("hinge", fit_intercept=True), INSTANCES),
    "SVC, all labels": Competitor(_svc(), ALL_LABELS),
    "SVC, all labels, C=C_unlabeled": Competitor(_svc("C_unlabeled"), ALL_LABELS),
    "SVC, labeled rows": Competitor(_svc(), LABELED),
    "SVC, instances": Competitor(_svc(), INSTANCES),
    "SelfTrainingClassifier, SGD": Competitor(_self_training, PARTIAL_SKLEARN),
    "LabelSpreading, knn": Competitor(_label_spreading, PARTIAL_SKLEARN, max_rows=50_000),
    "KMeans": Competitor(_k_means, CLUSTERS),
    "MiniBatchKMeans": Competitor(_mini_batch_k_means, CLUSTERS),
    "import sklearn.svm": Competitor(code=_TIMED_IMPORT.format("import sklearn.svm")),
    "import sklearn.svm, wellsvm": Competitor(code=_TIMED_IMPORT.format("import sklearn.svm, wellsvm")),
    "import sklearn.svm, SemiSupervisedSVC": Competitor(
        code=_TIMED_IMPORT.format("import sklearn.svm; from wellsvm import SemiSupervisedSVC")
    ),
}
