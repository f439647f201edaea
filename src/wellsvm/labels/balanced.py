"""Semi-supervised labels: known ones kept, the number of positives among the others within bounds (Eq. 17)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from wellsvm._arguments import at_least, at_most, whole_number, whole_numbers
from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet
from wellsvm.options import Options

__all__ = ["BalancedLabels", "class_balances", "largest", "made_feasible", "positive_bounds"]

Balance = str | float | tuple[float, float] | None


def largest(scores: FloatArray, k: int, among: BoolArray | None = None) -> BoolArray:
    """Which are the k largest scores, ``among`` some of them; of equal ones, those of lower index.

    No sort: a selection is linear in time. It takes one copy of the scores.
    """
    among = np.ones(scores.size, dtype=bool) if among is None else among
    moved = scores[among]
    if not 0 < k < moved.size:
        return among & (k > 0)
    moved.partition(moved.size - k)
    least = moved[moved.size - k]
    del moved
    chosen: BoolArray = scores >= least
    chosen &= among
    surplus = int(np.count_nonzero(chosen)) - k
    if surplus:  # ties, of which the first are taken
        ties = np.flatnonzero((scores == least) & among)
        chosen[ties[ties.size - surplus :]] = False
    return chosen


class BalancedLabels(LabelSet):
    """Known labels kept; ``low <= positives among the unlabeled <= high``.

    Parameters
    ----------
    y_known : array of shape (n,)
        +1 or -1 where known, 0 where unlabeled.
    low, high : int
        Bounds on the number of positives among the unlabeled rows; equal bounds are Joachims' constraint.
    """

    def __init__(self, y_known: IntArray | LabelArray, low: int, high: int | None = None) -> None:
        self.y_known: LabelArray = whole_numbers("y_known", y_known, np.int8, -1, 1)
        self.n_instances = self.y_known.size
        most = Options.largest_count
        self.low = whole_number("low", low, low=-most, high=most)
        self.high = self.low if high is None else whole_number("high", high, low=-most, high=most)
        n_free = self.n_instances - int(np.count_nonzero(self.y_known))
        if not 0 <= self.low <= self.high <= n_free:
            raise ValueError(
                f"bounds on the positives must satisfy 0 <= low <= high <= {n_free} unlabeled rows; "
                f"got low={self.low}, high={self.high}"
            )

    @property
    def free(self) -> IntArray:
        """The unlabeled rows; found anew, since 8 bytes a row are much where rows do not fit into memory."""
        return np.flatnonzero(self.y_known == 0)

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Label the rows of largest score +1 (Prop. 5): as many as have a positive score, within the bounds."""
        free = self.y_known == 0
        n_positive = self.low
        if self.low < self.high:
            n_positive = min(max(int(np.count_nonzero((scores > 0) & free)), self.low), self.high)
        y: LabelArray = self.y_known - free.view(np.int8)
        y += 2 * largest(scores, n_positive, free).view(np.int8)
        return y

    @classmethod
    def known(cls, y: LabelArray) -> BalancedLabels:
        """The set whose only member is ``y``: an ordinary supervised problem."""
        return cls(y, 0)

    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` keeps the known labels and the balance."""
        known = self.y_known != 0
        n_positive = int(np.count_nonzero(y[self.free] == 1))
        return bool(
            np.all(np.abs(y) == 1)
            and np.array_equal(y[known], self.y_known[known])
            and self.low <= n_positive <= self.high
        )


def made_feasible(label_set: LabelSet, y: LabelArray) -> LabelArray:
    """y itself, or the nearest allowed labels: a fold of cross-validation has another balance than the whole."""
    return y if label_set.contains(y) else label_set.linear_oracle(y.astype(np.float64))


def class_balances(balance: Any, classes: np.ndarray, shares: FloatArray | None = None) -> list[tuple[int, Balance]]:
    """The positive class of every two-class problem (one for two classes, else all of them) and its balance, checked.

    ``shares`` of all classes stand in for "estimate"; without them it is "labels".
    """
    positive = [1] if len(classes) == 2 else list(range(len(classes)))
    if isinstance(balance, dict):
        missing = [c for c in classes.tolist() if c not in balance]
        if missing:
            raise ValueError(f"balance has no entry for class {missing[0]!r}; give one for each of {classes.tolist()}")
        given = [_checked(balance[c]) for c in classes]
        numbers = [share for share in given if isinstance(share, float)]
        if len(numbers) == len(given) and abs(sum(numbers) - 1) > Options.shares_slack:
            raise ValueError(
                f"balance={balance!r} has shares that sum to {sum(numbers):g}; those of all classes sum to 1"
            )
        return [(k, given[k]) for k in positive]
    if isinstance(balance, str) and balance == "estimate":
        return [(k, "labels" if shares is None else float(shares[k])) for k in positive]
    if len(classes) > 2 and not (balance is None or isinstance(balance, str)):
        raise ValueError(
            f"balance={balance!r} is one share but y has {len(classes)} classes; use 'estimate', 'labels', None or a "
            "dict from class to share"
        )
    return [(k, _checked(balance)) for k in positive]


def _checked(balance: Any) -> Balance:
    """ "labels", None, a share, or an interval of shares."""
    ways = (
        "'estimate' (for all classes at once), 'labels', a share in [0, 1], an interval (low, high) of shares, or None"
    )
    if balance is None or (isinstance(balance, str) and balance == "labels"):
        return balance
    if isinstance(balance, (tuple, list)):
        if len(balance) == 2 and all(map(_is_share, balance)):
            low, high = map(float, balance)
            if isinstance(balance, list) and abs(low + high - 1) <= Options.shares_slack:
                raise ValueError(
                    f"balance={balance!r} may be the shares of two classes or an interval of one share; pass a dict "
                    f"from class to share, or the tuple ({low:g}, {high:g}) for the interval"
                )
            if low > high:
                raise ValueError(f"balance=({low:g}, {high:g}) has its ends reversed; the lower share comes first")
            return low, high
    elif _is_share(balance):
        return float(balance)
    numbers = not isinstance(balance, (tuple, list)) or all(isinstance(part, Real) for part in balance)
    raise (ValueError if numbers else TypeError)(f"balance must be {ways}; got balance={balance!r}")


def _is_share(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and bool(0 <= value <= 1)  # compared as it is: a large Fraction has no float


def positive_bounds(balance: Balance, y_known: LabelArray) -> tuple[int, int]:
    """Bounds on the number of positives among the unlabeled rows.

    Parameters
    ----------
    balance : "labels", float, (low, high) or None
        The class ratio of the labeled rows, a share, an interval of shares, or no constraint.
    y_known : array of shape (n,)
        +1 or -1 where known, 0 where unlabeled.
    """
    n_free = int(np.count_nonzero(y_known == 0))
    if balance is None:
        return 0, n_free
    if isinstance(balance, str):
        share = int(np.count_nonzero(y_known == 1)) / max(1, int(np.count_nonzero(y_known)))
        return at_most(n_free * share), at_most(n_free * share)
    if isinstance(balance, tuple):
        low, high = (n_free * share for share in balance)
        return min(at_least(low), at_most(high)), at_most(high)
    return at_most(n_free * balance), at_most(n_free * balance)
