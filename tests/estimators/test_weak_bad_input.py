"""What is wrong with weak labels: an error that names it."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm import CandidateLabelSVC, NoisyLabelSVC, PositiveUnlabeledSVC, ProportionSVC, WeakLabelSVC
from wellsvm.labels import ClusterLabels, LabelSet

N = 24
TRUTH = np.arange(N) % 2
X = np.random.default_rng(0).standard_normal((N, 3)) + 2 * TRUTH[:, None]
POSITIVES = np.where(np.arange(N) < 12, TRUTH, 0)
GROUPS = np.arange(N) // 4
SHARES = dict.fromkeys(range(6), 0.5)
CLASSES = np.array([[1, 1, 0], [0, 1, 1]] * (N // 2), dtype=bool)


class Liar(LabelSet):
    n_instances = N

    def linear_oracle(self, scores):
        return np.ones(N, dtype=np.int8)

    def contains(self, y):
        return False


def positives(X=X, y=POSITIVES, weight=None, **params):
    return PositiveUnlabeledSVC(**params).fit(X, y, weight)


def proportions(X=X, y=None, groups=GROUPS, shares=SHARES, weight=None, **params):
    return ProportionSVC(**params).fit(X, y, groups=groups, proportions=shares, sample_weight=weight)


def noisy(X=X, y=TRUTH, weight=None, trusted=None, **params):
    return NoisyLabelSVC(**params).fit(X, y, weight, trusted)


def candidates(X=X, y=CLASSES, weight=None, **params):
    return CandidateLabelSVC(**params).fit(X, y, weight)


CLUSTERS = ClusterLabels(N, 4)


def weak(X=X, y=CLUSTERS, weight=None, **params):
    return WeakLabelSVC(**params).fit(X, y, weight)


def broken(row, value):
    changed = X.copy()
    changed[row, 1] = value
    return changed


# What every one of them refuses: parameters, X, weights.
COMMON = {
    "X with NaN": ({"X": broken(5, np.nan)}, ValueError, "NaN, first in row 5"),
    "X with inf": ({"X": broken(5, np.inf)}, ValueError, "infinity .*row 5"),
    "X that overflows": ({"X": broken(5, 1e200)}, ValueError, "overflow"),
    "X of one dimension": ({"X": X[:, 0]}, ValueError, "2D array"),
    "X without columns": ({"X": X[:, :0]}, ValueError, r"0 feature"),
    "X of words": ({"X": np.full((N, 3), "a")}, ValueError, "could not convert"),
    "fewer rows": ({"X": X[:-1]}, ValueError, "inconsistent|one entry for each|instances but X"),
    "C of 0": ({"C": 0.0}, ValueError, "C must be .*greater than 0"),
    "C of text": ({"C": "1"}, TypeError, "C must be"),
    "a kernel that does not exist": ({"kernel": "cosine"}, ValueError, "kernel must be one of"),
    "a loss that does not exist": ({"loss": "log"}, ValueError, "loss must be one of"),
    "tol of 0": ({"tol": 0.0}, ValueError, "tol"),
    "max_iter of 0": ({"max_iter": 0}, ValueError, "max_iter"),
    "n_jobs of text": ({"n_jobs": "2"}, TypeError, "n_jobs"),
    "a search that does not exist": ({"search": "wide"}, ValueError, "search must be one of"),
    "refine of text": ({"refine": "yes"}, TypeError, "refine"),
    "weights of another length": ({"weight": np.ones(3)}, ValueError, "sample_weight"),
    "negative weights": ({"weight": -np.ones(N)}, ValueError, "(?i)negative"),
    "no weight at all": ({"weight": np.zeros(N)}, ValueError, "(?i)sample.weight"),
    "gamma below 0": ({"kernel": "rbf", "gamma": -1.0}, ValueError, "gamma"),
}
OWN = {
    positives: {
        "no y": ({"y": None}, ValueError, "None"),
        "one class": ({"y": np.ones(N)}, ValueError, "one class"),
        "all unlabeled": ({"y": np.full(N, np.nan)}, ValueError, "no positive rows"),
        "two names": ({"y": np.where(TRUTH, "a", "b")}, ValueError, "positive_class="),
        "three values": ({"y": np.arange(N) % 3}, ValueError, "positive_class="),
        "a positive class that is not there": ({"positive_class": 7}, ValueError, "does not occur"),
        "negatives beside": ({"y": np.arange(N) % 3, "positive_class": 1}, ValueError, "in addition to positive_class"),
        "continuous labels": ({"y": X[:, 0]}, ValueError, "continuous"),
        "balance of text": ({"balance": "labels"}, ValueError, "balance must be"),
        "balance above 1": ({"balance": 1.5}, ValueError, "balance"),
        "balance reversed": ({"balance": (0.6, 0.2)}, ValueError, "reversed"),
        "C_unlabeled of 0": ({"C_unlabeled": 0.0}, ValueError, "C_unlabeled"),
        "one name for both": ({"negative_class": 1}, ValueError, "negative_class"),
        "no weight of positives": ({"weight": 1.0 - POSITIVES}, ValueError, "every positive row"),
    },
    proportions: {
        "no groups": ({"groups": None}, ValueError, "proportions needs groups"),
        "no proportions": ({"shares": None}, ValueError, "proportions is None"),
        "nothing": ({"groups": None, "shares": None}, ValueError, "groups is None"),
        "a group without a share": ({"shares": {0: 0.5}}, ValueError, "no entry for group 1"),
        "a share above 1": ({"shares": {**SHARES, 2: 1.5}}, ValueError, "group 2 .*between 0 and 1"),
        "a share below 0": ({"shares": {**SHARES, 2: -0.5}}, ValueError, "between 0 and 1"),
        "a share of NaN": ({"shares": {**SHARES, 2: np.nan}}, ValueError, "between 0 and 1"),
        "a share of text": ({"shares": {**SHARES, 2: "half"}}, TypeError, "shares or intervals"),
        "an interval reversed": ({"shares": {**SHARES, 2: (0.7, 0.2)}}, ValueError, "between 0 and 1"),
        "shares that do not sum to 1": ({"shares": np.full((6, 3), 0.5)}, ValueError, "sum to 1.5"),
        "classes of different number": ({"shares": {**SHARES, 2: [0.2, 0.3, 0.5]}}, ValueError, "same number"),
        "another number of groups": ({"shares": np.full(5, 0.5)}, ValueError, "5 groups, but groups names 6"),
        "classes that do not fit": ({"classes": ["a", "b", "c"]}, ValueError, "classes must name 2"),
        "the same class twice": ({"classes": ["a", "a"]}, ValueError, "different classes"),
        "classes of mixed types": ({"classes": np.array(["a", 1], dtype=object)}, TypeError, "mixes .*have no order"),
        "a row without group and label": (
            {"groups": np.where(np.arange(N) == 3, np.nan, GROUPS)}, ValueError, "row 3 has neither"
        ),
        "labels against the proportions": (
            {"y": np.where(np.arange(N) < 3, 1, np.nan), "shares": {**SHARES, 0: 0.0}, "classes": [0, 1]},
            ValueError, "already has 3",
        ),
        "a label that is no class": ({"y": np.where(np.arange(N) < 3, 7, np.nan)}, ValueError, "class 7|class 7.0"),
        "slack above 1": ({"slack": 2.0}, ValueError, "slack"),
        "safe of text": ({"safe": "yes"}, TypeError, "safe"),
        "groups of mixed types": ({"groups": [None, "a"] * 11 + [{}, {}]}, (TypeError, ValueError), "group"),
    },
    noisy: {
        "no y": ({"y": None}, ValueError, "None"),
        "one class": ({"y": np.zeros(N)}, ValueError, "2 classes"),
        "a missing label": ({"y": np.where(np.arange(N) == 3, np.nan, TRUTH)}, ValueError, "missing cell"),
        "continuous labels": ({"y": X[:, 0]}, ValueError, "continuous"),
        "noise of text": ({"noise": "auto"}, ValueError, "noise must be"),
        "noise below 0": ({"noise": -0.1}, ValueError, "noise"),
        "noise above a half": ({"noise": 0.7}, ValueError, "at most 0.5"),
        "noise of None": ({"noise": None}, TypeError, "noise"),
        "noise of a class that is not there": ({"noise": {5: 0.1}}, ValueError, "which is not one of"),
        "noise of a class of text": ({"noise": {1: "few"}}, TypeError, r"noise\[1\]"),
        "trusted of numbers": ({"trusted": np.ones(N)}, ValueError, "trusted must be a boolean"),
        "trusted of another length": ({"trusted": np.ones(3, dtype=bool)}, ValueError, "trusted"),
    },
    candidates: {
        "no y": ({"y": None}, ValueError, "None"),
        "a matrix of other numbers": ({"y": CLASSES * 2}, ValueError, "0 and 1"),
        "a class without rows": ({"y": CLASSES & [True, True, False]}, ValueError, "not a candidate of any row"),
        "all classes everywhere": ({"y": np.ones((N, 3), dtype=bool)}, ValueError, "every class is a candidate"),
        "names of another number": ({"classes": ["a"]}, ValueError, "classes must name the 3"),
        "the same name twice": ({"classes": ["a", "b", "a"]}, ValueError, "all different"),
        "names of mixed types": ({"classes": np.array(["a", 1, 2], dtype=object)}, TypeError, "mixes .*have no order"),
        "a set beside a label": ({"y": [{0, 1}, 1] * (N // 2)}, TypeError, r"y\[1\]"),
        "classes of mixed types": ({"y": [{0, "a"}] * N}, TypeError, "different types"),
        "a class that is not named": ({"y": [{0, 1}] * N, "classes": [0, 2]}, ValueError, r"holds the class 1"),
        "one class": ({"y": [{0}] * N}, ValueError, "2 classes"),
        "C_ambiguous of 0": ({"C_ambiguous": 0.0}, ValueError, "C_ambiguous"),
        "continuous labels": ({"y": X[:, 0]}, ValueError, "continuous"),
    },
    weak: {
        "no labels": ({"y": None}, TypeError, "LabelSet"),
        "labels of an array": ({"y": TRUTH}, TypeError, "LabelSet; got ndarray"),
        "a set of another size": ({"y": ClusterLabels(N + 2, 4)}, ValueError, "26 instances but X has 24"),
        "a set that contradicts itself": ({"y": Liar()}, ValueError, "check_label_set"),
        "three classes": ({"classes": ["a", "b", "c"]}, ValueError, "two different"),
        "one class twice": ({"classes": ["a", "a"]}, ValueError, "two different"),
        "an init that does not exist": ({"init": "best"}, ValueError, "init must be one of"),
        "an init of another length": ({"init": np.ones(3)}, ValueError, "init must hold"),
        "an init with NaN": ({"init": np.full(N, np.nan)}, ValueError, "init must hold"),
    },
}  # fmt: skip
CASES = {
    f"{fit.__name__}: {name}": (fit, *case) for fit, own in OWN.items() for name, case in {**COMMON, **own}.items()
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_its_name(name):
    fit, arguments, kind, match = CASES[name]
    with pytest.raises(kind, match=match):
        fit(**arguments)


def test_there_are_twenty_cases_of_each():
    assert all(len(COMMON) + len(own) >= 29 for own in OWN.values())
