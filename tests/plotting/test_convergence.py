"""ConvergenceDisplay draws what `history_` holds; scikit-learn's DecisionBoundaryDisplay needs no help."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import MaxMarginClustering, SemiSupervisedSVC
from wellsvm.baselines import MISVM
from wellsvm.plotting import ConvergenceDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def test_the_lines_are_the_history(model):
    display = ConvergenceDisplay.from_estimator(model)
    (objective,), (gap,), (violation,) = display.objective_lines_, display.gap_lines_, display.violation_lines_
    np.testing.assert_array_equal(objective.get_ydata(), [r.objective for r in model.history_])
    np.testing.assert_allclose(gap.get_ydata(), [r.gap / r.objective for r in model.history_])
    violations = [max(r.violation / r.objective, 0.01 * model.tol) for r in model.history_]
    np.testing.assert_allclose(violation.get_ydata(), violations)
    assert objective.get_xdata().tolist() == list(range(1, len(model.history_) + 1))
    assert display.axes_[1].get_yscale() == "log"
    assert display.tol_line_.get_ydata()[0] == model.tol


def test_a_violation_of_zero_stays_visible_on_the_logarithmic_axis(moons):
    clusters = MaxMarginClustering(6, random_state=0).fit(moons.X)
    display = ConvergenceDisplay.from_estimator(clusters)
    assert min(record.violation for history in clusters.history_ for record in history) < 1e-9
    assert min(line.get_ydata().min() for line in display.violation_lines_) == pytest.approx(0.01 * clusters.tol)


def test_one_line_per_class_with_its_name():
    X = np.random.default_rng(0).standard_normal((60, 3)) + 3 * np.eye(3)[np.arange(60) % 3]
    y = np.array(["a", "b", "c"], dtype=object)[np.arange(60) % 3]
    y[20:] = None
    display = ConvergenceDisplay.from_estimator(SemiSupervisedSVC(random_state=0).fit(X, y))
    assert [line.get_label() for line in display.objective_lines_] == ["a", "b", "c"]
    assert len({line.get_color() for line in display.objective_lines_}) == 3


def test_a_pipeline_and_a_pickled_model_will_do(model, moons):
    pipeline = make_pipeline(StandardScaler(), SemiSupervisedSVC(unlabeled=-1)).fit(moons.X, moons.y_partial)
    assert len(ConvergenceDisplay.from_estimator(pipeline).gap_lines_) == 1
    assert len(ConvergenceDisplay.from_estimator(pickle.loads(pickle.dumps(model))).gap_lines_) == 1


def test_it_draws_where_it_is_told_and_passes_options_on(model):
    _, axes = plt.subplots(1, 2)
    display = ConvergenceDisplay.from_estimator(model, ax=axes, color="red")
    assert display.axes_.tolist() == axes.tolist()
    assert display.objective_lines_[0].get_color() == "red"
    figure, ax = plt.subplots()
    inside = ConvergenceDisplay.from_estimator(model, ax=ax)
    assert inside.figure_ is figure
    assert not ax.axison


@pytest.mark.parametrize("case", ["three axes", "no grid", "rival"])
def test_errors_say_what_to_do(case, model):
    if case == "three axes":
        with pytest.raises(ValueError, match="one Axes or two; got 3"):
            ConvergenceDisplay.from_estimator(model, ax=plt.subplots(3)[1])
    elif case == "no grid":
        with pytest.raises(ValueError, match="pass two Axes"):
            ConvergenceDisplay.from_estimator(model, ax=plt.figure().add_axes((0, 0, 1, 1)))
    else:
        rival = MISVM().fit([np.zeros((1, 2)), np.ones((2, 2))], [0, 1])
        with pytest.raises(TypeError, match="MISVM has no labeling_weights_"):
            ConvergenceDisplay.from_estimator(rival)


@pytest.mark.parametrize("response_method", ["predict", "decision_function", "clusters"])
def test_scikit_learn_draws_the_boundary_of_classes_and_clusters(model, response_method, moons):
    if response_method == "clusters":  # older releases of scikit-learn draw no other values of them
        model, response_method = MaxMarginClustering(random_state=0).fit(moons.X), "predict"
    display = DecisionBoundaryDisplay.from_estimator(
        model, moons.X, response_method=response_method, grid_resolution=20
    )
    assert np.ptp(display.response) > 0
