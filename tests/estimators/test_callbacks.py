"""scikit-learn's callbacks see every label vector, and can stop the fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.baselines import MISVM
from wellsvm.datasets import make_two_moons
from wellsvm.engine.report import Status

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MOONS = make_two_moons(n_samples=120, n_labeled=6, random_state=0)
TWO_CLASSES = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, oracle="climb", tol=1e-4, random_state=0)


class Listener:
    """Remembers every task; stops after ``last`` of them."""

    def __init__(self, last=None):
        self.last, self.begun, self.ended, self.records, self.calls = last, [], [], [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.ended.append(context.task_name)
        if not metadata:
            return False
        self.records.append(metadata["record"])
        return len(self.records) == self.last


class Failing(Listener):
    def on_fit_task_end(self, estimator, context):
        raise RuntimeError("this callback fails")


def three_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.array(["a", "b", "c"]), 20)
    X = rng.standard_normal((60, 3)) + 3 * np.eye(3)[np.repeat(np.arange(3), 20)]
    return X, np.where(np.arange(60) % 4 == 0, y, None)


def test_a_callback_sees_every_record_of_the_history():
    listener = Listener()
    model = clone(TWO_CLASSES).set_callbacks(listener).fit(MOONS.X, MOONS.y_partial)
    assert len(model.history_) > 2
    assert listener.records == model.history_
    assert listener.calls == ["setup", "teardown"]
    assert sorted(listener.begun) == sorted(listener.ended)
    assert f"gap {model.history_[0].gap:.2g}" in listener.ended[0]


def test_a_callback_changes_nothing_unless_it_stops():
    with_one = clone(TWO_CLASSES).set_callbacks(Listener()).fit(MOONS.X, MOONS.y_partial)
    without = clone(TWO_CLASSES).fit(MOONS.X, MOONS.y_partial)
    np.testing.assert_array_equal(with_one.dual_coef_, without.dual_coef_)


@pytest.mark.parametrize("refine", [True, False])
def test_a_callback_stops_the_fit_and_the_model_is_whole(refine):
    model = clone(TWO_CLASSES).set_params(refine=refine).set_callbacks(Listener(last=2))
    model.fit(MOONS.X, MOONS.y_partial)
    assert model.status_ == Status.STOPPED
    assert len(model.history_) == 2
    assert model.predict(MOONS.X).shape == (120,)
    again = model.set_callbacks().fit(MOONS.X, MOONS.y_partial)
    assert again.status_ != Status.STOPPED


def test_a_run_that_has_converged_is_not_called_stopped():
    n_last = len(clone(TWO_CLASSES).fit(MOONS.X, MOONS.y_partial).history_)
    model = clone(TWO_CLASSES).set_callbacks(Listener(last=n_last)).fit(MOONS.X, MOONS.y_partial)
    assert model.status_ in (Status.NO_VIOLATED_LABEL, Status.SMALL_DECREASE)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_class_has_a_task_of_its_own(n_jobs):
    X, y = three_classes()
    listener = Listener()
    model = SemiSupervisedSVC(init="svm", random_state=0, n_jobs=n_jobs).set_callbacks(listener).fit(X, y)
    assert {f"class {name!r} against the rest" for name in "abc"} < set(listener.ended)
    assert len(listener.records) == sum(len(history) for history in model.history_)


def bags():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), np.arange(20) % 2
    X[::4][y == 1] += 2
    return Bags(X, np.repeat(np.arange(20), 4)), y


FITS = {
    "cv": lambda listener: SemiSupervisedSVCCV(Cs_unlabeled=[0.1], cv=2).set_callbacks(listener).fit(*three_classes()),
    "bags": lambda listener: MultiInstanceSVC().set_callbacks(listener).fit(*bags()),
    "rival": lambda listener: MISVM().set_callbacks(listener).fit(*bags()),
    "two clusters": lambda listener: MaxMarginClustering().set_callbacks(listener).fit(MOONS.X),
    "clusters": lambda listener: MaxMarginClustering(4, n_jobs=2).set_callbacks(listener).fit(MOONS.X),
}


@pytest.mark.parametrize("name", FITS)
def test_every_estimator_begins_and_ends_its_tasks(name):
    listener = Listener()
    FITS[name](listener)
    assert listener.calls == ["setup", "teardown"]
    assert listener.begun[0] == listener.ended[-1] == "fit"
    assert sorted(listener.begun) == sorted(listener.ended)
    assert bool(listener.records) == (name != "rival")


def test_cross_validation_tells_of_its_folds_and_the_last_fit():
    listener = Listener()
    FITS["cv"](listener)
    assert listener.ended.count("fold") == 4  # two, without neighbors and with them
    assert listener.ended.count("fit on all rows") == 1


def test_a_failing_callback_is_torn_down_and_leaves_the_model_as_it_was():
    failing = Failing()
    model = clone(TWO_CLASSES).set_callbacks(failing)
    with pytest.raises(RuntimeError, match="this callback fails"):
        model.fit(MOONS.X, MOONS.y_partial)
    assert failing.calls == ["setup", "teardown"]
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "_callback_fit_ctx")


def test_the_progress_bar_shows_label_vectors_and_their_gap(capsys):
    pytest.importorskip("rich")
    model = clone(TWO_CLASSES).set_callbacks(callback.ProgressBar()).fit(MOONS.X, MOONS.y_partial)
    printed = capsys.readouterr().out
    assert "SemiSupervisedSVC - fit" in printed
    assert f"labelings 2, gap {model.history_[1].gap:.2g}" in printed


def test_the_progress_bar_of_a_pipeline_reaches_the_estimator(capsys):
    pytest.importorskip("rich")
    pipeline = make_pipeline(StandardScaler(), clone(TWO_CLASSES)).set_callbacks(callback.ProgressBar())
    pipeline.fit(MOONS.X, MOONS.y_partial)
    assert "SemiSupervisedSVC - fit" in capsys.readouterr().out


def test_a_scoring_monitor_scores_the_finished_fit():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = SemiSupervisedSVC(unlabeled=None).set_callbacks(monitor)
    with pytest.warns(UserWarning, match="no row of y is unlabeled"):
        model.fit(MOONS.X, MOONS.y)
    (row,) = monitor.get_logs().data
    assert row["accuracy"] == model.score(MOONS.X, MOONS.y)
