"""scikit-learn's own checks of an estimator, on both classes and both geometries."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV


@parametrize_with_checks(
    [
        SemiSupervisedSVC(),
        SemiSupervisedSVC(kernel="rbf"),
        SemiSupervisedSVCCV(Cs_unlabeled=[0.1], cv=2),
    ],
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
