"""fit_costs: what a fit at the defaults costs beside one supervised fit, or k-means, in the same process.

Every case has bounds: the most times the processor time of each yardstick, or seconds, that a fit may take; or none,
if it only shows how the time grows with the rows. Methods run one after the other in one thread, after a warm-up of all
of them on a few rows. Accuracies are of test rows, or of all rows where none are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC

from experiments.bench.contest_data import DataSource, make
from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.few_labels import BY_CLASS, EMBEDDINGS, Cell, draw_cell
from experiments.studies.study import Study, fit_facts
from wellsvm import MaxMarginClustering, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.metrics import clustering_accuracy

__all__ = ["COST_STUDIES"]

OURS, REFUSED = "ours", "refused"
# Rounds of one fit of each method: at least and at most, and the CPU seconds after which there are no more than the
# least. A fit that is LONG is not measured again: it is long enough to be told from the next one.
ROUNDS, MOST_ROUNDS, ENOUGH, LONG = 3, 100, 5.0, 5.0
N_TEXT = 508_049
TEXT_SIZES = (50_000, 100_000, 200_000, N_TEXT)
RBF_SIZES = (1000, 2000, 4000, 8000)
Fit = Callable[[], Any]


class Case(NamedTuple):
    """A comparison: its data by name, what sets it apart, what makes its entry, and its bounds: the most that the time
    may be, as a multiple of each yardstick's or in seconds of a processor."""

    set: str
    case: str
    work: Callable[[], Entry]
    at_most: dict[str, float]


def _compare(ours: Fit, yardsticks: dict[str, Fit], score: Callable[[Any], float]) -> Entry:
    """Times and scores: the least of some rounds by turns, the yardsticks first, or of one fit if it is long."""
    entry: Entry = {"cpu": {}, "score": {}}
    fits = {**yardsticks, OURS: ours}
    seconds: dict[str, list[float]] = {name: [] for name in fits}
    for n_rounds in range(MOST_ROUNDS):
        if n_rounds >= ROUNDS and sum(map(sum, seconds.values())) >= ENOUGH:
            break
        for name, fit in fits.items():
            if sum(seconds[name]) >= LONG:
                continue
            with fit_facts() as facts:
                model = fit()
            seconds[name].append(facts["cpu_seconds"])
            if name == OURS:
                status, entry["warnings"] = getattr(model, "status_", ""), facts["warnings"]
            entry["cpu"][name], entry["score"][name] = min(seconds[name]), round(score(model), 4)
    told = {status} if isinstance(status, str) else set(map(str, status))
    return entry | {"status": sorted(told)}


def _warm_up() -> None:
    """First calls load libraries and compile nothing more later."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 4)), np.tile([0, 1, -1, -1], 20)
    for kernel in ("linear", "rbf"):
        SemiSupervisedSVC(kernel=kernel, unlabeled=-1, random_state=0).fit(X, y)
    for model in (LinearSVC(), SVC(), SelfTrainingClassifier(LogisticRegression())):
        model.fit(X, y)
    for clusters in (MaxMarginClustering(n_clusters=3, random_state=0), KMeans(3, n_init=1)):
        clusters.fit(X)


# ------------------------------------------------------------------ cases


def _seven_topics(draw: int) -> Entry:
    """Seven classes of embeddings, ten labels each."""
    drawn = draw_cell(Cell("seven", EMBEDDINGS, 10, BY_CLASS, draw))
    X, partial_labels, test = drawn.split.X, drawn.split.y, (drawn.split.X_test, drawn.split.y_test)
    stored = load_set(EMBEDDINGS)
    class_of = dict(zip(map(np.ndarray.tobytes, stored.X.astype(X.dtype)), np.unique(stored.y, return_inverse=True)[1]))
    truth = np.array([class_of[row.tobytes()] for row in X])
    marked = np.where(np.isnan(partial_labels), -1, partial_labels).astype(int)
    self_training = SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=1000))
    return _compare(
        lambda: SemiSupervisedSVC(random_state=0).fit(X, partial_labels),
        {
            "LinearSVC, all labels": lambda: LinearSVC(random_state=0).fit(X, truth),
            "self-training": lambda: self_training.fit(X, marked),
        },
        lambda model: float(model.score(*test)),
    )


def _resampled(n: int) -> Entry:
    """Embeddings of two groups of topics, drawn anew with noise of half a column's spread; 200 labels."""
    stored, rng = load_set(EMBEDDINGS), np.random.default_rng(0)
    X, chosen = stored.X.astype(np.float32), rng.integers(len(stored.y), size=n)
    noise = np.float32(0.5 * X.std(axis=0).mean())
    X = X[chosen] + noise * rng.standard_normal((n, X.shape[1]), dtype=np.float32)
    y = np.where(stored.y[chosen] < np.median(stored.y), -1, 1)
    marked = np.where(np.isin(np.arange(n), rng.permutation(n)[:200]), y, 0)
    return _compare(
        lambda: SemiSupervisedSVC(unlabeled=0, random_state=0).fit(X, marked),
        {"LinearSVC(dual=False), all labels": lambda: LinearSVC(dual=False, random_state=0).fit(X, y)},
        lambda model: float(model.score(X, y)),
    )


