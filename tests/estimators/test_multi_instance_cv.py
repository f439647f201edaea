"""MultiInstanceSVCCV, predict_proba of bags, random starts and the annealed search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit

from checks import hidden_key
from wellsvm import Bags, MultiInstanceSVC, MultiInstanceSVCCV, load, save
from wellsvm.engine.report import Status

BAGS, Y, _ = hidden_key(shift=1.5)
NEW, Y_NEW, _ = hidden_key(seed=1, shift=1.5)
SMALL = {"Cs_positive": [1.0, 10.0], "contexts": [0.0, 5.0], "gammas": [0.1, 0.5], "cv": 3, "random_state": 0}


def fit(bags=BAGS, y=Y, **parameters):
    return MultiInstanceSVCCV(**{**SMALL, **parameters}).fit(bags, y)


@pytest.fixture(scope="module")
def model():
    return fit(probability=True)


def test_the_best_point_of_the_grid_is_fitted_on_all_bags():
    model = fit(combine="best")
    results = model.cv_results_
    assert len(results["params"]) == 2 * 2 * 2
    best = int(np.argmax(results["mean_test_score"]))
    assert results["rank_test_score"][best] == 1
    assert model.best_params_ == results["params"][best]
    assert model.best_score_ == results["mean_test_score"][best]
    splits = np.array([results[f"split{i}_test_score"] for i in range(3)])
    np.testing.assert_allclose(splits.mean(axis=0), results["mean_test_score"])
    for name, value in model.best_params_.items():
        assert getattr(model, f"{name}_") == value == results[f"param_{name}"][best]
    assert model.score(NEW, Y_NEW) >= 0.8


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_f_is_the_mean_of_the_functions_of_all_prices_and_contexts(kernel):
    bags, y, keys = hidden_key(shift=4.0)
    how = {"kernel": kernel, "random_state": 0, "tol": 1e-6}
    model = fit(bags, y, gammas=None if kernel == "linear" else [0.1, 0.5], **how)
    wanted, own = 0.0, []
    for C, context in product([1.0, 10.0], [0.0, 5.0]):
        one = MultiInstanceSVC(C, C, gamma=model.gamma_, context=context, **how).fit(bags, y)
        own.append(one.decision_function_instances(NEW, None))
        wanted = wanted + own[-1] / 4
    np.testing.assert_allclose(model.decision_function_instances(NEW), wanted, atol=2e-3)
    assert np.std(own, axis=0).max() > 0.02  # they differ, so that a mean of them is told from each
    np.testing.assert_array_equal(model.key_instances_, keys[:, 0])


def test_the_average_chooses_gamma_by_its_own_held_out_values(model):
    scores = {gamma: fit(gammas=[gamma]).best_score_ for gamma in SMALL["gammas"]}
    assert model.best_score_ == pytest.approx(max(scores.values()))
    assert model.gamma_ == max(scores, key=scores.get)
    own = model.cv_results_["param_gamma"] == model.gamma_
    assert (
        model.best_params_
        == model.cv_results_["params"][int(np.argmax(np.where(own, model.cv_results_["mean_test_score"], -np.inf)))]
    )
    assert model.score(NEW, Y_NEW) >= 0.8


def test_one_point_is_its_own_average():
    one = {"Cs_positive": [2.0], "contexts": [1.0], "gammas": [0.2]}
    np.testing.assert_array_equal(fit(**one).decision_function(NEW), fit(**one, combine="best").decision_function(NEW))


def test_without_refinement_functions_of_relaxations_are_averaged():
    model = fit(refine=False, max_iter=3)
    assert model.refined_objective_ is None
    assert model.score(NEW, Y_NEW) >= 0.7


def test_the_model_is_that_of_the_parameters_chosen():
    """Where the key instances are clear, the way along the grid ends where a fit at the last point does."""
    bags, y, keys = hidden_key(shift=4.0)
    model = fit(bags, y, tol=1e-6, combine="best")
    direct = MultiInstanceSVC(**model.best_params_, tol=1e-6, random_state=0).fit(bags, y)
    np.testing.assert_array_equal(model.key_instances_, keys[:, 0])
    np.testing.assert_allclose(model.decision_function(bags), direct.decision_function(bags), atol=1e-3)


def test_held_out_bags_are_judged_by_functions_that_have_not_seen_them():
    """One point, no path: the same values as a grid search that fits on the training bags alone."""
    point = {"C_positive": [2.0], "C_negative": [2.0], "context": [3.0], "gamma": [0.2]}
    folds = list(KFold(4).split(np.zeros(len(BAGS))))
    plain = GridSearchCV(MultiInstanceSVC(random_state=0, tol=1e-6), point, cv=folds, scoring="roc_auc").fit(BAGS, Y)
    ours = fit(Cs_positive=[2.0], contexts=[3.0], gammas=[0.2], cv=folds, scoring="roc_auc", tol=1e-7)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=0.03)


def test_without_a_scoring_the_mean_hinge_loss_decides():
    folds = list(KFold(4, shuffle=True, random_state=0).split(np.zeros(len(BAGS))))
    ours = fit(Cs_positive=[2.0], contexts=[0.0], gammas=[0.2], cv=folds, tol=1e-7)
    wanted = []
    for train, test in folds:
        plain = MultiInstanceSVC(2.0, 2.0, gamma=0.2, random_state=0).fit(BAGS[train], Y[train])
        wanted.append(-np.maximum(0, 1 - (2 * Y[test] - 1) * plain.decision_function(BAGS[test])).mean())
    np.testing.assert_allclose(ours.best_score_, np.mean(wanted), atol=0.03)


def test_prices_are_crossed_only_if_both_are_given():
    def prices(**given):
        results = fit(**{"Cs_positive": None, "contexts": [0], "gammas": [0.2], **given}).cv_results_
        return list(zip(results["param_C_positive"].tolist(), results["param_C_negative"].tolist()))

    assert prices() == [(1, 1), (10, 10)]
    assert prices(Cs_positive=[3, 2]) == [(2, 2), (3, 3)]
    assert prices(Cs_negative=4.0) == [(4, 4)]
    assert sorted(prices(Cs_positive=[1, 2], Cs_negative=[5, 6])) == [(1, 5), (1, 6), (2, 5), (2, 6)]


@pytest.mark.parametrize(
    ("y", "times"),
    [(np.arange(len(BAGS)) % 4 == 0, 3.0), (np.arange(len(BAGS)) % 4 > 0, 1.0), (np.arange(len(BAGS)) % 3, 2.0)],
    ids=["few positive bags", "few negative bags", "three classes"],
)
def test_without_given_prices_rare_positive_bags_weigh_as_much_as_the_negative_ones(y, times):
    results = fit(y=y, Cs_positive=None, contexts=[0], gammas=[0.2]).cv_results_
    assert results["param_C_negative"].tolist() == [1, 10]
    np.testing.assert_allclose(results["param_C_positive"], times * results["param_C_negative"])


def test_rare_positive_bags_are_found_more_often_at_the_default_prices():
    few = np.concatenate([np.flatnonzero(Y)[:4], np.flatnonzero(Y == 0)])
    found = [
        fit(BAGS[few], Y[few], Cs_positive=given, contexts=[0, 5]).predict(NEW)[Y_NEW == 1].mean()
        for given in ([1.0, 10.0], None)
    ]
    assert found[1] > found[0]


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
def test_other_kernels_have_their_own_grids(kernel):
    bags = BAGS.with_instances(BAGS.X @ BAGS.X.T) if kernel == "precomputed" else BAGS
    model = fit(bags, kernel=kernel, gammas=None, Cs_positive=[0.1, 1.0])
    assert len(model.cv_results_["params"]) == 4
    assert model.score(bags, Y) >= 0.8


def test_threads_and_repetition_change_nothing(model):
    values = model.decision_function(NEW)
    np.testing.assert_array_equal(fit(n_jobs=2, probability=True).decision_function(NEW), values)
    np.testing.assert_array_equal(fit().decision_function(NEW), values)


@pytest.mark.parametrize("cv", [2, ShuffleSplit(3, random_state=0), RepeatedStratifiedKFold(n_splits=2, n_repeats=2)])
def test_any_splitter_makes_the_folds(cv):
    n_folds = 2 if cv == 2 else cv.get_n_splits()
    assert sum(name.startswith("split") for name in fit(cv=cv).cv_results_) == n_folds


def test_more_classes_and_named_ones():
    bags, _, _ = hidden_key(60, shift=1.0)
    three = fit(bags, np.array(["a", "b", "c"])[np.arange(60) % 3], contexts=[1.0], gammas=[0.2], probability=True)
    assert three.predict_proba(bags).shape == (60, 3)
    turned = fit(y=np.where(Y, "cancer", "healthy"), positive_class="cancer", scoring="accuracy", probability=True)
    plain = fit(scoring="accuracy", probability=True)
    assert turned.best_params_ == plain.best_params_
    np.testing.assert_array_equal(turned.predict(NEW) == "cancer", plain.predict(NEW) == 1)
    np.testing.assert_allclose(turned.predict_proba(NEW), plain.predict_proba(NEW)[:, ::-1])


def test_it_is_stored_and_copied(model, tmp_path):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert again.best_params_ == model.best_params_
    assert clone(model).get_params() == model.get_params()
    assert set(model.get_params()) == set(MultiInstanceSVCCV.__init__.__code__.co_varnames[1:])


# ------------------------------------------------------------------ predict_proba


@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear"}, {"context": 5.0}])
def test_probabilities_rise_with_f_and_are_honest_on_new_bags(parameters):
    bags, y, _ = hidden_key(120, shift=1.0)
    new, y_new, _ = hidden_key(400, seed=1, shift=1.0)
    model = MultiInstanceSVC(probability=True, random_state=0, **parameters).fit(bags, y)
    chances, f = model.predict_proba(new), model.decision_function(new)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.all(np.diff(chances[np.argsort(f), 1]) >= -1e-12)
    # In every third of the bags, by probability, about as many are positive as it says.
    for part in np.array_split(np.argsort(f), 3):
        assert abs(chances[part, 1].mean() - y_new[part].mean()) < 0.15


def test_probabilities_must_be_asked_for():
    with pytest.raises(AttributeError, match="predict_proba"):
        MultiInstanceSVC().fit(BAGS, Y).predict_proba(BAGS)
    plain = MultiInstanceSVC(random_state=0).fit(BAGS, Y).set_params(probability=True)
    with pytest.raises(NotFittedError, match="without probability=True"):
        plain.predict_proba(BAGS)


# ------------------------------------------------------------------ starts and the annealed search


def test_random_starts_never_raise_the_objective_and_threads_change_nothing():
    bags, y, _ = hidden_key(shift=0.7)
    how = {"C_positive": 10.0, "C_negative": 10.0, "random_state": 0}
    few = MultiInstanceSVC(**how).fit(bags, y)
    many, threads = (MultiInstanceSVC(n_starts=8, n_jobs=n_jobs, **how).fit(bags, y) for n_jobs in (1, 2))
    assert many.refined_objective_ <= few.refined_objective_ * (1 + 2e-3)
    np.testing.assert_array_equal(many.decision_function(bags), threads.decision_function(bags))


def test_the_annealed_search_finds_clear_keys_too():
    bags, y, keys = hidden_key()
    model = MultiInstanceSVC(search="annealed", random_state=0).fit(bags, y)
    np.testing.assert_array_equal(model.key_instances_, keys[:, 0])


def test_the_relaxation_is_short_where_it_only_starts_a_search():
    bags, y, _ = hidden_key(shift=0.5)
    hard = {"C_positive": 10.0, "C_negative": 10.0, "min_decrease": 0.0, "random_state": 0}
    model = MultiInstanceSVC(kernel="linear", **hard).fit(bags, y)
    assert model.n_iter_ == 5
    assert model.status_ == Status.ENOUGH
    assert MultiInstanceSVC(kernel="linear", refine=False, **hard).fit(bags, y).n_iter_ > 5
    assert MultiInstanceSVC(**hard).fit(bags, y).n_iter_ > 5


# ------------------------------------------------------------------ the positive class


@pytest.mark.parametrize("estimator", [MultiInstanceSVC, MultiInstanceSVCCV])
def test_a_fitted_model_names_its_positive_class(estimator):
    how = {"random_state": 0} if estimator is MultiInstanceSVC else SMALL
    assert "positive_class" not in repr(estimator(**how))
    assert estimator(**how).fit(BAGS, Y).positive_class_ == 1
    assert repr(estimator(**how).fit(BAGS, Y)).endswith("positive_class=1)")
    assert repr(estimator().set_params(**how).fit(BAGS, Y > 0)).endswith("positive_class=True)")
    named = estimator(**how, positive_class="b").fit(BAGS, np.array(["b", "a"])[Y])
    assert (named.positive_class_, named.classes_.tolist()) == ("b", ["a", "b"])
    assert repr(named).count("positive_class='b'") == 1


# ------------------------------------------------------------------ bad input


def plain(bags=BAGS, y=Y, **parameters):
    return MultiInstanceSVC(**{"random_state": 0, **parameters}).fit(bags, y)


ONE_POSITIVE = np.where(np.arange(len(BAGS)) == 0, 1, 0)
BAD = {
    "context below 0": (lambda: plain(context=-1.0), "context must be"),
    "context NaN": (lambda: plain(context=np.nan), "context must be"),
    "context infinite": (lambda: plain(context=np.inf), "context must be"),
    "context in words": (lambda: plain(context="much"), "context must be"),
    "context True": (lambda: plain(context=True), "context must be"),
    "search": (lambda: plain(search="global"), "search must be one of 'local', 'annealed'"),
    "search None": (lambda: plain(search=None), "search must be one of"),
    "n_starts below 0": (lambda: plain(n_starts=-1), "n_starts must be"),
    "n_starts a share": (lambda: plain(n_starts=0.5), "n_starts must be"),
    "probability": (lambda: plain(probability="yes"), "probability must be True or False"),
    "words without positive_class": (
        lambda: plain(y=np.where(Y, "cancer", "healthy")), "positive_class='cancer' or positive_class='healthy'"),
    "1 and 2 without positive_class": (lambda: plain(y=Y + 1), "positive_class=1 or positive_class=2"),
    "words without positive_class, cv": (lambda: fit(y=np.where(Y, "a", "b")), "labels 0 and 1, -1 and"),
    "unknown positive class, cv": (lambda: fit(positive_class=7), "positive_class=7 is not among"),
    "prices of 0": (lambda: fit(Cs_positive=[0.0, 1.0]), "Cs_positive must be"),
    "prices below 0": (lambda: fit(Cs_negative=[-1.0]), "Cs_negative must be"),
    "prices NaN": (lambda: fit(Cs_positive=[np.nan]), "Cs_positive must be"),
    "prices in words": (lambda: fit(Cs_negative="1, 10"), "Cs_negative must be"),
    "a table of prices": (lambda: fit(Cs_positive=[[1.0, 2.0]]), "Cs_positive must be a sequence"),
    "no prices": (lambda: fit(Cs_positive=[]), "Cs_positive is empty"),
    "gammas of 0": (lambda: fit(gammas=[0.0]), "gammas must be"),
    "gammas as a set": (lambda: fit(gammas={0.1, 0.2}), "gammas must be a sequence"),
    "gammas with names": (lambda: fit(gammas={"small": 0.1}), "gammas must be a sequence"),
    "contexts that end": (lambda: fit(contexts=iter([0.0, 1.0])), "contexts must be a sequence"),
    "scoring by probabilities": (lambda: fit(scoring="neg_log_loss"), "use a scoring of classes or of decision values"),
    "no gammas": (lambda: fit(gammas=[]), "gammas is empty"),
    "gammas by a rule": (lambda: fit(gammas=["mean"]), "gammas must be"),
    "gammas without a width": (lambda: fit(kernel="linear"), "gammas has no meaning for kernel='linear'"),
    "contexts below 0": (lambda: fit(contexts=[0.0, -1.0]), "contexts must be"),
    "contexts infinite": (lambda: fit(contexts=[np.inf]), "contexts must be"),
    "no contexts": (lambda: fit(contexts=[]), "contexts is empty"),
    "combine in other words": (lambda: fit(combine="mean"), "combine must be one of 'average', 'best'"),
    "combine None": (lambda: fit(combine=None), "combine must be one of"),
    "combine a number": (lambda: fit(combine=3), "combine must be one of"),
    "combine a list": (lambda: fit(combine=["average"]), "combine must be one of"),
    "a table of contexts": (lambda: fit(contexts=[[0.0, 1.0]]), "contexts must be a sequence"),
    "contexts in words": (lambda: fit(contexts="0, 1"), "contexts must be a sequence"),
    "contexts NaN": (lambda: fit(contexts=[np.nan]), "contexts must be"),
    "contexts True": (lambda: fit(contexts=[True]), "contexts must be"),
    "gammas below 0": (lambda: fit(gammas=[-0.1]), "gammas must be"),
    "a table of gammas": (lambda: fit(gammas=[[0.1]]), "gammas must be a sequence"),
    "gammas infinite": (lambda: fit(gammas=[np.inf]), "gammas must be"),
    "prices infinite": (lambda: fit(Cs_negative=[np.inf]), "Cs_negative must be"),
    "prices of one kind empty": (lambda: fit(Cs_negative=[]), "Cs_negative is empty"),
    "search, cv": (lambda: fit(search="global"), "search must be one of"),
    "n_starts below 0, cv": (lambda: fit(n_starts=-1), "n_starts must be"),
    "probability, cv": (lambda: fit(probability=2), "probability must be True or False"),
    "n_key_instances of 0, cv": (lambda: fit(n_key_instances=0), "n_key_instances must be"),
    "refine, cv": (lambda: fit(refine="yes"), "refine must be True or False"),
    "too many folds of an array": (lambda: fit(cv=np.arange(3)), "cv"),
    "one label of several classes": (lambda: fit(y=np.zeros(len(BAGS), dtype=int)), "at least 2 classes"),
    "labels too few": (lambda: fit(y=Y[:-1]), "labels for"),
    "one fold": (lambda: fit(cv=1), "cv must be"),
    "folds True": (lambda: fit(cv=True), "cv=True must be an int, a splitter"),
    "folds in words": (lambda: fit(cv="five"), "cv"),
    "no folds": (lambda: fit(cv=[]), "gives no folds"),
    "a fold without test bags": (lambda: fit(cv=[(np.arange(40), np.arange(0))]), "no bag to be judged by"),
    "a fold without a class": (lambda: fit(y=ONE_POSITIVE, cv=LeaveOneOut()), "no bag of class 1 to learn from"),
    "one positive bag": (lambda: fit(y=ONE_POSITIVE), "class 1 has only one bag"),
    "scoring": (lambda: fit(scoring="best"), "scoring"),
    "max_iter": (lambda: fit(max_iter=0), "max_iter"),
    "n_jobs": (lambda: fit(n_jobs="all"), "n_jobs"),
    "NaN": (lambda: fit(BAGS.with_instances(np.where(np.arange(len(BAGS.X))[:, None] == 3, np.nan, BAGS.X))), "NaN"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_an_error_that_says_what_is_wrong(case):
    act, match = BAD[case]
    with pytest.raises((ValueError, TypeError), match=match):
        act()


def test_a_failed_fit_leaves_the_model_as_it_was(model):
    model, before = fit(), None
    before = model.decision_function(NEW)
    with pytest.raises(ValueError, match="contexts"):
        model.set_params(contexts=[-1.0]).fit(BAGS, Y)
    np.testing.assert_array_equal(model.decision_function(NEW), before)


def test_image_bags_are_located_by_boxes():
    from wellsvm.images import image_bags, images_to_bags

    rng = np.random.default_rng(0)
    images, y = rng.random((12, 64, 64, 3)), np.arange(12) % 2
    images[y == 1, 24:40, 24:40] = 1, 0, 0
    bags, (flat, boxes) = image_bags(images), images_to_bags(images)
    model = MultiInstanceSVC(random_state=0).fit(bags, y)
    numbers, found = model.locate(flat), model.locate(bags)
    for i in range(12):
        wanted = boxes[i][numbers[i]] if numbers[i] >= 0 else [-1] * 4
        np.testing.assert_array_equal(found[i], wanted)
    np.testing.assert_array_equal(model.locate(bags[[3, 2]]), found[[3, 2]])
    np.testing.assert_array_equal(model.locate(bags.with_instances(bags.X)), found)
    three = model.locate(bags, k=3)
    assert three.shape == (12, 3, 4)
    np.testing.assert_array_equal(three[:, 0], found)
    assert isinstance(bags, Bags)
