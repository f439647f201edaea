"""From few labels: SemiSupervisedSVC at its defaults beside what else a user has.

Parts, all split 75/25 and scored on the 25 %:

- pairs: the 21 two-class problems of `emb_topics`, float32; 5, 10 and 25 labels of each class, and as many at random.
- seven: its seven classes at once, likewise.
- uci: 14 sets, standardized; 10 labels of each class, and 10 % of the training rows at random.
- text: tf-idf rows, 50 labels at random.
- latent: 21 pairs of seven newsgroups, of which uneven shares are taken, by 150 latent dimensions; labels as for pairs.
  No default was chosen on them, so both halves confirm.

Labels at random hold at least one row of each class. Even draws are the development half, odd ones the confirmation
half. Trials come draw by draw, so that a run that is stopped has measured a little of everything; the seven classes,
which take longest, come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.runner import Trial
from experiments.splits import Split, SplitPlan, make_split
from experiments.studies.choices import TEXT, UCI, VERSION_0_1
from experiments.studies.few_labels_tables import OURS, few_labels_table
from experiments.studies.study import Study, fit_facts
from wellsvm import SemiSupervisedSVC

__all__ = ["AT_RANDOM", "BY_CLASS", "FEW_LABELS_STUDIES", "METHODS", "Cell", "cells", "cells_of_seven", "draw_cell"]

TEST = 0.25
N_DRAWS = 10
BY_CLASS, AT_RANDOM = "a class", "at random"
FEW = tuple((labels, drawn) for drawn in (BY_CLASS, AT_RANDOM) for labels in (5, 10, 25))
FEW_OF_UCI: tuple[tuple[float, str], ...] = ((10, BY_CLASS), (0.1, AT_RANDOM))
EMBEDDINGS = "emb_topics"
TOPICS = ("games", "sound", "net", "admin", "science", "math", "mail")
NEWS = "text_news20"
# By their numbers in the set. Drawn once, as the shares of their rows that are taken were.
NEWSGROUPS = {"3": 0.54, "7": 0.22, "14": 0.48, "11": 0.75, "13": 0.42, "16": 0.23, "0": 0.17}
SMALL_UCI = tuple(name for name in UCI if name not in ("uci_krvskp", "uci_sick"))


class Cell(NamedTuple):
    """Rows and labels that all methods share.

    Attributes
    ----------
    part : {"pairs", "seven", "uci", "text", "latent"}
        See the module.
    set : str
        Name of the data set; for "pairs" and "latent" with the two topics.
    labels : float
        How many: of every class, or in all, or as a share of the training rows.
    drawn : {"a class", "at random"}
        How the labels were drawn.
    draw : int
        Number of the split.
    """

    part: str
    set: str
    labels: float
    drawn: str
    draw: int


@dataclass(frozen=True)
class Drawn:
    """A split with labels, and what is known of its unlabeled rows only here: the share of each class."""

    split: Split
    shares: np.ndarray
    label_shares: np.ndarray


Fit = Callable[[Drawn], Any]


def _semi(**parameters: Any) -> Fit:
    return lambda drawn: SemiSupervisedSVC(random_state=0, **parameters).fit(drawn.split.X, drawn.split.y)


def _on_labels(model: Callable[[], Any]) -> Fit:
    return lambda drawn: model().fit(*drawn.split.labeled)


def _with_unlabeled(model: Callable[[], Any]) -> Fit:
    """For scikit-learn, where -1 marks the unlabeled rows."""

    def fit(drawn: Drawn) -> Any:
        y = np.where(np.isnan(drawn.split.y), -1, drawn.split.y).astype(int)
        return model().fit(drawn.split.X, y)

    return fit


def _logistic(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=1000)


def _told_the_true_shares(drawn: Drawn) -> SemiSupervisedSVC:
    """A bound, not a method: nobody knows the shares."""
    shares = dict(enumerate(drawn.shares.tolist()))
    return _semi(balance=shares if len(shares) > 2 else shares[1], safe=False)(drawn)


METHODS: dict[str, Fit] = {
    OURS: _semi(),
    "true shares": _told_the_true_shares,
    "version 0.1": _semi(**VERSION_0_1),
    "LinearSVC": _on_labels(lambda: LinearSVC(random_state=0)),
    "LogisticRegression": _on_labels(lambda: _logistic(1.0)),
    "self-training": _with_unlabeled(lambda: SelfTrainingClassifier(_logistic(10.0))),
    "LabelSpreading": _with_unlabeled(lambda: LabelSpreading(kernel="knn")),
}
DENSE_ONLY = ("LabelSpreading",)
# Version 0.1 takes up to 100 s for a fit of seven classes.
LEFT_OUT = {"text": DENSE_ONLY, "seven": ("version 0.1",), "latent": ("version 0.1",)}


def cells(draw: int) -> Iterator[Cell]:
    """The two-class cells of one draw, small sets first."""
    yield from (Cell("uci", name, *how, draw) for name in SMALL_UCI for how in FEW_OF_UCI)
    yield from (Cell("text", name, 50, AT_RANDOM, draw) for name in TEXT)
    for first, second in combinations(TOPICS, 2):
        yield from (Cell("pairs", f"{EMBEDDINGS}, {first}-{second}", *how, draw) for how in FEW)


def cells_of_news(draw: int) -> Iterator[Cell]:
    """The cells of one draw with two newsgroups each."""
    for first, second in combinations(NEWSGROUPS, 2):
        yield from (Cell("latent", f"{NEWS}, {first}-{second}", *how, draw) for how in FEW)


def cells_of_seven(draw: int) -> Iterator[Cell]:
    """The cells of one draw with all seven classes."""
    return (Cell("seven", EMBEDDINGS, *how, draw) for how in FEW)


def _trials(journal: Journal) -> list[Trial]:
    """Draw by draw; in each the method last that is not for all rows."""
    return [
        Trial(journal, {**cell._asdict(), "method": method}, partial(_run, cell, method))
        for planned in (cells, cells_of_news, cells_of_seven)
        for draw in range(N_DRAWS)
        for methods in ([m for m in METHODS if m not in DENSE_ONLY], DENSE_ONLY)
        for cell in planned(draw)
        for method in methods
        if method not in LEFT_OUT.get(cell.part, ())
    ]


def _run(cell: Cell, method: str) -> Entry:
    drawn = draw_cell(cell)
    with fit_facts() as facts:
        model = METHODS[method](drawn)
    facts["accuracy"] = float(model.score(drawn.split.X_test, drawn.split.y_test))
    if isinstance(model, SemiSupervisedSVC):
        facts["used_unlabeled"] = model.used_unlabeled_
        facts |= {"shares": _rounded(drawn.shares), "label_shares": _rounded(drawn.label_shares)}
        facts |= {"balance": _rounded(model.balance_), "balance_se": _rounded(model.balance_se_)}
    return facts


def _rounded(shares: np.ndarray) -> list[float]:
    return np.round(shares, 4).tolist()


@lru_cache(maxsize=1)  # the methods of a cell follow one another
def draw_cell(cell: Cell) -> Drawn:
    """The rows and labels of a cell."""
    data = _data(cell.set)
    n_classes = int(data.y.max()) + 1
    if cell.drawn == BY_CLASS:
        plan = _plan(cell, cell.labels * n_classes, int(cell.labels))
    elif cell.labels < 1:
        plan = _plan(cell, round(cell.labels * (data.y.size - int(TEST * data.y.size))), 1)
    else:
        plan = _plan(cell, cell.labels * (1 if cell.part == "text" else n_classes), 1)
    split = make_split(data, plan, cell.draw)
    _, known = split.labeled
    all_rows, tested, labeled = (np.bincount(y.astype(int), minlength=n_classes) for y in (data.y, split.y_test, known))
    unlabeled = all_rows - tested - labeled
    return Drawn(split, unlabeled / unlabeled.sum(), labeled / labeled.sum())


def _plan(cell: Cell, labeled: float, per_class: int) -> SplitPlan:
    embedded = cell.part in ("pairs", "seven", "latent")
    return SplitPlan(
        labeled, per_class, TEST, scale="none" if embedded else "features", dtype="float32" if embedded else "float64"
    )


@lru_cache(maxsize=1)
def _data(name: str) -> Bunch:
    """A set with classes 0, 1, ...; of the embeddings two topics where the name tells them."""
    file, _, pair = name.partition(", ")
    data, topics = (_latent_news(), list(NEWSGROUPS)) if file == NEWS and pair else (load_set(file), list(TOPICS))
    chosen = [topics.index(topic) for topic in pair.split("-")] if pair else np.unique(data.y)
    rows = np.flatnonzero(np.isin(data.y, chosen))
    return Bunch(X=data.X[rows], y=np.unique(data.y[rows], return_inverse=True)[1])


@lru_cache(maxsize=1)
def _latent_news() -> Bunch:
    """The newsgroups, by latent dimensions of all posts, as rows of length 1."""
    data = load_set(NEWS)
    X = normalize(TruncatedSVD(150, random_state=0).fit_transform(data.X))
    rng, taken = np.random.default_rng(0), []
    for group, share in NEWSGROUPS.items():
        rows = rng.permutation(np.flatnonzero(data.group == int(group)))
        taken.append(np.sort(rows[: int(share * rows.size)]))
    sizes = [rows.size for rows in taken]
    return Bunch(X=X[np.concatenate(taken)], y=np.repeat(np.arange(len(taken)), sizes))


FEW_LABELS_STUDIES = {
    "few_labels": Study(
        "the defaults of SemiSupervisedSVC with few labels, beside what else a user has",
        (*SMALL_UCI, *TEXT, EMBEDDINGS),
        _trials,
        few_labels_table,
    )
}
