"""How a search scores its candidates on held-out rows, and which candidate it takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from wellsvm._typing import BoolArray, FloatArray, IntArray, Matrix
from wellsvm.engine.safety import labels_have_room, ramp_losses
from wellsvm.estimators.user_scoring import score_of
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows

__all__ = [
    "Decided",
    "LabelEvidence",
    "choose",
    "choose_by_labels",
    "errors_to_beat",
    "few_label_folds",
    "for_folds",
    "held_out_score",
    "weights_by_labels",
]


def few_label_folds(codes: IntArray, most: int, seed: int | None = None) -> list[tuple[IntArray, IntArray]]:
    """Folds of labeled rows, at most ``most``, as many as the largest class has labels; no more than one label of a
    class is missing where it has few, and its only one never is.

    Parameters
    ----------
    codes : array of shape (n_rows,)
        Class of every row, -1 where it is unlabeled.
    most : int
        Number of folds, if labels suffice.
    seed : int or None
        Of the order in which the rows of a class are dealt to the folds; None deals them as they lie.

    Returns
    -------
    list of (train, test)
        Rows; unlabeled ones are in every training part. Empty if every class has one label.
    """
    rows, counts = np.flatnonzero(codes >= 0), np.bincount(codes[codes >= 0])
    if seed is not None:
        rows = np.random.default_rng(seed).permutation(rows)
    fold, begin = np.full(codes.size, -1), 0
    n_folds = min(most, int(counts.max()))
    for k in np.flatnonzero(counts > 1):
        fold[rows[codes[rows] == k]] = (begin + np.arange(counts[k])) % n_folds
        begin += int(counts[k])
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold[fold >= 0])]


def errors_to_beat(rows: Rows, partial: PartialLabels, seed: int) -> float:
    """By how many standard errors a candidate must beat the supervised SVM: none where the space has several dimensions
    for every label of two classes, as in SemiSupervisedSVC (engine/safety.py)."""
    room = labels_have_room(rows, int(np.count_nonzero(partial.labeled)), len(partial.classes), seed)
    return 0.0 if room else Options.chosen_errors


def choose(
    scores: FloatArray, plain: BoolArray | None = None, errors: float = Options.chosen_errors
) -> tuple[int, int]:
    """Index of the candidate and of the C to use.

    The best mean score over the folds wins (of equals the smallest C), but only if it beats the best supervised
    candidate, of C = 0 and a ``plain`` kernel, by more than ``errors`` standard errors of the difference, fold by fold:
    a few rows can make any value look good.
    """
    mean = scores.mean(axis=2)
    if np.isnan(mean).any():
        raise ValueError("scoring gave NaN on a fold; use another scoring or fewer folds")
    best, supervised = _best(mean, plain)
    gain = scores[best] - scores[supervised]
    error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
    return best if gain.mean() > errors * error else supervised


class LabelEvidence(NamedTuple):
    """What labels that were held out several times say of two classes; means over the times, one for each label.

    Attributes
    ----------
    losses, sized_losses : arrays of shape (n_candidates, n_Cs, n_labels)
        Ramp losses of the values, and of values divided by their root mean square over the unlabeled rows.
    right : array of the same shape
        How often a label was right.
    """

    losses: FloatArray
    sized_losses: FloatArray
    right: FloatArray


def choose_by_labels(
    evidence: LabelEvidence, plain: BoolArray | None = None, errors: float = Options.chosen_errors
) -> tuple[int, int]:
    """The same by labels, of which there are more than folds.

    A function of few labels is near 0 where none of them is near, and one with larger values loses less as soon as most
    labels are right. So candidates, the supervised ones among them, are compared by values of one size. The best must
    then save more than ``errors`` standard errors of the loss as it is, and on average over the times that labels were
    held out it must cost fewer than one of them.
    """
    best, supervised = _best(-evidence.sized_losses.mean(axis=2), plain)
    gain = evidence.losses[supervised] - evidence.losses[best]
    lost = round(float(np.sum(evidence.right[supervised] - evidence.right[best])), 6)  # thirds add up to 1 only nearly
    proven = gain.mean() > errors * gain.std() / np.sqrt(gain.size)
    return best if proven and lost < Options.lost_labels else supervised


def weights_by_labels(evidence: LabelEvidence, best: tuple[int, int], alike: BoolArray) -> FloatArray:
    """Weights of the candidates ``alike`` in a mean of functions; of shape (n_candidates, n_Cs), and they add up to 1.

    A weight falls by a factor of e for every standard error that a loss is above that of the best candidate.
    """
    losses, of_best = evidence.sized_losses.mean(axis=2), evidence.sized_losses[best]
    error = max(float(of_best.std()) / np.sqrt(of_best.size), np.finfo(np.float64).eps)
    weights = np.exp((losses[best] - losses) / error) * alike[:, None]
    return np.asarray(weights / weights.sum())


def _best(mean: FloatArray, plain: BoolArray | None) -> tuple[tuple[int, int], tuple[int, int]]:
    """Candidate and C of the best mean, of equals with the smallest C, and those of the best supervised one."""
    unmixed = np.ones(len(mean), dtype=bool) if plain is None or not plain.any() else plain
    supervised = int(np.argmax(np.where(unmixed, mean[:, 0], -np.inf))), 0
    best_C = int(np.argmax(mean.max(axis=0)))
    return (int(np.argmax(mean[:, best_C])), best_C), supervised


def held_out_score(
    scorer: Any, scoring: Any, partial: PartialLabels, values: FloatArray, X: Matrix, test: IntArray
) -> float:
    """What a scorer says of values of the rows ``test``; without one, one less half their mean ramp loss.

    That is an accuracy in which a row inside the margin counts in part: half on the border, wholly from the margin on.
    Few labels give many equal accuracies, and nearly none equal of these.
    """
    if scorer is None:
        return 1.0 - 0.5 * float(np.mean(ramp_losses(values, partial.codes[test])))
    y = partial.classes[partial.codes[test]]
    return score_of(scorer, scoring, Decided(partial.classes, values), X[test], y)


def for_folds(options: Options) -> Options:
    """How folds are solved. A smooth search cannot be cut as short: what it gains it gains in small steps."""
    tol = options.smooth_fold_tol if options.smooth else options.fold_tol
    return options.but(
        verbose=0,
        tol=tol * options.tol,
        min_violation=tol * options.min_violation,
        min_decrease=tol * options.min_decrease,
        search_prices=options.search_prices and (1.0,),  # the grid rises on its own
        smooth_prices=options.smooth_prices[::2],  # and is no finer
    )


class Decided(ClassifierMixin, BaseEstimator):
    """A classifier whose values are already there, so that any scikit-learn scorer can judge them."""

    def __init__(self, classes: np.ndarray, values: FloatArray) -> None:
        self.classes_, self.values = classes, values

    def decision_function(self, X: Any) -> FloatArray:
        return self.values[:, 0] if self.values.shape[1] == 1 else self.values

    def predict(self, X: Any) -> np.ndarray:
        one = self.values.shape[1] == 1
        return self.classes_[(self.values[:, 0] > 0).astype(int) if one else self.values.argmax(axis=1)]
