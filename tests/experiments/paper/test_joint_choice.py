"""The paper's joint choice of parameters: no candidate that could win is given up; shared matrices change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils import Bunch

from experiments.paper.joint_choice import FoldFits, best_candidate
from experiments.paper.partly_labeled import METHODS, Choices
from experiments.splits import SplitPlan, make_split
from experiments.widths import gamma_of_width
from wellsvm import SemiSupervisedSVC
from wellsvm.baselines import CCCPSVM
from wellsvm.model_selection import SemiSupervisedSplit


@pytest.fixture
def split():
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 60)
    return make_split(Bunch(X=rng.standard_normal((120, 3)) + 0.6 * y[:, None], y=y), SplitPlan(labeled=30), 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_choice_is_that_of_a_whole_search(seed):
    scores = np.random.default_rng(seed).integers(0, 5, (12, 5)) / 4  # many ties
    asked = []

    def score(candidate, fold):
        asked.append((candidate, fold))
        return scores[candidate, fold]

    assert best_candidate(12, 5, score) == scores.sum(axis=1).argmax()
    assert len(set(asked)) == len(asked) <= 60
    assert best_candidate(12, 5, score, to_beat=1.0) is None


def test_hopeless_candidates_are_given_up():
    asked = []
    best_candidate(10, 5, lambda candidate, fold: asked.append(candidate) or float(candidate == 0))
    assert len(asked) == 5 + 9


def test_scores_are_those_of_a_grid_search(split):
    model = CCCPSVM(random_state=0)
    grid = {"C_unlabeled": [0.01, 1.0], "gamma": [gamma_of_width(split.X, 1.0)], "kernel": ["rbf"]}
    search = GridSearchCV(model, grid, cv=SemiSupervisedSplit(5)).fit(split.X, split.y)
    fits = FoldFits(model, split, 5)
    for k, parameters in enumerate(search.cv_results_["params"]):
        ours = [fits.score(parameters, fold) for fold in range(5)]
        assert ours == pytest.approx([search.cv_results_[f"split{fold}_test_score"][k] for fold in range(5)])


def test_the_paper_chooses_among_all_kernels_and_prices_but_never_0(split):
    choices = Choices(kernels=("linear", 1.0), Cs_unlabeled=(0.01, 0.1), folds=3)
    chosen = METHODS["as in the paper"](split, choices, 0)
    assert chosen.parameters["C_unlabeled"] in (0.01, 0.1)
    assert isinstance(chosen.model, SemiSupervisedSVC)
    assert (chosen.model.balance, chosen.model.refine, chosen.model.fit_intercept) == ("labels", False, False)


@pytest.mark.parametrize("method", ["TSVM or SVM", "LapSVM or SVM", "USVM or SVM"])
def test_a_rival_that_is_not_clearly_better_leaves_its_place_to_the_svm(split, method):
    choices = Choices(kernels=("linear",), Cs_unlabeled=(0.01, 0.1), neighbors=(5,), folds=3)
    free, svm = METHODS[method](split, choices, 0), METHODS["SVM"](split, choices, 0)
    if free.parameters.get("C_unlabeled") == 0:
        assert np.array_equal(free.model.predict(split.X_test), svm.model.predict(split.X_test))
    else:
        assert free.parameters.get("C_unlabeled", free.parameters.get("gamma_I")) > 0
    perfect = split._replace(X=np.sign(split.X) * 0 + np.nan_to_num(split.y)[:, None])
    assert METHODS[method](perfect, choices, 0).parameters["C_unlabeled"] == 0  # nothing is better than no error