def _unscaled(load: Callable[[], Any], estimator: Callable[..., Any]) -> Entry:
    """A table as it comes, 30 labels."""
    data = load()
    chosen = np.random.default_rng(0).permutation(data.target.size)[:30]
    marked = np.where(np.isin(np.arange(data.target.size), chosen), data.target, -1)
    model = estimator(unlabeled=-1, random_state=0)
    return _compare(
        lambda: model.fit(data.data, marked), {}, lambda fitted: float(fitted.score(data.data, data.target))
    )


def _shifted(times: float, plus: float) -> Entry:
    """40 x 4 rows, of another scale or far from 0."""
    X = np.random.default_rng(0).standard_normal((40, 4))
    y, X = (X[:, 0] > 0).astype(int), times * X + plus
    marked = np.where(np.arange(40) < 10, y, -1)
    model = SemiSupervisedSVC(unlabeled=-1, random_state=0)

    def fit() -> Any:
        try:
            return model.fit(X, marked)
        except ValueError:
            return SimpleNamespace(status_=REFUSED, score=lambda X, y: 0.0)

    return _compare(fit, {}, lambda fitted: float(fitted.score(X, y)))


def _rbf(name: str, n: int) -> Entry:
    """Two classes under the RBF kernel, a tenth of the rows labeled; the yardstick has the same width, and C=1."""
    if name == "gaussians":
        data = make(DataSource(name, {"n": n, "labels": n // 10, "test": n // 2}))
        X, y, marked, test = data.X, data.y, data.y_partial, (data.X_test, data.y_test)
    else:
        stored, order = load_set(name), np.random.default_rng(0).permutation(len(load_set(name).y))
        X, y = stored.X[order].astype(np.float64), np.where(stored.y[order] % 2, 1, -1)
        test, X, y = (X[n:], y[n:]) if len(y) > n else (X, y), X[:n], y[:n]
        marked = np.where(np.arange(len(y)) < n // 10, y, np.nan)
    gamma = 0.5 / float(X.var(axis=0).sum())
    return _compare(
        lambda: SemiSupervisedSVC(kernel="rbf", random_state=0).fit(X, marked),
        {"SVC, all labels": lambda: SVC(gamma=gamma).fit(X, y)},
        lambda model: float(model.score(*test)),
    )


def _clusters(name: str) -> Entry:
    """Ten clusters of digits."""
    data = load_set(name)
    X = np.asarray(data.X, dtype=np.float64)
    return _compare(
        lambda: MaxMarginClustering(n_clusters=10, random_state=0).fit(X),
        {"KMeans(n_init=10)": lambda: KMeans(10, n_init=10, random_state=0).fit(X)},
        lambda model: float(clustering_accuracy(data.y, model.labels_)),
    )


def _text(maker: str, n: int, price: float) -> Entry:
    """Sparse text, 200 labels; the yardstick has C=C_unlabeled, both have an intercept."""
    data = make(DataSource(maker, {"n": n, "labels": 200, "test": n // 10}))
    svm = LinearSVC(loss="hinge", C=price, random_state=0)
    return _compare(
        lambda: SemiSupervisedSVC(C_unlabeled=price, random_state=0).fit(data.X, data.y_partial),
        {HINGE: lambda: svm.fit(data.X, data.y)},
        lambda model: float(model.score(data.X_test, data.y_test)),
    )


SECONDS, GROWTH, HINGE = "seconds", "growth", "LinearSVC(loss='hinge'), all labels"


class Growth(NamedTuple):
    """Cases that differ in their number of rows only, of which ``case`` has the place: the time may grow by this power
    of them at most."""

    set: str
    case: str
    sizes: tuple[int, ...]
    at_most: float


GROWTHS = (
    *(Growth(name, "RBF, {n} rows", RBF_SIZES, 2.05) for name in ("gaussians", "usps_digits")),
    *(
        Growth(maker, f"{{n}} rows, C_unlabeled={price}", TEXT_SIZES, 1.1)
        for maker in ("text", "topics")
        for price in (0.01, 0.1)
    ),
)
CASES = (
    *(
        Case(EMBEDDINGS, f"seven classes, draw {draw}", partial(_seven_topics, draw), bounds)
        for draw in (0, 1)
        for bounds in ({"LinearSVC, all labels": 5.0, "self-training": 2.0},)
    ),
    Case("breast_cancer", "not scaled", partial(_unscaled, load_breast_cancer, SemiSupervisedSVC), {SECONDS: 0.5}),
    Case("wine", "not scaled", partial(_unscaled, load_wine, SemiSupervisedSVC), {SECONDS: 0.5}),
    Case("wine", "not scaled, by CV", partial(_unscaled, load_wine, SemiSupervisedSVCCV), {SECONDS: 10.0}),
    Case("40 x 4 rows", "times 1000", partial(_shifted, 1e3, 0.0), {SECONDS: 0.5}),
    Case("40 x 4 rows", "plus 1e8", partial(_shifted, 1.0, 1e8), {SECONDS: 0.5}),
    Case("digits", "ten clusters", partial(_clusters, "digits"), {SECONDS: 2.0}),
    Case("usps_digits", "ten clusters", partial(_clusters, "usps_digits"), {"KMeans(n_init=10)": 10.0}),
    *(
        Case(name, f"RBF, {n} rows", partial(_rbf, name, n), {"SVC, all labels": 2.5})
        for n in RBF_SIZES
        for name in ("gaussians", "usps_digits", EMBEDDINGS)
        if name != EMBEDDINGS or n <= 4000
    ),
    Case(
        EMBEDDINGS, "200,000 rows resampled", partial(_resampled, 200_000), {"LinearSVC(dual=False), all labels": 3.0}
    ),
    *(
        Case(
            maker, f"{n} rows, C_unlabeled={price}", partial(_text, maker, n, price),
            {HINGE: 1.2} if n == N_TEXT else {},
        )
        for maker in ("text", "topics")
        for price in (0.01, 0.1)
        for n in TEXT_SIZES
    ),
)  # fmt: skip


def _run(case: Case) -> Entry:
    _warm_up()
    return case.work()


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": case.set, "case": case.case, "method": "defaults"}, partial(_run, case))
        for case in CASES
    ]


def _table(entries: Sequence[Entry], figure: str) -> str:
    """One line per bound, or per series of sizes if the figure is "growth"."""
    found, lines = {(e["set"], e["case"]): e for e in entries}, []
    if figure == GROWTH:
        return _growth_table({key: entry["cpu"] for key, entry in found.items()})
    for case in CASES:
        if (entry := found.get((case.set, case.case))) is None:
            continue
        for name, most in case.at_most.items():
            cpu, score = entry["cpu"], entry["score"]
            is_met = (cpu[OURS] if name == SECONDS else cpu[OURS] / cpu[name]) <= most
            yardstick = ["", "", f"{most:g} s"] if name == SECONDS else _ratio(cpu, name, most)
            told = "yes" if is_met else "no"
            reached = REFUSED if REFUSED in entry["status"] else f"{score[OURS]:.3f}"
            scores = [reached, "" if name == SECONDS else f"{score[name]:.3f}"]
            lines.append(
                [case.set, case.case, f"{cpu[OURS]:.2f}", "" if name == SECONDS else name, *yardstick, told, *scores]
            )
    head = ["data", "case", "CPU s", "yardstick", "its CPU s", "ratio", "asked", "met", "accuracy", "its accuracy"]
    return pipe_table(head, lines)


def _growth_table(cpu: dict[tuple[str, str], dict[str, float]]) -> str:
    """Processor seconds of every size, and the slope of their logarithms by least squares, ours and the yardstick's."""
    lines = []
    for series in GROWTHS:
        keys = [(series.set, series.case.format(n=n)) for n in series.sizes]
        if any(key not in cpu for key in keys):
            continue
        slopes = []
        for is_ours in (True, False):
            seconds = [next(s for name, s in cpu[key].items() if (name == OURS) == is_ours) for key in keys]
            slopes.append(float(np.polyfit(np.log(series.sizes), np.log(seconds), 1)[0]))
        sizes, ours = (" / ".join(map(str, figures)) for figures in (series.sizes, [cpu[key][OURS] for key in keys]))
        met = "yes" if slopes[0] <= series.at_most else "no"
        case = series.case.format(n="").removeprefix(" rows, ").replace(",  rows", "")
        lines.append(
            [series.set, case, sizes, ours, f"{slopes[0]:.2f}", f"{series.at_most:g}", met, f"{slopes[1]:.2f}"]
        )
    return pipe_table(["data", "case", "rows", "CPU s", "exponent", "asked", "met", "yardstick's exponent"], lines)


def _ratio(cpu: dict[str, float], name: str, most: float) -> list[str]:
    return [f"{cpu[name]:.2f}", f"{cpu[OURS] / cpu[name]:.2f}", f"{most:g}"]


COST_STUDIES = {
    "fit_costs": Study(
        "processor time of fits at the defaults beside supervised fits and k-means, with what was asked for",
        (EMBEDDINGS, "usps_digits"),
        _trials,
        _table,
    )
}
