"""On real text, unlabeled rows are worth a lot. docs/choices_text.md has the full tables: ten splits, five sets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from experiments.data_folder import load_stored
from experiments.studies.constants import counted_work
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.model_selection import hide_labels

SETS = ["text_pcmac", "text_basehock", "text_relathe"]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    "n_labeled, least_mean_gain",
    [
        (50, 0.05),
        pytest.param(200, 0.02, marks=pytest.mark.xfail(reason="0.0196 at today's defaults: docs/choices_text.md")),
    ],
)
def test_unlabeled_text_lifts_accuracy_on_rows_never_seen_and_harms_no_set(n_labeled, least_mean_gain, data_home):
    gains = {}
    for name in SETS:
        text = load_stored(name, data_home)
        for split in range(3):
            X, X_test, y, y_test = train_test_split(text.X, text.y.astype(float), random_state=split)
            y = hide_labels(y, n_labeled=n_labeled, unlabeled=np.nan, random_state=split)
            known = ~np.isnan(y)
            supervised = LinearSVC(loss="hinge", random_state=0, max_iter=100_000).fit(X[known], y[known])
            model = SemiSupervisedSVC(C_unlabeled=0.3, random_state=0).fit(X, y)
            gains.setdefault(name, []).append(model.score(X_test, y_test) - supervised.score(X_test, y_test))
    means = [np.mean(gain) for gain in gains.values()]
    assert np.mean(means) >= least_mean_gain, gains
    assert min(means) >= 0, gains


@pytest.mark.slow
@pytest.mark.data
def test_the_search_over_prices_does_the_work_of_twelve_fits_at_most(data_home):
    text = load_stored("text_news20", data_home)
    y = hide_labels(text.y.astype(float), n_labeled=50, unlabeled=np.nan, random_state=0)
    counts = []
    for model in (SemiSupervisedSVC(random_state=0), SemiSupervisedSVCCV(random_state=0)):
        with counted_work() as work:
            model.fit(text.X, y)
        counts.append(work["work"])
    assert counts[1] <= 12 * counts[0], counts[1] / counts[0]
