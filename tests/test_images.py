"""Images as bags: features that can be computed by hand, and boxes that name the right pixels."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm import Bags, MultiInstanceSVC
from wellsvm.images import image_to_bag, images_to_bags, plot_regions

UP, DOWN, LEFT, RIGHT = (slice(3 * k, 3 * k + 3) for k in range(1, 5))


def random_image(shape=(64, 48), seed=0):
    return np.random.default_rng(seed).random((*shape, 3))


def mean_of(image, box):
    top, left, bottom, right = box
    return image[top:bottom, left:right].mean(axis=(0, 1))


# ------------------------------------------------------------------ single blob with neighbors


def test_sbn_of_a_cross_by_hand():
    # Cells of 10 x 10 pixels; the middle blob is cells 2-3 each way, its neighbors the blobs around it.
    image = np.zeros((60, 60, 3))
    image[20:40, 20:40] = 0.5, 0.25, 1.0
    image[:20, 20:40] = 0.1, 0.0, 0.0  # above
    image[40:, 20:40] = 0.0, 0.2, 0.0  # below
    image[20:40, :20] = 0.0, 0.0, 0.3  # left
    image[20:40, 40:] = 0.4, 0.4, 0.4  # right
    bag = image_to_bag(image, grid=6)
    assert bag.boxes.tolist() == [[20, 20, 40, 40]]
    assert bag.instances.shape == (1, 15)
    row = bag.instances[0]
    np.testing.assert_allclose(row[:3], [0.5, 0.25, 1.0])
    np.testing.assert_allclose(row[UP], [0.4, 0.25, 1.0])
    np.testing.assert_allclose(row[DOWN], [0.5, 0.05, 1.0])
    np.testing.assert_allclose(row[LEFT], [0.5, 0.25, 0.7])
    np.testing.assert_allclose(row[RIGHT], [0.1, -0.15, 0.6])


def test_sbn_defaults_are_nine_blobs_of_two_cells_row_after_row():
    bag = image_to_bag(random_image((80, 160)))
    assert bag.instances.shape == (9, 15)
    assert bag.instances.dtype == np.float64
    expected = [[10 * i, 20 * j, 10 * i + 20, 20 * j + 40] for i in (2, 3, 4) for j in (2, 3, 4)]
    assert bag.boxes.tolist() == expected


def test_sbn_with_regions_of_one_cell_has_the_papers_regions():
    boxes = image_to_bag(random_image((160, 160)), region_size=1).boxes
    assert len(boxes) == 36
    assert np.all(boxes[:, 2:] - boxes[:, :2] == 20)


def test_a_flat_image_has_no_differences():
    row = image_to_bag(np.full((40, 40, 3), 0.3)).instances
    np.testing.assert_allclose(row[:, :3], 0.3)
    np.testing.assert_allclose(row[:, 3:], 0.0, atol=1e-12)


# ------------------------------------------------------------------ boxes


@pytest.mark.parametrize("shape", [(64, 48), (67, 101), (16, 16)])
@pytest.mark.parametrize("generator", ["sbn", "grid"])
def test_the_first_features_are_the_mean_of_the_box(generator, shape):
    image = random_image(shape)
    bag = image_to_bag(image, generator, region_size=2)
    expected = [mean_of(image, box) for box in bag.boxes]
    np.testing.assert_allclose(bag.instances[:, :3], expected, rtol=1e-10)


@pytest.mark.parametrize("shape, grid", [((64, 48), 8), ((67, 101), (5, 9)), ((7, 7), 7)])
def test_cells_tile_the_image(shape, grid):
    covered = np.zeros(shape, dtype=int)
    for top, left, bottom, right in image_to_bag(random_image(shape), "grid", grid=grid).boxes:
        covered[top:bottom, left:right] += 1
    assert np.all(covered == 1)


def test_stride_moves_regions_by_cells():
    image = random_image((40, 40))
    lefts = image_to_bag(image, "grid", grid=4, region_size=2, stride=1).boxes[:3, 1]
    assert lefts.tolist() == [0, 10, 20]
    boxes = image_to_bag(image, "grid", grid=4, region_size=2, stride=2).boxes
    assert boxes.tolist() == [[0, 0, 20, 20], [0, 20, 20, 40], [20, 0, 40, 20], [20, 20, 40, 40]]


@pytest.mark.parametrize("generator", ["sbn", "grid"])
@pytest.mark.parametrize("shape, grid", [((64, 48), 8), ((65, 47), 7)])
def test_a_mirrored_image_has_mirrored_boxes(generator, shape, grid):
    image = random_image(shape)
    bag, mirrored = (image_to_bag(picture, generator, grid=grid) for picture in (image, image[:, ::-1]))
    order = np.lexsort((-bag.boxes[:, 1], bag.boxes[:, 0]))  # rows as before, each from right to left
    top, left, bottom, right = bag.boxes[order].T
    np.testing.assert_array_equal(mirrored.boxes, np.column_stack([top, shape[1] - right, bottom, shape[1] - left]))
    expected = bag.instances[order]
    if generator == "sbn":
        expected = np.hstack([expected[:, : LEFT.start], expected[:, RIGHT], expected[:, LEFT]])
    np.testing.assert_allclose(mirrored.instances, expected, atol=1e-12)


# ------------------------------------------------------------------ other features, other images


def test_grid_gives_mean_and_deviation():
    image = random_image((30, 20)) + 1e3  # far from 0, where a careless variance loses its digits
    bag = image_to_bag(image, "grid", grid=(3, 2))
    assert bag.instances.shape == (6, 6)
    parts = [image[top:bottom, left:right] for top, left, bottom, right in bag.boxes]
    np.testing.assert_allclose(bag.instances[:, 3:], [part.std(axis=(0, 1)) for part in parts], rtol=1e-8)


def test_patches_are_the_pixels_where_nothing_is_reduced():
    image = random_image((16, 24))
    bag = image_to_bag(image, "patches", grid=(2, 3), patch_size=8)
    np.testing.assert_allclose(bag.instances[4].reshape(8, 8, 3), image[8:16, 8:16], atol=1e-12)


def test_patches_average_what_is_reduced():
    image = random_image((12, 12))
    bag = image_to_bag(image, "patches", grid=1, patch_size=3)
    expected = image.reshape(3, 4, 3, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(bag.instances[0].reshape(3, 3, 3), expected)


@pytest.mark.parametrize("generator", ["sbn", "grid", "patches"])
def test_grey_is_colour_with_equal_channels(generator):
    grey = random_image()[:, :, 0]
    options = {"patch_size": 4}
    one, three = (image_to_bag(image, generator, **options) for image in (grey, np.dstack([grey] * 3)))
    np.testing.assert_array_equal(one.instances, three.instances)
    np.testing.assert_array_equal(one.boxes, three.boxes)


def test_bytes_are_shares_of_255():
    image = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    np.testing.assert_allclose(image_to_bag(image).instances, image_to_bag(image / 255).instances, atol=1e-12)
    single = image_to_bag((image / 255).astype(np.float32)).instances
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, image_to_bag(image).instances, atol=1e-6)


def test_images_of_any_size_become_bags():
    images = [random_image((64, 48)), random_image((80, 80))[:, :, 0], random_image((16, 90))]
    bags, boxes = images_to_bags(images, "grid", grid=4, region_size=2)
    assert isinstance(bags, Bags)
    assert bags.sizes.tolist() == [len(part) for part in boxes] == [9, 9, 9]
    np.testing.assert_array_equal(bags[1].X, image_to_bag(images[1], "grid", grid=4, region_size=2).instances)


def test_a_red_square_is_located_from_labels_of_images():
    rng = np.random.default_rng(0)
    images, y, cells = rng.random((30, 40, 40, 3)) * 0.3, np.arange(30) % 2, rng.integers(0, 4, (30, 2))
    for image, label, (row, column) in zip(images, y, cells):
        image[10 * row : 10 * row + 10, 10 * column : 10 * column + 10, 0] += 0.7 * label
    bags, boxes = images_to_bags(images, "grid", grid=4)
    located = MultiInstanceSVC(random_state=0).fit(bags[:20], y[:20]).locate(bags[20:])
    assert np.all((located >= 0) == y[20:])
    for i in np.flatnonzero(located >= 0):
        np.testing.assert_array_equal(boxes[20 + i][located[i]][:2], 10 * cells[20 + i])


# ------------------------------------------------------------------ errors

IMAGE = np.zeros((40, 40, 3))
HOLE = np.where(np.arange(1600).reshape(40, 40) == 85, np.nan, 0.0)


@pytest.mark.parametrize(
    "image, options, match",
    [
        (np.zeros(5), {}, r"shape \(5,\)"),
        (np.zeros((40, 40, 4)), {}, "alpha"),
        (np.zeros((40, 40, 3), dtype=np.int64), {}, "dtype int64"),
        (HOLE, {}, "row 2, column 5"),
        (np.zeros((5, 40, 3)), {}, r"5 x 40 pixels.*grid=\(8, 8\)"),
        (IMAGE, {"generator": "blobs"}, "generator='blobs'"),
        (IMAGE, {"grid": 5}, "needs 6 or more"),
        (IMAGE, {"grid": (8, 5)}, "and its neighbors"),
        (IMAGE, {"grid": 2, "generator": "grid", "region_size": 3}, "region_size=3"),
        (IMAGE, {"grid": (4, 4, 4)}, "pair"),
        (IMAGE, {"grid": 0}, "grid=0"),
        (IMAGE, {"stride": 0}, "stride=0"),
        (IMAGE, {"region_size": 0}, "region_size=0"),
        (IMAGE, {"generator": "patches"}, "5 x 5 pixels.*patch_size=8"),
    ],
)
def test_what_cannot_be_cut_is_refused(image, options, match):
    with pytest.raises(ValueError, match=match):
        image_to_bag(image, **options)


def test_an_error_names_the_image():
    with pytest.raises(ValueError, match=r"image 1: .*NaN"):
        images_to_bags([IMAGE, HOLE])


def test_plot_regions_wants_one_score_per_box():
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=r"\(1, 4\) and scores \(2,\)"):
        plot_regions(IMAGE, [[0, 0, 5, 5]], [1.0, 2.0])
