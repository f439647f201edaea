"""Scores that scikit-learn does not have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import get_scorer
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from wellsvm.bags import Bags

__all__ = ["LabeledScorer", "RoiRates", "clustering_accuracy", "make_labeled_scorer", "roi_success_rate"]


def clustering_accuracy(y_true: Any, labels: Any) -> float:
    """Share of rows whose cluster matches their class, for the best assignment of clusters to classes.

    Each cluster is assigned to at most one class and each class to at most one cluster; rows in unassigned clusters or
    classes count as wrong. One minus the misclassification error of section 5.3 of the paper.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Classes.
    labels : array of shape (n_samples,)
        Clusters, with any names.

    Returns
    -------
    float
        Between 0 and 1; the order of names does not matter.

    Examples
    --------
    >>> from wellsvm.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    y_true, labels = column_or_1d(y_true), column_or_1d(labels)
    check_consistent_length(y_true, labels)
    if y_true.size == 0:
        raise ValueError("y_true is empty; clustering_accuracy needs at least one row")
    try:
        counts = np.asarray(contingency_matrix(y_true, labels))
    except TypeError as error:  # what has no order
        raise TypeError(f"y_true and labels must each be numbers or text, not both: {error}") from error
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / y_true.size)


class RoiRates(NamedTuple):
    """How well regions of interest were located, each between 0 and 1.

    Attributes
    ----------
    of_relevant : float
        Successes among the relevant bags, Eq. (33).
    of_located : float
        Successes among the bags predicted as relevant, Eq. (34).
    success_rate : float
        Harmonic mean of the two: ``2 successes / (relevant + predicted as relevant)``.
    """

    of_relevant: float
    of_located: float
    success_rate: float


def roi_success_rate(y_true: Any, located: Any, roi: Any, groups: Any = None) -> RoiRates:
    """Rates of success in locating the instance that makes a bag relevant, Eq. (33) and (34).

    A bag predicted as relevant is a success if it is relevant and the instance located in it is a real region of
    interest.

    Parameters
    ----------
    y_true : bool array of shape (n_bags,)
        Which bags are relevant.
    located : int array of shape (n_bags,)
        Index of the located instance within its bag, or -1 for bags predicted as irrelevant, as returned by `locate`.
    roi : sequence of n_bags bool arrays, or bool array of shape (n_instances,) with ``groups``
        Which instances are real regions of interest.
    groups : Bags, or array of shape (n_instances,), optional
        The bag of each entry of a flat ``roi``; bags are in sorted order, as in `Bags`.

    Returns
    -------
    RoiRates
        Both rates and the combined rate; a rate over zero bags is 0.

    Examples
    --------
    >>> from wellsvm.metrics import roi_success_rate
    >>> rates = roi_success_rate([True, True, False], [0, -1, 1], [[1, 0], [0, 1], [0, 0]])
    >>> rates.of_relevant, rates.of_located, rates.success_rate
    (0.5, 0.5, 0.5)
    """
    y_true, located = column_or_1d(y_true), column_or_1d(located)
    if y_true.dtype != bool and not np.isin(y_true, (0, 1)).all():
        raise ValueError("y_true must be a boolean array that marks the relevant bags; pass y == positive_class")
    if groups is not None:
        bags = groups if isinstance(groups, Bags) else Bags(np.empty((len(groups), 0)), groups)
        roi = np.split(bags.arrange(column_or_1d(roi)), bags.offsets[1:-1])
    if roi is None:
        raise TypeError("roi must be given: which instances are real regions of interest")
    check_consistent_length(y_true, located, roi)
    if located.dtype.kind not in "iu" or (located.size and located.min() < -1):
        raise ValueError("located must hold the index of an instance within its bag, or -1 if the bag has none")
    successes = 0
    for bag in np.flatnonzero(located >= 0):
        inside = np.asarray(roi[bag])
        if inside.ndim != 1:
            raise ValueError(f"roi of bag {bag} must be a list of True and False; got {roi[bag]!r:.80}")
        if located[bag] >= inside.size:
            raise ValueError(f"located refers to instance {located[bag]} of bag {bag}, which has {inside.size}")
        successes += bool(y_true[bag]) and bool(inside[located[bag]])
    relevant, predicted = int(np.count_nonzero(y_true)), int(np.count_nonzero(located >= 0))
    return RoiRates(
        successes / max(1, relevant), successes / max(1, predicted), 2 * successes / max(1, relevant + predicted)
    )


# ------------------------------------------------------------------ scores of partly labeled rows


class LabeledScorer:
    """A scorer that leaves out rows without a label; created by `make_labeled_scorer`.

    Parameters
    ----------
    scorer : callable
        What to compute on the labeled rows.
    """

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """The score on the rows whose label is one of ``estimator.classes_``; ``params`` are per row."""
        hidden = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else np.zeros(len(y), dtype=bool)
        number = {label: k for k, label in enumerate(estimator.classes_.tolist())}
        codes = np.array([number.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)
        rows = np.flatnonzero((codes >= 0) & ~hidden)
        if rows.size == 0:
            raise ValueError(
                f"none of the {codes.size} rows to score has a label among {list(number)}; make folds with "
                "wellsvm.model_selection.SemiSupervisedSplit, which puts labeled rows into each"
            )
        chosen = {name: None if value is None else _safe_indexing(value, rows) for name, value in params.items()}
        y_true = estimator.classes_[codes[rows]]
        return float(self.scorer(estimator, _safe_indexing(X, rows), y_true, **chosen))

    def set_score_request(self, **requests: Any) -> LabeledScorer:
        """Ask for metadata, such as ``sample_weight=True``."""
        return LabeledScorer(self.scorer.set_score_request(**requests))

    def get_metadata_routing(self) -> Any:
        """The metadata asked for."""
        return self.scorer.get_metadata_routing()

    def __repr__(self) -> str:
        return f"make_labeled_scorer({self.scorer!r})"


def make_labeled_scorer(scoring: Any = "accuracy") -> LabeledScorer:
    """Make a scorer for targets with unlabeled rows, which are left out before the score is computed.

    Use it in `GridSearchCV`, `cross_val_score` and similar tools, with any splitter. A row counts as labeled if its
    label is one of the classes that the estimator was fitted on; all other rows, marked with NaN, None, -1 or any other
    value, are left out.

    Parameters
    ----------
    scoring : str or callable, default="accuracy"
        A scorer's name, or a scorer ``(estimator, X, y) -> float``.

    Returns
    -------
    LabeledScorer
        The scorer.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> from wellsvm import SemiSupervisedSVC
    >>> from wellsvm.datasets import make_two_moons
    >>> from wellsvm.metrics import make_labeled_scorer
    >>> moons = make_two_moons(n_samples=100, n_labeled=40, random_state=0)
    >>> search = GridSearchCV(
    ...     SemiSupervisedSVC(kernel="rbf", unlabeled=-1), {"C": [1, 10]}, scoring=make_labeled_scorer(), cv=KFold(3)
    ... )
    >>> bool(search.fit(moons.X, moons.y_partial).best_score_ > 0.5)
    True
    """
    return LabeledScorer(get_scorer(scoring))
