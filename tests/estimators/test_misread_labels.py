"""Labels that are easily misread: words for a missing value, numbers among objects, shares in place of labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from wellsvm import NoisyLabelSVC, ProportionSVC, SemiSupervisedSVC
from wellsvm.model_selection import SemiSupervisedSplit
from wellsvm.partial_labels import normalize_partial_labels

N = 60
X = np.random.default_rng(0).standard_normal((N, 3)) + 2.0 * (np.arange(N) % 2)[:, None]
TRUTH = np.arange(N) % 2
KNOWN = np.arange(N) < 20


@pytest.mark.parametrize("word", ["nan", "None", "<NA>"])
def test_words_for_missing_values_are_a_class_and_told(word):
    y = np.where(KNOWN, np.array(["no", "yes"])[TRUTH], word)
    for labels in (y, y.astype(object)):
        with pytest.warns(UserWarning, match=f"y has 40 label.*that read '{word}'.*Pass unlabeled='{word}'"):
            assert len(normalize_partial_labels(labels).classes) == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(normalize_partial_labels(labels, unlabeled=word).classes) == 2
            assert len(normalize_partial_labels(labels, unlabeled=None).classes) == 3


def test_whole_numbers_among_none_can_be_scored():
    y = np.array([label if known else None for label, known in zip(TRUTH, KNOWN)], dtype=object)
    model = SemiSupervisedSVC(random_state=0)
    scores = cross_val_score(model, X, y, cv=SemiSupervisedSplit(4), error_score="raise")
    assert scores.mean() > 0.8
    assert model.fit(X, y).score(X, TRUTH.astype(object)) == model.score(X, TRUTH)


def test_shares_in_the_place_of_labels_are_told_their_place():
    with pytest.raises(ValueError, match="If y holds the shares of groups, pass them as proportions="):
        ProportionSVC().fit(X, [0.1, 0.3, 0.5], groups=np.arange(N) % 3)


def test_weights_that_are_no_numbers_are_named():
    for model, y in ((SemiSupervisedSVC(), np.where(KNOWN, TRUTH, np.nan)), (NoisyLabelSVC(), TRUTH)):
        with pytest.raises(ValueError, match=r"^sample_weight: could not convert string to float: 'a'"):
            model.fit(X, y, sample_weight="a")
