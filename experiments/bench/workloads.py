"""What is measured: every workload, its data, its competitors, in two profiles.

The first method of a workload is its yardstick: all others are reported as ratios to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from experiments.bench.contest_data import DataSource

__all__ = ["PROFILES", "WORKLOADS", "Contest", "Profile", "Workload", "chosen"]


@dataclass(frozen=True)
class Profile:
    """How often a measurement is repeated, and after how many seconds it is given up."""

    repeats: int
    seconds: float


PROFILES = {"small": Profile(repeats=1, seconds=60.0), "full": Profile(repeats=3, seconds=900.0)}


@dataclass(frozen=True)
class Contest:
    """Competitors on one data set in one setting.

    ``methods`` are names of `experiments.bench.competitors.COMPETITORS`, the yardstick first.
    """

    data: str
    source: DataSource | None
    methods: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Rows to train on, as asked for; 0 where the data say."""
        return 0 if self.source is None else int(self.source.arguments.get("n", 0))

    @property
    def name(self) -> str:
        """What tells it from the other contests of its workload."""
        size = f"n={self.size}" if self.size else ""
        settings = (f"{key}={value}" for key, value in self.settings.items())
        return ", ".join(part for part in (self.data, size, *settings) if part)


@dataclass(frozen=True)
class Workload:
    """Contests of one kind."""

    name: str
    about: str
    small: tuple[Contest, ...]
    full: tuple[Contest, ...]
    same_bits: bool = False  # whether all methods must end at the same coefficients

    def contests(self, profile: str) -> tuple[Contest, ...]:
        """The contests of a profile."""
        return {"small": self.small, "full": self.full}[profile]


def chosen(names: Sequence[str]) -> list[Workload]:
    """Workloads by name, all of them where none is named; an error that lists the names otherwise."""
    for name in names:
        if name not in WORKLOADS:
            raise ValueError(f"workload {name!r} is not one of {', '.join(WORKLOADS)}")
    return [WORKLOADS[name] for name in dict.fromkeys(names or WORKLOADS)]


# ------------------------------------------------------------------ data

# A vocabulary of this size keeps the small profile's rows as dense as RCV1's.
TINY = {"n_features": 2000, "nnz_per_row": 40.0}
RCV1 = "RCV1-shaped"
GAUSSIANS = "Gaussian clusters"


