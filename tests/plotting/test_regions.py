"""RegionsDisplay draws the regions it should, where they are."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import MultiInstanceSVC
from wellsvm.bags import per_instance
from wellsvm.images import images_to_bags, plot_regions
from wellsvm.plotting import RegionsDisplay
from wellsvm.plotting._regions import best_regions, score_map

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

IMAGE = np.linspace(0, 1, 40 * 60 * 3).reshape(40, 60, 3)
# Three boxes side by side, and one over the first two.
BOXES = np.array([[0, 0, 20, 20], [0, 20, 20, 40], [10, 40, 30, 60], [0, 10, 20, 30]])
SCORES = np.array([0.5, 0.25, -1.0, 0.4])


def corners(rectangle):
    """Top, left, bottom, right in pixels."""
    left, top = rectangle.get_xy()
    box = [top, left, top + rectangle.get_height(), left + rectangle.get_width()]
    return [round(edge + 0.5) for edge in box]


@pytest.mark.parametrize("k, expected", [(None, [0, 1]), (1, [0]), (5, [0, 1])])
def test_positive_regions_that_do_not_overlap_are_outlined(k, expected):
    display = plot_regions(IMAGE, BOXES, SCORES, k=k)
    assert display.located.tolist() == expected
    assert [corners(r) for r in display.rectangles_] == BOXES[expected].tolist()
    assert len(display.ax_.patches) == len(expected)
    assert [text.get_text() for text in display.texts_] == [f"{SCORES[j]:.2f}" for j in expected]


def test_nothing_positive_nothing_outlined():
    display = plot_regions(IMAGE[:, :, 0], BOXES, -np.ones(4))
    assert display.rectangles_ == []
    assert display.image_.get_array().shape == (40, 60)


def test_the_best_region_wins_where_regions_overlap():
    assert best_regions(BOXES, np.array([0.5, 0.25, 0.1, 0.9])).tolist() == [3, 2]
    assert best_regions(BOXES, SCORES, first=2).tolist() == [2, 0, 1]  # kept whatever its score
    assert best_regions(BOXES, SCORES, k=2, first=2).tolist() == [2, 0]


def test_k_is_a_whole_number():
    with pytest.raises(ValueError, match="k=0"):
        plot_regions(IMAGE, BOXES, SCORES, k=0)


def test_outlines_are_coloured_by_score():
    display = plot_regions(IMAGE, BOXES, SCORES, vmax=1.0, cmap="viridis")
    wanted = [matplotlib.colormaps["viridis"](SCORES[j]) for j in display.located]
    np.testing.assert_allclose([r.get_edgecolor() for r in display.rectangles_], wanted)


def test_the_veil_is_thin_where_scores_are_high():
    display = plot_regions(IMAGE, BOXES[:3], SCORES[:3])
    veil = display.shade_.get_array()[..., 3]
    assert veil[5, 5] == 0.0  # the largest score of the image
    assert 0.0 < veil[5, 25] < veil[20, 50]  # half of it, and a negative one
    assert veil[35, 5] == veil[20, 50]  # no region at all
    assert plot_regions(IMAGE, BOXES, SCORES, shade=False).shade_ is None


def test_score_map_is_the_mean_of_the_regions_over_a_pixel():
    values = score_map((40, 60), BOXES, SCORES)
    assert values[5, 5] == 0.5
    assert values[5, 15] == pytest.approx((0.5 + 0.4) / 2)
    assert values[5, 25] == pytest.approx((0.25 + 0.4) / 2)
    assert values[20, 50] == -1.0
    assert values[35, 5] == 0.0


def test_axes_given_are_used_and_need_no_new_figure():
    _, ax = plt.subplots()
    display = plot_regions(IMAGE, BOXES, SCORES, ax, annotate=False)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.texts_ == []
    assert len(plt.get_fignums()) == 1


# ------------------------------------------------------------------ from_estimator


def red_squares(n_images=24, seed=0):
    """Dim noise, with a red square in cell (1, 2) of a 4 x 4 grid where y is 1, a blue one where it is 2."""
    images, y = np.random.default_rng(seed).random((n_images, 40, 40, 3)) * 0.3, np.arange(n_images) % 3
    for image, label in zip(images, y):
        if label:
            image[10:20, 20:30, 0 if label == 1 else 2] += 0.7
    return images, y


@pytest.mark.parametrize("scaled", [False, True])
def test_from_estimator_outlines_what_it_located(scaled):
    images, y = red_squares()
    images, y = images[y < 2], y[y < 2]
    bags, _ = images_to_bags(images, "grid", grid=4)
    model = MultiInstanceSVC(random_state=0)
    model = make_pipeline(per_instance(StandardScaler()), model) if scaled else model
    model.fit(bags, y)
    display = RegionsDisplay.from_estimator(model, images[1], "grid", grid=4, k=3)
    assert corners(display.rectangles_[0]) == [10, 20, 20, 30]
    assert len(display.scores) == len(display.boxes) == 16
    assert len(display.rectangles_) == min(3, np.count_nonzero(display.scores > 0))
    empty = RegionsDisplay.from_estimator(model, images[0], "grid", grid=4, k=3, plot_options={"shade": False})
    assert empty.rectangles_ == []
    assert empty.shade_ is None


def test_from_estimator_takes_the_predicted_one_of_many_classes():
    images, y = red_squares()
    bags, _ = images_to_bags(images, "grid", grid=4)
    model = MultiInstanceSVC(random_state=0).fit(bags, y)
    display = RegionsDisplay.from_estimator(model, images[2], "grid", grid=4)
    assert corners(display.rectangles_[0]) == [10, 20, 20, 30]
    np.testing.assert_array_equal(display.scores, model.decision_function_instances(bags[2])[:, 2])


def test_a_missing_matplotlib_is_named_with_its_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"wellsvm\[plot\]"):
        plot_regions(IMAGE, BOXES, SCORES)
