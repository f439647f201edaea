"""Images as bags: the regions of an image become instances, and the regions located are drawn back onto it.

Every generator lays a coarse grid of cells over the image and moves a square of cells over it: the squares are the
regions, and what is measured in a region (and around it) is the instance.

- "sbn", single blob with neighbors (Maron and Ratan 1998): mean color of the region, and its differences to the
  regions above, below, left and right. 15 features; regions without room for four neighbors are left out.
- "grid": mean and standard deviation of every color. 6 features.
- "patches": the region itself, reduced to a few pixels by averaging. 3 ``patch_size ** 2`` features.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wellsvm._bag_input import require_list
from wellsvm._image_bag import ImageBag, image_to_bag
from wellsvm._typing import IntArray
from wellsvm.bags import Bags
from wellsvm.plotting import RegionsDisplay

__all__ = ["ImageBag", "image_bags", "image_to_bag", "images_to_bags", "plot_regions"]


def images_to_bags(images: Iterable[Any], generator: str = "sbn", **options: Any) -> tuple[Bags, list[IntArray]]:
    """Turn images into bags, one bag per image.

    Parameters
    ----------
    images : iterable of arrays
        The images; they may differ in size.
    generator : {"sbn", "grid", "patches"}, default="sbn"
        As in `image_to_bag`.
    **options :
        Other parameters of `image_to_bag`.

    Returns
    -------
    bags : Bags
        The instances of every image.
    boxes : list of int arrays of shape (n_regions_of_the_image, 4)
        The positions of the instances in every image.
    """
    require_list(images, "images must be a list of images")
    found = []
    for i, image in enumerate(images):
        try:
            found.append(image_to_bag(image, generator, **options))
        except ValueError as error:
            raise ValueError(f"image {i}: {error}") from None
    return Bags.from_list([bag.instances for bag in found]), [bag.boxes for bag in found]


def image_bags(images: Iterable[Any], generator: str = "sbn", **options: Any) -> Bags:
    """Turn images into bags that know where their instances are, so that ``locate`` returns boxes in pixels.

    Parameters
    ----------
    images, generator, **options :
        As in `images_to_bags`.

    Returns
    -------
    Bags
        The instances of every image; ``boxes`` holds their positions, also for subsets of the bags and for bags with
        transformed instances.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import MultiInstanceSVC
    >>> from wellsvm.images import image_bags
    >>> rng = np.random.default_rng(0)
    >>> images = rng.random((20, 64, 64, 3))
    >>> y = np.arange(20) % 2
    >>> images[y == 1, 24:40, 24:40] = 1, 0, 0
    >>> bags = image_bags(images)
    >>> MultiInstanceSVC(random_state=0).fit(bags, y).locate(bags[:2]).tolist()
    [[-1, -1, -1, -1], [24, 24, 40, 40]]
    """
    bags, boxes = images_to_bags(images, generator, **options)
    bags.boxes = boxes
    return bags


def plot_regions(image: Any, boxes: Any, scores: Any, ax: Any = None, *, k: int | None = None, **options: Any) -> Any:
    """Draw an image with its best regions outlined.

    Parameters
    ----------
    image : array of shape (height, width, 3) or (height, width)
        The image.
    boxes : int array of shape (n_regions, 4)
        Top, left, bottom and right of every region, as returned by `image_to_bag`.
    scores : array of shape (n_regions,)
        Score of every region, as returned by ``decision_function_instances``; positive for regions that show the
        concept.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.
    k : int, optional
        Maximum number of regions to outline: those with a positive score, best first, that do not overlap a better one.
        None means all of them.
    **options :
        Other parameters of `RegionsDisplay.plot`.

    Returns
    -------
    RegionsDisplay
        The display, with the objects that were drawn.
    """
    return RegionsDisplay.from_scores(image, boxes, scores, k=k, ax=ax, plot_options=options)
