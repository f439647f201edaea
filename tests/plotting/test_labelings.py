"""LabelingsDisplay: the label vectors where they differ, the heaviest on top."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC
from wellsvm.plotting import LabelingsDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def test_the_picture_holds_the_label_vectors_where_they_differ(model):
    display = LabelingsDisplay.from_estimator(model)
    assert len(model.labeling_weights_) > 1
    assert np.all(np.diff(model.labeling_weights_[display.order_]) <= 0)
    differ = np.any(model.labelings_ != model.labelings_[0], axis=0)
    assert sorted(display.rows_) == np.flatnonzero(differ).tolist()
    assert np.all(np.diff((model.labeling_weights_ @ model.labelings_)[display.rows_]) >= 0)
    np.testing.assert_array_equal(display.image_.get_array(), model.labelings_[np.ix_(display.order_, display.rows_)])
    assert [bar.get_width() for bar in display.bars_] == model.labeling_weights_[display.order_].tolist()
    assert display.axes_[0].get_xlabel() == f"{differ.sum()} of 120 rows differ"


def test_a_single_label_vector_is_shown_whole():
    y = np.array([[1, -1, -1, 1]])
    display = LabelingsDisplay(labelings=y, weights=[1.0]).plot()
    assert display.image_.get_array().tolist() == [[-1, -1, 1, 1]]
    assert display.axes_[0].get_xlabel() == "all 4 rows"


def test_many_rows_are_averaged():
    rng = np.random.default_rng(0)
    labelings = rng.choice([-1, 1], (3, 9000))
    display = LabelingsDisplay(labelings=labelings, weights=[0.5, 0.3, 0.2]).plot()
    picture = display.image_.get_array()
    assert picture.shape == (3, 2000)
    assert picture.mean() == pytest.approx(labelings[:, display.rows_].mean(), abs=0.02)


def test_of_a_division_only_its_rows_are_shown(moons):
    clusters = MaxMarginClustering(4, many="divided", random_state=0).fit(moons.X)
    last = LabelingsDisplay.from_estimator(clusters, problem=2)
    assert last.labelings.shape[1] == np.count_nonzero(clusters.labelings_[2][0]) < 120
    with pytest.raises(ValueError, match=r"problem=7 is not one of \[0, 1, 2\]"):
        LabelingsDisplay.from_estimator(clusters, problem=7)


def test_bags_are_counted_by_instances():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), np.arange(20) % 2
    X[::4][y == 1] += 2
    model = MultiInstanceSVC(random_state=0).fit(Bags(X, np.repeat(np.arange(20), 4)), y)
    display = LabelingsDisplay.from_estimator(model)
    assert "80 instances" in display.axes_[0].get_xlabel()
    assert {text.get_text() for text in display.axes_[0].get_legend().texts} <= {"negative", "not key", "key"}


def test_a_pickled_model_has_none_and_says_so(model):
    with pytest.raises(ValueError, match="a pickle or a saved file leaves them out"):
        LabelingsDisplay.from_estimator(pickle.loads(pickle.dumps(model)))


def test_a_single_cluster_has_no_label_vectors(moons):
    with pytest.raises(ValueError, match="has no label vectors"):
        LabelingsDisplay.from_estimator(MaxMarginClustering(1).fit(moons.X))
