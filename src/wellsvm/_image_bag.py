"""An image as a bag: regions are squares of cells on a coarse grid, and what is measured in each is an instance.

What the generators measure is told in `wellsvm.images`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wellsvm._arguments import choice, whole_number
from wellsvm._typing import FloatArray, IntArray

__all__ = ["ImageBag", "image_to_bag"]


class ImageBag(NamedTuple):
    """An image as a bag.

    Attributes
    ----------
    instances : array of shape (n_regions, n_features)
        The features of every region, row after row of the image, left to right.
    boxes : int array of shape (n_regions, 4)
        Where the regions are: ``image[top:bottom, left:right]`` for ``top, left, bottom, right = boxes[j]``.
    """

    instances: FloatArray
    boxes: IntArray


def image_to_bag(
    image: Any,
    generator: str = "sbn",
    *,
    grid: int | tuple[int, int] = 8,
    region_size: int | None = None,
    stride: int = 1,
    patch_size: int = 8,
) -> ImageBag:
    """Cut an image into regions and describe each by a row of features.

    Parameters
    ----------
    image : array of shape (height, width, 3) or (height, width)
        Color or gray. uint8 is divided by 255; floats are used unchanged. Gray images are treated as color images with
        three equal channels, so both kinds can be mixed.
    generator : {"sbn", "grid", "patches"}, default="sbn"
        The features of a region: "sbn", its color and the differences to its four neighbors; "grid", the mean and
        standard deviation of its colors; "patches", its pixels.
    grid : int or (int, int), default=8
        Number of cells down and across. If they do not divide the image evenly, cells differ by one pixel.
    region_size : int, optional
        Side of a region in cells; 2 for "sbn", else 1.
    stride : int, default=1
        Cells from one region to the next: below ``region_size``, regions overlap; above it, there are gaps.
    patch_size : int, default=8
        For "patches": the number of pixels per side to which a region is reduced.

    Returns
    -------
    ImageBag
        ``instances`` of shape (n_regions, n_features) and ``boxes`` of shape (n_regions, 4), in pixels of the image.

    Notes
    -----
    The defaults of "sbn" are those of Maron and Ratan: blobs of 2 x 2 in an image of 8 x 8, nine instances. With
    ``region_size=1`` a 160 x 160 image gives 36 regions of 20 x 20, the size of the paper's regions.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm.images import image_to_bag
    >>> image = np.zeros((80, 80, 3), dtype=np.uint8)
    >>> image[30:50, 30:50] = 255, 0, 0
    >>> bag = image_to_bag(image)
    >>> bag.instances.shape, bag.boxes[4].tolist(), bag.instances[4, :3].tolist()
    ((9, 15), [30, 30, 50, 50], [1.0, 0.0, 0.0])
    """
    describe, default_size, margin = GENERATORS[choice("generator", generator, tuple(GENERATORS))]
    size = default_size if region_size is None else whole_number("region_size", region_size, low=1)
    pixels, cells = _as_colour(image), _as_grid(grid)
    if any(side < n for side, n in zip(pixels.shape, cells)):
        raise ValueError(
            f"image has {pixels.shape[0]} x {pixels.shape[1]} pixels, fewer than the cells of grid={cells}; every cell "
            "needs a pixel: give a larger image or a coarser grid"
        )
    needed = size * (1 + 2 * margin)
    if min(cells) < needed:
        raise ValueError(
            f"grid={cells} has no room for a region of region_size={size} cells"
            f"{' and its neighbors' * margin}; generator={generator!r} needs {needed} or more each way"
        )
    corners = _corners(cells, size, whole_number("stride", stride, low=1), margin * size)
    regions = Regions(pixels, cells, corners, size, whole_number("patch_size", patch_size, low=1))
    return ImageBag(describe(regions), regions.boxes())


# ------------------------------------------------------------------ regions and what is measured in them


class Regions(NamedTuple):
    """Squares of cells on an image.

    Attributes
    ----------
    pixels : array of shape (height, width, 3)
        The image.
    cells : (int, int)
        Cells of the grid down and across.
    corners : int array of shape (n_regions, 2)
        Top and left cell of every region.
    size : int
        Side of a region in cells.
    patch_size : int
        Pixels per side of a patch.
    """

    pixels: FloatArray
    cells: tuple[int, int]
    corners: IntArray
    size: int
    patch_size: int

    def boxes(self, down: int = 0, right: int = 0) -> IntArray:
        """Regions in pixels, moved by so many regions down and to the right."""
        first = self.corners + self.size * np.array([down, right])
        borders = [_borders(side, n) for side, n in zip(self.pixels.shape, self.cells)]
        ends = [borders[axis][cell[:, axis]] for cell in (first, first + self.size) for axis in (0, 1)]
        return np.stack(ends, axis=1)


def _blob_with_neighbours(regions: Regions) -> FloatArray:
    blob = _means(regions.pixels, regions.boxes())
    neighbours = (_means(regions.pixels, regions.boxes(*shift)) for shift in ((-1, 0), (1, 0), (0, -1), (0, 1)))
    return np.hstack([blob] + [blob - neighbour for neighbour in neighbours])


def _mean_and_deviation(regions: Regions) -> FloatArray:
    centred = regions.pixels - regions.pixels.mean(axis=(0, 1))  # else the variance drowns in the square of the mean
    boxes = regions.boxes()
    variance = _means(centred**2, boxes) - _means(centred, boxes) ** 2
    return np.hstack([_means(regions.pixels, boxes), np.sqrt(np.maximum(variance, 0.0))])


def _patches(regions: Regions) -> FloatArray:
    boxes, n = regions.boxes(), regions.patch_size
    heights, widths = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    if min(heights.min(), widths.min()) < n:
        raise ValueError(
            f"a region has {heights.min()} x {widths.min()} pixels, fewer than patch_size={n} each way; lower "
            "patch_size, raise region_size or use a coarser grid"
        )
    rows = boxes[:, :1] + np.array([_borders(height, n) for height in heights])
    columns = boxes[:, 1:2] + np.array([_borders(width, n) for width in widths])
    shape = len(boxes), n, n
    ends = rows[:, :-1, None], columns[:, None, :-1], rows[:, 1:, None], columns[:, None, 1:]
    small = np.stack([np.broadcast_to(end, shape).ravel() for end in ends], axis=1)
    return _means(regions.pixels, small).reshape(len(boxes), -1)


class Generator(NamedTuple):
    """How to describe regions, their side in cells unless told, and how many regions of margin they need (0 or 1)."""

    describe: Callable[[Regions], FloatArray]
    region_size: int
    margin: int


GENERATORS = {
    "sbn": Generator(_blob_with_neighbours, 2, 1),
    "grid": Generator(_mean_and_deviation, 1, 0),
    "patches": Generator(_patches, 1, 0),
}


def _corners(cells: tuple[int, int], size: int, stride: int, margin: int) -> IntArray:
    """Top and left cells of all squares that keep ``margin`` cells to every border."""
    starts = (np.arange(margin, n - size - margin + 1, stride) for n in cells)
    return np.stack(np.meshgrid(*starts, indexing="ij"), axis=-1).reshape(-1, 2)


def _borders(length: int, n_parts: int) -> IntArray:
    """Where ``n_parts`` nearly equal parts of a length of whole pixels begin and end."""
    return np.rint(np.linspace(0, length, n_parts + 1)).astype(np.int64)


def _means(pixels: FloatArray, boxes: IntArray) -> FloatArray:
    """Mean color of every box, from sums over all boxes that start in the upper left corner."""
    height, width, n_channels = pixels.shape
    sums = np.zeros((height + 1, width + 1, n_channels))
    sums[1:, 1:] = pixels.cumsum(axis=0).cumsum(axis=1)
    top, left, bottom, right = boxes.T
    total = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    return total / ((bottom - top) * (right - left))[:, None]


# ------------------------------------------------------------------ checks


def _as_colour(image: Any) -> FloatArray:
    """The image as floats of shape (height, width, 3)."""
    image = np.asarray(image)
    if image.ndim != 2 and not (image.ndim == 3 and image.shape[2] == 3):
        raise ValueError(
            f"image has shape {image.shape}; expected (height, width, 3) for color or (height, width) for gray; "
            "image[..., :3] drops an alpha channel"
        )
    if image.dtype != np.uint8 and image.dtype.kind != "f":
        raise ValueError(
            f"image has dtype {image.dtype}; expected uint8 from 0 to 255 or floats: divide other integers by the "
            "largest possible value"
        )
    bad = np.argwhere(~np.isfinite(image))
    if bad.size:
        raise ValueError(f"image has a NaN or infinite value in row {bad[0][0]}, column {bad[0][1]}; fill it first")
    pixels = image / 255.0 if image.dtype == np.uint8 else image.astype(np.float64)
    return pixels if image.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def _as_grid(grid: Any) -> tuple[int, int]:
    """Cells down and across."""
    pair = grid if isinstance(grid, (tuple, list)) else (grid, grid)
    if len(pair) != 2:
        raise ValueError(f"grid must be a whole number or a pair of them, cells down and across; got grid={grid!r}")
    return whole_number("grid", pair[0], low=1), whole_number("grid", pair[1], low=1)
