"""Tools of scikit-learn that would take unlabeled rows for a class: one sentence says so, and what to use."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.baselines import TSVM
from wellsvm.metrics import make_labeled_scorer
from wellsvm.model_selection import SemiSupervisedSplit

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 90)
X = RNG.standard_normal((90, 4)) + 2 * TRUTH[:, None]
HIDDEN = np.arange(90) % 2 == 0
Y = np.where(HIDDEN, -1, TRUTH)
NAMED = np.where(HIDDEN, None, np.array(["no", "yes"], dtype=object)[TRUTH])

NAMES_BOTH = r"SemiSupervisedSplit.*make_labeled_scorer"


def model(**params):
    return SemiSupervisedSVC(**{"unlabeled": -1, "random_state": 0, **params})


# ------------------------------------------------------------------ score


@pytest.mark.parametrize(
    ("y", "unlabeled"),
    [
        (Y, -1), (Y, [-1, -2]), (Y.astype(float), "auto"), (np.where(HIDDEN, np.nan, TRUTH), "auto"),
        (np.ma.MaskedArray(TRUTH, HIDDEN), "auto"), (NAMED, "auto"), (pd.Series(NAMED, dtype="string"), "auto"),
        (np.where(HIDDEN, "?", NAMED).astype(str), "?"), (pd.Series(Y).astype("Int64").replace(-1, pd.NA), "auto"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:y contains -1, 0 and 1")
def test_unlabeled_rows_cannot_be_scored(y, unlabeled):
    fitted = model(unlabeled=unlabeled).fit(X, y)
    with pytest.raises(ValueError, match=f"45 of the 90 rows to score are unlabeled.*{NAMES_BOTH}"):
        fitted.score(X, y)
    with pytest.raises(ValueError, match=NAMES_BOTH):
        fitted.score(X[:1], y[:1])
    labeled = np.array(np.asarray(y)[~HIDDEN].tolist())  # numbers, not objects, which scikit-learn 1.6 cannot compare
    assert fitted.score(X[~HIDDEN], labeled) == accuracy_score(labeled, fitted.predict(X[~HIDDEN]))


@pytest.mark.parametrize("kind", [SemiSupervisedSVCCV, TSVM])
def test_all_estimators_of_partly_labeled_rows_refuse_to_score_them(kind):
    with pytest.raises(ValueError, match=NAMES_BOTH):
        kind(unlabeled=-1, random_state=0).fit(X, Y).score(X, Y)


def test_minus_one_can_be_a_class():
    y = np.where(HIDDEN, np.nan, 2 * TRUTH - 1)
    fitted = model(unlabeled="auto").fit(X, y)
    assert fitted.score(X, 2 * TRUTH - 1) == np.mean(fitted.predict(X) == 2 * TRUTH - 1)


# ------------------------------------------------------------------ searches


@pytest.mark.parametrize("y", [Y, NAMED], ids=["-1", "None"])
def test_a_search_with_plain_folds_shows_the_sentence(y):
    search = GridSearchCV(model(unlabeled=-1 if y is Y else "auto"), {"C": [1, 2]}, cv=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    told = [str(w.message).replace("\n", " ") for w in caught if "Scoring failed" in str(w.message)]
    assert len(told) == 6
    assert all("SemiSupervisedSplit" in text and "make_labeled_scorer" in text for text in told)
    with pytest.raises(ValueError, match=NAMES_BOTH):
        search.set_params(error_score="raise").fit(X, y)


@pytest.mark.parametrize(
    "how", [{"cv": SemiSupervisedSplit(3, unlabeled=-1)}, {"cv": 3, "scoring": make_labeled_scorer()}]
)
def test_what_the_sentence_names_works(how):
    assert cross_val_score(model(), X, Y, **how).min() > 0.8


# ------------------------------------------------------------------ calibration


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled:UserWarning")  # cross_val_predict encodes y
@pytest.mark.parametrize(
    "how",
    [
        {"cv": 3},
        {"cv": SemiSupervisedSplit(3, unlabeled=-1)},
        {"cv": 3, "ensemble": False},
        {"cv": 3, "n_jobs": 2},
    ],
    ids=["3", "SemiSupervisedSplit", "ensemble=False", "n_jobs=2"],
)
def test_calibration_would_make_unlabeled_rows_a_class(how):
    for inner in (model(), make_pipeline(StandardScaler(), model())):
        with pytest.raises(ValueError, match=f"probability=True.*{NAMES_BOTH}"):
            CalibratedClassifierCV(inner, **how).fit(X, Y)


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled:UserWarning")
def test_calibration_on_labeled_rows_works():
    calibrated = CalibratedClassifierCV(model(), cv=3).fit(X, TRUTH)
    assert calibrated.score(X, TRUTH) > 0.8
    aside = np.flatnonzero(~HIDDEN)[::2]
    y = Y.copy()
    y[aside] = -1
    calibrated = CalibratedClassifierCV(FrozenEstimator(model().fit(X, y))).fit(X[aside], Y[aside])
    assert calibrated.score(X, TRUTH) > 0.8


class WithOthers(ClassifierMixin, BaseEstimator):
    """Adds unlabeled rows of its own to every fit."""

    def fit(self, X_labeled, y):
        together = np.append(y, np.full(len(X), -1))
        self.model_ = model().fit(np.vstack([X_labeled, X]), together)
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X):
        return self.model_.decision_function(X)


def test_an_estimator_that_adds_unlabeled_rows_itself_can_be_calibrated():
    assert CalibratedClassifierCV(WithOthers(), cv=3).fit(X[~HIDDEN], Y[~HIDDEN]).classes_.tolist() == [0, 1]


# ------------------------------------------------------------------ ensembles

ENSEMBLES = {
    "voting": lambda inner: VotingClassifier([("a", inner), ("b", inner)]),
    "voting in processes": lambda inner: VotingClassifier([("a", inner), ("b", inner)], n_jobs=2),
    "stacking": lambda inner: StackingClassifier([("a", inner)], cv=3),
    "bagging": lambda inner: BaggingClassifier(inner, n_estimators=2, random_state=0),
    "one-vs-rest": OneVsRestClassifier,
}


@pytest.mark.parametrize("name", list(ENSEMBLES))
def test_ensembles_encode_the_mark_of_unlabeled_rows(name):
    with pytest.raises(ValueError, match=f"encode y.*unlabeled=None.*{NAMES_BOTH}"):
        ENSEMBLES[name](model()).fit(X, Y)


@pytest.mark.parametrize("name", ["voting", "stacking", "bagging", "one-vs-rest"])
def test_with_auto_a_warning_must_do(name):  # that -1 was there cannot be known
    with pytest.warns(UserWarning, match=f"encode y.*{NAMES_BOTH}"):
        ENSEMBLES[name](model(unlabeled="auto")).fit(X, TRUTH)


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled:UserWarning")
def test_ensembles_of_labeled_rows_work():
    assert ENSEMBLES["voting"](model(unlabeled=None)).fit(X, TRUTH).score(X, TRUTH) > 0.8