def _texts(sizes: Iterable[int], price: float, methods: tuple[str, ...], **options: Any) -> tuple[Contest, ...]:
    """Generated documents of several sizes, 200 labels."""
    return tuple(
        Contest(
            RCV1,
            DataSource("text", {"n": n, "labels": 200, "test": n // 10, **options}),
            methods,
            {"C_unlabeled": price},
        )
        for n in sizes
    )


def _rbf(sizes: Iterable[int], methods: tuple[str, ...]) -> tuple[Contest, ...]:
    return tuple(
        Contest(
            GAUSSIANS, DataSource("gaussians", {"n": n, "labels": n // 10, "test": n // 2}), methods, KERNEL_SETTINGS
        )
        for n in sizes
    )


def _clustered_texts(sizes: Iterable[int], **options: Any) -> tuple[Contest, ...]:
    # Words of their own make the classes clusters; without them no method finds the classes.
    return tuple(
        Contest(RCV1, DataSource("text", {"n": n, "class_vocabulary": 0.1, **options}), CLUSTER_METHODS) for n in sizes
    )


def _stored(
    name: str, otherwise: DataSource, methods: tuple[str, ...], settings: dict[str, Any], **options: Any
) -> Contest:
    """A set of the data folder; a generated one of the same size where there is no folder."""
    return Contest(name, DataSource("folder", {"name": name, **options}, otherwise), methods, settings)


KERNEL_SETTINGS = {"kernel": "rbf", "C_unlabeled": 0.1}
LINEAR_PRICE = {"C_unlabeled": 0.1}

# ------------------------------------------------------------------ competitors

PRICED_TEXT_METHODS = (
    "LinearSVC hinge, all labels",
    "SemiSupervisedSVC",
    "LinearSVC squared hinge, all labels",
)
TEXT_METHODS = (
    *PRICED_TEXT_METHODS,
    "LinearSVC hinge, labeled rows",
    "SelfTrainingClassifier, SGD",
    "LabelSpreading, knn",
)
DENSE_METHODS = ("LinearSVC squared hinge, all labels", "SemiSupervisedSVC")
KERNEL_METHODS = ("SVC, all labels", "SemiSupervisedSVC", "SVC, all labels, C=C_unlabeled", "SVC, labeled rows")
CV_METHODS = ("SemiSupervisedSVC", "SemiSupervisedSVCCV")
CLUSTER_METHODS = ("KMeans", "MaxMarginClustering", "MiniBatchKMeans")
KERNEL_BAG_METHODS = ("SVC, instances", "MultiInstanceSVC")
LINEAR_BAG_METHODS = ("LinearSVC hinge, instances", "MultiInstanceSVC")
THREAD_METHODS = ("SemiSupervisedSVC", "SemiSupervisedSVC, n_jobs=2")
WEAK_METHODS = (
    "SemiSupervisedSVC", "PositiveUnlabeledSVC", "ProportionSVC", "NoisyLabelSVC", "CandidateLabelSVC", "WeakLabelSVC",
    "MaxMarginClustering, links",
)  # fmt: skip
SHORT_METHODS = ("LinearSVC hinge, all labels", "SemiSupervisedSVC")
IMPORT_METHODS = ("import sklearn.svm", "import sklearn.svm, wellsvm", "import sklearn.svm, SemiSupervisedSVC")
IMPORTS = Contest("fresh process", None, IMPORT_METHODS)

# ------------------------------------------------------------------ the list


def _text() -> Workload:
    sizes = (50_000, 100_000, 200_000, 508_049)
    return Workload(
        "text",
        "linear, semi-supervised, sparse text, 200 labels; yardstick: LinearSVC on all labels with C=C_unlabeled",
        small=_texts((1000, 4000), 0.1, TEXT_METHODS, **TINY),
        # The others do not depend on C_unlabeled: they are measured once.
        full=_texts(sizes, 0.1, TEXT_METHODS) + _texts(sizes, 0.01, PRICED_TEXT_METHODS),
    )


def _topical(sizes: Iterable[int], price: float, methods: tuple[str, ...], **options: Any) -> tuple[Contest, ...]:
    """As `_texts`, by the other generator."""
    sources = (DataSource("topics", {"n": n, "labels": 200, "test": n // 10, **options}) for n in sizes)
    return tuple(Contest("overlapping topics", s, methods, {"C_unlabeled": price}) for s in sources)


def _topics() -> Workload:
    sizes = (100_000, 508_049)
    return Workload(
        "topics",
        "as text, by a generator of another make: overlapping topics, 3 % of the labels wrong",
        small=_topical((1000,), 0.1, PRICED_TEXT_METHODS, **TINY),
        full=_topical(sizes, 0.1, PRICED_TEXT_METHODS) + _topical(sizes, 0.01, PRICED_TEXT_METHODS),
    )


def _dense() -> Workload:
    def contest(name: str, maker: str, **options: Any) -> Contest:
        return Contest(name, DataSource(maker, {"test": 500, **options}), DENSE_METHODS, LINEAR_PRICE)

    embeddings = partial(contest, "embeddings", "embeddings")
    table = contest("unscaled table", "table", n=600, labels=30)
    return Workload(
        "dense",
        "linear, semi-supervised, dense rows; yardstick: LinearSVC on all labels with C=C_unlabeled",
        small=(embeddings(n=600, labels=20, n_features=40), table),
        full=(embeddings(n=8000, labels=100), embeddings(n=200_000, labels=100), table),
    )


def _kernel() -> Workload:
    secstr = _stored(
        "ssl_secstr", DataSource("gaussians", {"n": 5000, "labels": 500, "test": 5000, "n_features": 315}),
        KERNEL_METHODS, KERNEL_SETTINGS, n=5000, labels=500, test=5000,
    )  # fmt: skip
    krvskp = _stored(
        "uci_krvskp", DataSource("gaussians", {"n": 2397, "labels": 240, "test": 799, "n_features": 36}),
        KERNEL_METHODS, KERNEL_SETTINGS, n=2397, labels=240, test=799,
    )  # fmt: skip
    return Workload(
        "rbf",
        "RBF kernel, semi-supervised, 10 % labels; yardstick: SVC on all labels, same gamma and C",
        small=_rbf((200, 800), KERNEL_METHODS),
        full=_rbf((1000, 2000, 4000, 8000), KERNEL_METHODS) + (secstr, krvskp),
    )


def _cv() -> Workload:
    settings = LINEAR_PRICE | {"cv": 5}
    stand_in = DataSource("text", {"n": 14_134, "labels": 200, "test": 4711, "n_features": 42_988, "nnz_per_row": 88.0})
    tiny = DataSource("text", {"n": 1000, "labels": 100, "test": 500, **TINY})
    return Workload(
        "cv",
        "C_unlabeled chosen from 7 values by 5 folds; yardstick: one fit",
        small=(Contest(RCV1, tiny, CV_METHODS, settings),),
        full=(_stored("text_news20", stand_in, CV_METHODS, settings, n=14_134, labels=200, test=4711),),
    )


def _clusters() -> Workload:
    words = DataSource("text", {"n": 673_585, "nnz_per_row": 21.0, "class_vocabulary": 0.1})
    debian = DataSource("text", {"n": 63_435, "n_features": 26_367, "nnz_per_row": 28.0, "class_vocabulary": 0.1})
    return Workload(
        "clusters",
        "two clusters of sparse rows; yardstick: KMeans with one start",
        small=_clustered_texts((1000, 4000), **TINY),
        full=_clustered_texts((50_000, 200_000, 677_399))
        + (
            _stored("sparse_words_fr_de", words, CLUSTER_METHODS, {}, n=673_585),
            _stored("text_debian", debian, CLUSTER_METHODS, {}, n=63_435),
        ),
    )


def _bags() -> Workload:
    kernel, linear = {"kernel": "rbf"}, {"kernel": "linear"}
    digits = DataSource("digit_bags", {"n_bags": 50, "bag_size": 8})
    few, many = (
        DataSource("text_bags", {"n_bags": n, "bag_size": 10} | size) for n, size in ((200, TINY), (20_000, {}))
    )
    musk = DataSource("folder_bags", {"name": "mil_musk2"}, DataSource("digit_bags", {"n_bags": 102, "bag_size": 64}))
    return Workload(
        "bags",
        "multi-instance; yardstick: an SVM on the instances, each with the label of its bag",
        small=(
            Contest("bags of digits", digits, KERNEL_BAG_METHODS, kernel),
            Contest("bags of text", few, LINEAR_BAG_METHODS, linear),
        ),
        full=(
            Contest("mil_musk2", musk, KERNEL_BAG_METHODS, kernel),
            Contest("bags of text", many, LINEAR_BAG_METHODS, linear),
        ),
    )


def _weak() -> Workload:
    return Workload(
        "weak",
        "other weak labels of sparse text; yardstick: the semi-supervised fit of the same rows, 200 labels",
        small=_texts((4000,), 0.1, WEAK_METHODS, **TINY),
        full=_texts((100_000, 508_049), 0.1, WEAK_METHODS),
    )


def _threads() -> Workload:
    return Workload(
        "threads",
        "two threads against one, which must end at the same bits; yardstick: one thread",
        small=_texts((1000,), 0.1, THREAD_METHODS, **TINY),
        full=_texts((508_049,), 0.1, THREAD_METHODS) + _topical((508_049,), 0.1, THREAD_METHODS),
        same_bits=True,
    )


def _startup() -> Workload:
    short = _texts((200,), 0.1, SHORT_METHODS, **TINY | {"labels": 40})
    return Workload(
        "startup",
        "what the smallest job costs: the import, and a fit on 200 rows; yardstick: scikit-learn's",
        small=(IMPORTS, *short),
        full=(IMPORTS, *short),
    )


WORKLOADS = {
    workload.name: workload
    for workload in (
        _text(), _topics(), _dense(), _kernel(), _cv(), _clusters(), _bags(), _weak(), _threads(), _startup()
    )
}  # fmt: skip
