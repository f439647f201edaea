"""Cross-validation over bags: the folds, the scores of held-out bags, and the table of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, check_cv

from wellsvm._arguments import number, sequence, whole_number
from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.bags import Bags
from wellsvm.estimators.held_out_choice import Decided
from wellsvm.estimators.user_scoring import score_of
from wellsvm.model_selection import _fold as checked_fold
from wellsvm.model_selection import splitter_or_folds

__all__ = ["Fold", "Judge", "bag_folds", "by_scorer", "mean_hinge", "results_of", "values_of"]

# Score of some bags, given their values, the codes of their classes, all bags, and which bags they are.
Judge: TypeAlias = Callable[[FloatArray, IntArray, Bags, IntArray], float]


class Fold(NamedTuple):
    """Which bags training does not see, and which of these are judged."""

    held_out: BoolArray
    test: IntArray


def bag_folds(cv: Any, y: np.ndarray, seed: int) -> list[Fold]:
    """Folds over bags with labels y: a number of stratified ones, drawn by the seed, or those of a splitter."""
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        classes, counts = np.unique(y, return_counts=True)
        n_folds = min(whole_number("cv", cv, low=2), int(counts.min()))
        if n_folds < 2:
            rare = classes.tolist()[int(counts.argmin())]
            raise ValueError(
                f"class {rare!r} has only one bag, which no fold can hold out; add bags, or use MultiInstanceSVC"
            )
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    else:
        cv = splitter_or_folds(cv)
        if isinstance(cv, list):
            cv = [checked_fold(fold, k, len(y)) for k, fold in enumerate(cv)]
    folds: list[Fold] = []
    for train, test in check_cv(cv).split(np.zeros(len(y)), y):
        held_out = np.ones(len(y), dtype=np.bool_)
        held_out[train] = False
        missing = np.setdiff1d(y, y[~held_out])
        if missing.size or not np.size(test):
            what = (
                f"no bag of class {missing.tolist()[0]!r} to learn from" if missing.size else "no bag to be judged by"
            )
            raise ValueError(f"fold {len(folds)} of cv={cv!r} has {what}; use fewer or stratified folds")
        folds.append(Fold(held_out, np.arange(len(y))[test]))
    if not folds:
        raise ValueError(f"cv={cv!r} gives no folds; use a number of folds of at least 2, or a splitter")
    return folds


def mean_hinge(values: FloatArray, codes: IntArray, bags: Bags, test: IntArray) -> float:
    """Mean hinge loss of bags, over all two-class problems, with a minus sign: the more the better."""
    wanted = [1] if values.shape[1] == 1 else range(values.shape[1])
    signs = np.where(codes[:, None] == np.array(wanted), 1.0, -1.0)
    return -float(np.maximum(0.0, 1.0 - signs * values).mean())


def by_scorer(scoring: Any, classes: np.ndarray, flipped: bool) -> Judge:
    """A judge that asks one of scikit-learn's scorers; ``flipped``: of two classes the first is the positive one."""
    scorer = get_scorer(scoring)

    def judge(values: FloatArray, codes: IntArray, bags: Bags, test: IntArray) -> float:
        if flipped:
            values, codes = -values, 1 - codes
        return score_of(scorer, scoring, Decided(classes, values), bags[test], classes[codes])

    return judge


def results_of(points: list[dict[str, float]], scores: FloatArray) -> dict[str, Any]:
    """What scikit-learn's GridSearchCV calls ``cv_results_``; ``scores`` has a row per point, a column per fold."""
    mean = scores.mean(axis=1)
    return {
        **{f"param_{name}": np.array([point[name] for point in points]) for name in points[0]},
        "params": points,
        **{f"split{i}_test_score": column for i, column in enumerate(scores.T.copy())},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
    }


def values_of(name: str, values: Any, *, open_low: bool = False) -> list[float]:
    """Values to try: numbers of at least 0, or above it if ``open_low``, in rising order, each once."""
    if isinstance(values, str | Set | Mapping | Iterator) or np.ndim(values) > 1:  # no order, or gone after one fit
        raise TypeError(f"{name} must be a sequence of numbers, or None for the default; got {values!r}")
    return sorted({number(name, value, low=0.0, open_low=open_low) for value in sequence(name, values)})
