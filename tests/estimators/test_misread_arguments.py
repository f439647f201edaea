"""What could be read in two ways, or would leave nothing to learn from, is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

import wellsvm
from wellsvm import (
    CandidateLabelSVC,
    MaxMarginClustering,
    NoisyLabelSVC,
    PositiveUnlabeledSVC,
    SemiSupervisedSVC,
)

X = np.random.default_rng(0).standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
PARTLY = np.where(np.arange(60) < 20, Y, -1)


@pytest.mark.parametrize("model, y", [(SemiSupervisedSVC(unlabeled=-1), PARTLY), (NoisyLabelSVC(), Y)])
def test_a_class_without_weight_is_refused_by_name(model, y):
    with pytest.raises(ValueError, match=r"sample_weight .*every labeled row of class 1; give at least one"):
        model.fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))


@pytest.mark.parametrize("without, kind", [(1, "positive"), (0, "unlabeled")])
def test_positives_and_unlabeled_rows_need_weight(without, kind):
    with pytest.raises(ValueError, match=f"sample_weight is 0 for every {kind} row"):
        PositiveUnlabeledSVC().fit(X, Y, sample_weight=np.where(without == Y, 0.0, 1.0))


def test_a_list_that_may_be_shares_or_an_interval_is_refused_and_a_tuple_is_an_interval():
    with pytest.raises(ValueError, match=r"a dict from class to share, or the tuple \(0.3, 0.7\)"):
        SemiSupervisedSVC(unlabeled=-1, balance=[0.3, 0.7]).fit(X, PARTLY)
    share = SemiSupervisedSVC(unlabeled=-1, balance=(0.3, 0.7)).fit(X, PARTLY).balance_[1]
    assert 0.3 <= share <= 0.7


@pytest.mark.parametrize("model", [SemiSupervisedSVC(unlabeled=-1, n_jobs=0), MaxMarginClustering(n_jobs=0)])
def test_no_thread_at_all_is_refused(model):
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        model.fit(X, PARTLY)


@pytest.mark.parametrize("name", ["safe", "warm_start", "probability"])
def test_flags_are_looked_at_before_the_data(name):
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        SemiSupervisedSVC(**{name: "yes"}).fit("no matrix", None)


def test_a_missing_set_of_candidates_is_an_empty_set():
    y = [{0}, {1}, {0, 1}, None]
    with pytest.raises(TypeError, match=r"use set\(\) where all classes are possible"):
        CandidateLabelSVC().fit(X[:4], y)


def test_powers_that_negative_numbers_do_not_have_are_told_by_the_degree():
    with pytest.raises(ValueError, match=r"degree=2\.5 needs values that are not negative"):
        SemiSupervisedSVC(kernel="poly", degree=2.5, unlabeled=-1).fit(X, PARTLY)


def test_links_may_come_as_a_set():
    model = MaxMarginClustering(random_state=0).fit(X, must_link={(0, 1), (2, 3)})
    assert model.labels_[0] == model.labels_[1]
    assert model.labels_[2] == model.labels_[3]


def test_a_report_is_about_our_models(tmp_path):
    with pytest.raises(TypeError, match="model must be an estimator of wellsvm, or contain one; got SVC"):
        wellsvm.report(SVC().fit(X, Y), tmp_path / "page.html")
