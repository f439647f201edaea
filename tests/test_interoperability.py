"""Every estimator inside scikit-learn's machinery: frames, pipelines, searches, routing, calibration, joblib, HTML."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    ParameterGrid,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.bags import per_instance
from wellsvm.baselines import MISVM, MIKernelSVC, miSVM
from wellsvm.datasets import make_two_moons
from wellsvm.metrics import clustering_accuracy, make_labeled_scorer
from wellsvm.model_selection import SemiSupervisedSplit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MOONS = make_two_moons(n_samples=90, n_labeled=30, random_state=0)
X, Y = MOONS.X, np.where(MOONS.y_partial < 0, np.nan, MOONS.y_partial.astype(float))
LABELED = np.flatnonzero(~np.isnan(Y))
ROWS = {
    "plain": SemiSupervisedSVC(kernel="rbf", random_state=0),
    "cv": SemiSupervisedSVCCV(kernel="rbf", Cs_unlabeled=[0.1], cv=2, random_state=0),
    "clusters": MaxMarginClustering(random_state=0),
}
BAGS = {
    "plain": MultiInstanceSVC(random_state=0),
    "MI-SVM": MISVM(random_state=0),
    "mi-SVM": miSVM(random_state=0),
    "MI-Kernel": MIKernelSVC(random_state=0),
}


def make_bags():
    """Flat instances, their bags, and the label of every bag."""
    rng = np.random.default_rng(0)
    groups, y = np.repeat(np.arange(24), 3), np.arange(24) % 2
    instances = rng.standard_normal((72, 2))
    instances[::3][y == 1] += 4
    return instances, groups, y


INSTANCES, GROUPS, Y_BAGS = make_bags()


def frame_of(kind, columns=("first", "second"), values=X):
    module = pytest.importorskip(kind)
    return module.DataFrame({name: values[:, k] for k, name in enumerate(columns)})


# ------------------------------------------------------------------ frames


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", ROWS)
def test_a_frame_is_as_good_as_an_array_and_its_names_are_kept(name, kind):
    frame = frame_of(kind)
    if not hasattr(StandardScaler().fit(frame), "feature_names_in_"):
        pytest.skip(f"this scikit-learn does not read the names of {kind}")
    model, plain = clone(ROWS[name]).fit(frame, Y), clone(ROWS[name]).fit(X, Y)
    assert model.feature_names_in_.tolist() == ["first", "second"]
    np.testing.assert_array_equal(model.decision_function(frame), plain.decision_function(X))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame_of(kind, ("second", "first")))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_column_with_missing_labels_is_a_target(kind):
    module = pytest.importorskip(kind)
    y = module.Series([None if np.isnan(label) else ["no", "yes"][int(label)] for label in Y])
    model = clone(ROWS["plain"]).fit(frame_of(kind), y)
    plain = clone(ROWS["plain"]).fit(X, Y)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(frame_of(kind)) == "yes", plain.predict(X) == 1)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", BAGS)
def test_a_frame_of_instances_keeps_its_names(name, kind):
    frame = frame_of(kind, values=INSTANCES)
    model = clone(BAGS[name]).fit(frame, Y_BAGS, groups=GROUPS)
    assert model.feature_names_in_.tolist() == ["first", "second"]
    bags = Bags(frame, GROUPS)
    np.testing.assert_array_equal(model.predict(frame, groups=GROUPS), model.predict(bags[:]))
    assert model.decision_function_instances(frame).shape == (72,)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(INSTANCES, groups=GROUPS)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame_of(kind, ("second", "first"), INSTANCES), groups=GROUPS)
    refitted = model.fit(INSTANCES, Y_BAGS, groups=GROUPS)
    assert not hasattr(refitted, "feature_names_in_")
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        refitted.predict(bags)


@pytest.mark.parametrize("name", ROWS)
def test_frames_pass_through_a_pipeline_that_keeps_them(name):
    frame = frame_of("pandas")
    pipeline = make_pipeline(StandardScaler(), clone(ROWS[name])).set_output(transform="pandas").fit(frame, Y)
    assert pipeline[-1].feature_names_in_.tolist() == ["first", "second"]


# ------------------------------------------------------------------ searches


def by_hand(model, grid, X, y, cv, score):
    """Scores of a search, one row per candidate and one column per fold, by two plain loops."""
    folds = list(cv.split(np.zeros(len(y)), y))
    return np.array(
        [
            [
                score(clone(model).set_params(**params).fit(X[train], y[train]), X[test], y[test])
                for train, test in folds
            ]
            for params in ParameterGrid(grid)
        ]
    )


def check_search(search, expected):
    """A search has exactly these scores, and takes the best of them."""
    scores = [search.cv_results_[f"split{k}_test_score"] for k in range(expected.shape[1])]
    np.testing.assert_array_equal(np.stack(scores, axis=1), expected)
    assert search.best_index_ == expected.mean(axis=1).argmax()
    assert search.best_params_ == list(ParameterGrid(search.param_grid))[search.best_index_]


def on_labeled(model, X, y):
    """Accuracy on the labeled rows."""
    labeled = ~np.isnan(y)
    return np.mean(model.predict(X[labeled]) == y[labeled])


@pytest.mark.parametrize("cv", [SemiSupervisedSplit(3, unlabeled=np.nan), KFold(3)], ids=["labeled rows", "all rows"])
@pytest.mark.parametrize("name", ["plain", "cv"])
def test_a_pipeline_in_a_search_with_unlabeled_rows(name, cv):
    pipeline = make_pipeline(StandardScaler(), clone(ROWS[name]))
    step = pipeline.steps[-1][0]
    grid = {f"{step}__C": [0.01, 1]}
    search = GridSearchCV(pipeline, grid, cv=cv, scoring=make_labeled_scorer(), error_score="raise")
    search.fit(X, Y)
    check_search(search, by_hand(pipeline, grid, X, Y, cv, on_labeled))


def test_a_search_over_clusterings():
    scoring = lambda model, X, y: clustering_accuracy(y, model.predict(X))  # noqa: E731
    pipeline = make_pipeline(StandardScaler(), MaxMarginClustering(random_state=0))
    grid = {"maxmarginclustering__kernel": ["linear", "rbf"]}
    search = GridSearchCV(pipeline, grid, scoring=scoring, cv=KFold(2)).fit(X, MOONS.y)
    check_search(search, by_hand(pipeline, grid, X, MOONS.y, KFold(2), scoring))


@pytest.mark.parametrize("name", BAGS)
def test_a_pipeline_of_bags_in_a_search(name):
    pipeline = make_pipeline(per_instance(StandardScaler()), clone(BAGS[name]))
    step = pipeline.steps[-1][0]
    grid, bags = {f"{step}__C_positive": [1, 10]}, Bags(INSTANCES, GROUPS)
    search = GridSearchCV(pipeline, grid, cv=3, scoring="accuracy", error_score="raise").fit(bags, Y_BAGS)
    score = lambda model, X, y: np.mean(model.predict(X) == y)  # noqa: E731
    check_search(search, by_hand(pipeline, grid, bags, Y_BAGS, StratifiedKFold(3), score))
    assert search.best_score_ >= 0.75 > max(np.mean(Y_BAGS), 1 - np.mean(Y_BAGS))  # the majority is one half


def test_successive_halving():
    search = HalvingGridSearchCV(
        clone(ROWS["plain"]), {"C": [0.1, 1, 10]}, cv=SemiSupervisedSplit(2, unlabeled=np.nan),
        min_resources=40, factor=2, scoring=make_labeled_scorer("balanced_accuracy"), random_state=0,
    )  # fmt: skip
    assert search.fit(X, Y).n_iterations_ >= 2
    last = search.cv_results_["iter"] == search.n_iterations_ - 1
    means = np.where(last, search.cv_results_["mean_test_score"], -np.inf)
    assert search.best_index_ == means.argmax()
    chosen = clone(ROWS["plain"]).set_params(**search.best_params_).fit(X, Y)
    np.testing.assert_array_equal(search.best_estimator_.decision_function(X), chosen.decision_function(X))
    supervised = clone(chosen).set_params(C_unlabeled=0.0).fit(X, Y)
    assert chosen.score(X, MOONS.y) >= supervised.score(X, MOONS.y) - 0.05


# ------------------------------------------------------------------ scorers


@pytest.mark.parametrize("marker", [np.nan, -1.0, None, "mask"])
def test_the_labeled_scorer_leaves_unlabeled_rows_out_whatever_marks_them(marker):
    model = clone(ROWS["plain"]).fit(X, Y)
    y = np.ma.MaskedArray(np.where(np.isnan(Y), 0.0, Y), mask=np.isnan(Y))
    if marker != "mask":
        y = np.where(np.isnan(Y), np.array(marker, dtype=object), Y.astype(object))
    assert make_labeled_scorer("accuracy")(model, X, y) == model.score(X[LABELED], Y[LABELED])
    assert make_labeled_scorer("roc_auc")(model, X, y) == sklearn.metrics.get_scorer("roc_auc")(
        model, X[LABELED], Y[LABELED]
    )


def test_the_labeled_scorer_needs_a_labeled_row_and_can_be_pickled():
    scorer = pickle.loads(pickle.dumps(make_labeled_scorer("f1")))
    model = clone(ROWS["plain"]).fit(X, Y)
    with pytest.raises(ValueError, match="none of the 2 rows to score has a label"):
        scorer(model, X[:2], [np.nan, -1])
    assert "f1" in repr(scorer)


# ------------------------------------------------------------------ metadata routing


@pytest.mark.parametrize("name", ["plain", "cv"])
def test_sample_weight_is_routed_to_fit_and_score(name):
    weight = np.ones(90)
    weight[LABELED[:10]] = 0
    alone = clone(ROWS[name]).fit(X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(ROWS[name]).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(X, Y, sample_weight=weight)
        np.testing.assert_array_equal(pipeline.decision_function(X), alone.decision_function(X))
        assert not np.array_equal(pipeline.decision_function(X), clone(ROWS[name]).fit(X, Y).decision_function(X))
        scorer = make_labeled_scorer("accuracy").set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"C": [1]}, cv=KFold(2), scoring=scorer, error_score="raise")
        by_weight = search.fit(X, Y, sample_weight=weight).cv_results_["split0_test_score"][0]
    first = KFold(2).split(X)
    train, test = next(first)
    part = clone(ROWS[name]).fit(X[train], Y[train], sample_weight=weight[train])
    rows = test[~np.isnan(Y[test])]
    expected = np.average(part.predict(X[rows]) == Y[rows], weights=weight[rows])
    assert by_weight == pytest.approx(expected)


@pytest.mark.parametrize("name", BAGS)
def test_groups_are_routed_to_every_method_of_a_bag_classifier(name):
    y = Y_BAGS[GROUPS]
    alone = clone(BAGS[name]).fit(Bags(INSTANCES, GROUPS), Y_BAGS)
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(BAGS[name]).set_fit_request(groups=True).set_predict_request(groups=True)
        model.set_decision_function_request(groups=True).set_score_request(groups=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(INSTANCES, y, groups=GROUPS)
        np.testing.assert_array_equal(
            pipeline.decision_function(INSTANCES, groups=GROUPS), alone.decision_function(Bags(INSTANCES, GROUPS))
        )
        assert pipeline.predict(INSTANCES, groups=GROUPS).shape == (24,)
        assert pipeline.score(INSTANCES, y, groups=GROUPS) == alone.score(Bags(INSTANCES, GROUPS), Y_BAGS)
        search = GridSearchCV(model, {"C_positive": [1, 10]}, cv=GroupKFold(3), error_score="raise")
        search.fit(INSTANCES, y, groups=GROUPS)
    bags = Bags(INSTANCES, GROUPS)
    folds = [(np.unique(GROUPS[a]), np.unique(GROUPS[b])) for a, b in GroupKFold(3).split(INSTANCES, y, GROUPS)]
    scores = [
        [
            clone(BAGS[name]).set_params(C_positive=C).fit(bags[train], Y_BAGS[train]).score(bags[test], Y_BAGS[test])
            for train, test in folds
        ]
        for C in (1, 10)
    ]
    check_search(search, np.array(scores))


def test_the_first_argument_of_a_bag_classifier_is_no_metadata():
    assert "bags" not in str(MultiInstanceSVC().get_metadata_routing())


def test_the_score_of_bags_is_the_share_of_bags():
    model = clone(BAGS["plain"]).fit(INSTANCES, Y_BAGS, groups=GROUPS)
    wrong = Y_BAGS.copy()
    wrong[:6] = 1 - wrong[:6]
    right = model.predict(INSTANCES, groups=GROUPS) == Y_BAGS
    expected = np.mean(np.where(np.arange(24) < 6, ~right, right))
    assert model.score(INSTANCES, wrong, groups=GROUPS) == expected
    assert model.score(INSTANCES, wrong[GROUPS], groups=GROUPS) == expected
    weight = (np.arange(24) >= 6).astype(float)
    assert model.score(Bags(INSTANCES, GROUPS), wrong, sample_weight=weight) == right[6:].mean()
    with pytest.raises(ValueError, match="sample_weight has 2 weights for 24 bags"):
        model.score(Bags(INSTANCES, GROUPS), wrong, sample_weight=[1, 1])


# ------------------------------------------------------------------ warnings, probabilities, joblib, copies


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
def test_a_warning_points_at_the_line_of_the_caller():
    pipeline = make_pipeline(
        StandardScaler(), SemiSupervisedSVC(kernel="rbf", search="local", init="svm", tol=1e-5, max_iter=1)
    )
    with pytest.warns(ConvergenceWarning, match="stopped without convergence") as caught:
        pipeline.fit(X, Y)
    assert caught[0].filename == __file__


def test_probabilities_by_calibration_on_labeled_rows():
    held_out, rest = LABELED[::2], np.setdiff1d(np.arange(90), LABELED[::2])
    model = clone(ROWS["plain"]).fit(X[rest], Y[rest])
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[held_out], Y[held_out])
    probability = calibrated.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    order = np.argsort(model.decision_function(X))
    assert np.all(np.diff(probability[order, 1]) >= -1e-12)


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_results_do_not_depend_on_the_backend_of_joblib(backend):
    how = {"cv": SemiSupervisedSplit(2, unlabeled=np.nan), "scoring": make_labeled_scorer()}
    expected = cross_val_score(ROWS["plain"], X, Y, **how)
    with parallel_config(backend=backend, n_jobs=2):
        np.testing.assert_array_equal(cross_val_score(ROWS["plain"], X, Y, **how), expected)


@pytest.mark.parametrize("model", [*ROWS.values(), *BAGS.values()], ids=lambda model: type(model).__name__)
def test_clones_and_their_page_show_the_parameters(model):
    changed = clone(model).set_params(tol=0.0125)
    assert clone(changed).get_params() == changed.get_params()
    assert "0.0125" in changed._repr_html_()
    assert type(model).__name__ in changed._repr_html_()


@pytest.mark.parametrize("name", BAGS)
def test_what_scikit_learn_checks_of_rows_holds_for_bags(name):
    bags, model = Bags(INSTANCES, GROUPS), clone(BAGS[name])
    with pytest.raises(NotFittedError):
        model.predict(bags)
    before = model.get_params()
    assert model.fit(bags, Y_BAGS) is model
    assert model.get_params() == before
    assert model.n_features_in_ == 2
    values = model.decision_function(bags)
    np.testing.assert_array_equal(model.fit(bags, Y_BAGS).decision_function(bags), values)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(bags), values)
    np.testing.assert_allclose(model.decision_function(bags[[5, 2]]), values[[5, 2]], rtol=1e-12)  # sums of a BLAS
    np.testing.assert_array_equal(model.predict(bags), model.classes_[(values > 0).astype(int)])
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 2 features"):
        model.predict([np.zeros((1, 3))])
