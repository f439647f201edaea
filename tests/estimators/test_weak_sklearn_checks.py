"""scikit-learn's own checks of the estimators of other weak labels.

Their y is taken as it is: plain labels are certain candidates, labels of which some may be wrong, and, of rows without
a group, known. A share of 0 makes the negatives of positive and unlabeled rows known.
"""

from __future__ import annotations

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from wellsvm import CandidateLabelSVC, NoisyLabelSVC, PositiveUnlabeledSVC, ProportionSVC

pytestmark = [
    pytest.mark.filterwarnings("ignore:y contains only -1 and:UserWarning"),
    pytest.mark.filterwarnings("ignore:y contains -1, 0 and 1:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*stopped without convergence:sklearn.exceptions.ConvergenceWarning"),
]

COPIES = "coordinate descent stops at tol: copies of a row end within tol of its weight, not at the same bits"
NAMES = "of two names the positive one is not clear: positive_class is asked for"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": COPIES,
    "check_sample_weight_equivalence_on_sparse_data": COPIES,
}
OF_POSITIVES = {
    "check_classifiers_classes": NAMES,
}
if parse_version(sklearn.__version__) < parse_version("1.7"):
    OTHERS = "these checks of scikit-learn 1.6 have classes without the positive one"
    OF_POSITIVES |= dict.fromkeys(
        ("check_dtype_object", "check_estimator_sparse_array", "check_estimator_sparse_matrix"), OTHERS
    )


def expected_failures(estimator):
    return EXPECTED | (OF_POSITIVES if isinstance(estimator, PositiveUnlabeledSVC) else {})


@parametrize_with_checks(
    [
        PositiveUnlabeledSVC(balance=0.0, C=2.0, C_unlabeled=2.0, positive_class=1),
        ProportionSVC(),
        NoisyLabelSVC(noise=0.0),
        CandidateLabelSVC(),
        CandidateLabelSVC(kernel="rbf"),
    ],
    expected_failed_checks=expected_failures,
)
def test_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)
