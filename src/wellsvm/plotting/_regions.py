"""RegionsDisplay: where in an image a classifier of bags sees what it looks for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from wellsvm._arguments import whole_number
from wellsvm._image_bag import image_to_bag
from wellsvm._typing import FloatArray, IntArray
from wellsvm.plotting._matplotlib import import_pyplot

__all__ = ["RegionsDisplay", "best_regions", "score_map"]

# Opacity of the white veil over what scores low: the image must stay visible below.
PALEST = 0.65


class RegionsDisplay:
    """An image with the regions that a classifier of bags located in it.

    Create one with `from_estimator`, or from existing scores with `from_scores`.

    Parameters
    ----------
    image : array of shape (height, width, 3) or (height, width)
        The image.
    boxes : int array of shape (n_regions, 4)
        Top, left, bottom and right of every region in pixels, as returned by `wellsvm.images.image_to_bag`.
    scores : array of shape (n_regions,)
        Score of every region; a positive score supports the concept.
    located : int array of shape (n_located,)
        The regions to outline.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : AxesImage
        The image.
    shade_ : AxesImage or None
        The white veil over regions with low scores.
    rectangles_ : list of Rectangle
        The outlines, in the order of ``located``.
    texts_ : list of Annotation
        The scores written next to the outlines.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm.plotting import RegionsDisplay
    >>> boxes = np.array([[0, 0, 10, 10], [0, 10, 10, 20]])
    >>> display = RegionsDisplay(image=np.zeros((10, 20)), boxes=boxes, scores=[0.7, -1.2], located=[0])
    >>> len(display.plot().rectangles_)
    1
    """

    def __init__(self, *, image: Any, boxes: Any, scores: Any, located: Any) -> None:
        self.image = image
        self.boxes = boxes
        self.scores = scores
        self.located = located

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        image: Any,
        generator: str = "sbn",
        *,
        k: int | None = 1,
        ax: Any = None,
        plot_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Cut an image into regions, score them with a fitted classifier, and draw the result.

        Parameters
        ----------
        estimator : fitted MultiInstanceSVC, a baseline, or a Pipeline that ends in one
            The classifier, fitted on bags of the same generator. With more than two classes, the scores are those of
            the predicted class.
        image : array of shape (height, width, 3) or (height, width)
            The image.
        generator : {"sbn", "grid", "patches"}, default="sbn"
            As in `wellsvm.images.image_to_bag`.
        k : int or None, default=1
            Maximum number of regions to outline: the key instance returned by ``locate``, then others with a positive
            score that do not overlap a better one; None outlines all of these. If the image is predicted negative,
            nothing is outlined.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if None.
        plot_options : dict, optional
            Other parameters of `plot`.
        **options :
            Other parameters of `wellsvm.images.image_to_bag`.

        Returns
        -------
        RegionsDisplay
            The display, drawn.
        """
        bag = image_to_bag(image, generator, **options)
        bags = [bag.instances]
        if isinstance(estimator, Pipeline):
            estimator, bags = estimator[-1], estimator[:-1].transform(bags)
        scores = estimator.decision_function_instances(bags)
        if scores.ndim == 2:
            scores = scores[:, estimator.classes_.tolist().index(estimator.predict(bags)[0])]
        key = int(estimator.locate(bags)[0])
        located = best_regions(bag.boxes, scores, k, key) if key >= 0 else np.empty(0, dtype=np.int64)
        return cls(image=image, boxes=bag.boxes, scores=scores, located=located).plot(ax, **(plot_options or {}))

    @classmethod
    def from_scores(
        cls,
        image: Any,
        boxes: Any,
        scores: Any,
        *,
        k: int | None = None,
        ax: Any = None,
        plot_options: dict[str, Any] | None = None,
    ) -> Self:
        """Draw existing scores, with the best regions outlined.

        Parameters
        ----------
        image, boxes, scores :
            As in the class.
        k : int, optional
            Maximum number of regions to outline: those with a positive score, best first, that do not overlap a better
            one. None means all of them.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if None.
        plot_options : dict, optional
            Other parameters of `plot`.

        Returns
        -------
        RegionsDisplay
            The display, drawn.
        """
        boxes, scores = np.asarray(boxes), np.asarray(scores)
        if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
            raise ValueError(
                f"boxes has shape {boxes.shape} and scores {scores.shape}; expected (n_regions, 4) and (n_regions,)"
            )
        located = best_regions(boxes, scores, k)
        return cls(image=image, boxes=boxes, scores=scores, located=located).plot(ax, **(plot_options or {}))

    def plot(
        self,
        ax: Any = None,
        *,
        shade: bool = True,
        annotate: bool = True,
        cmap: str = "YlOrRd",
        vmax: float | None = None,
        linewidth: float = 2.5,
    ) -> Self:
        """Draw the image, pale where scores are low, and outline the located regions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if None.
        shade : bool, default=True
            Whether to make the image pale by score: full color at ``vmax``, palest for scores of 0 or less and outside
            of all regions. For overlapping regions, their mean counts.
        annotate : bool, default=True
            Whether to write the score next to every outline.
        cmap : str or Colormap, default="YlOrRd"
            Colors of the outlines, from a score of 0 to ``vmax``.
        vmax : float, optional
            The score of the last color; None uses the largest score in the image. Set it to compare images.
        linewidth : float, default=2.5
            Of the outlines.

        Returns
        -------
        self
        """
        plt = import_pyplot()
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        image, boxes, scores = np.asarray(self.image), np.asarray(self.boxes), np.asarray(self.scores)
        if ax is None:
            ax = plt.subplots()[1]
        highest = float(scores.max() if vmax is None else vmax)
        norm = Normalize(0.0, highest if highest > 0 else 1.0, clip=True)
        colours = ScalarMappable(norm, cmap).to_rgba(scores)
        self.ax_, self.figure_ = ax, ax.figure
        self.image_ = ax.imshow(image, cmap="gray" if image.ndim == 2 else None, interpolation="nearest")
        self.shade_ = None
        if shade:
            veil = np.ones((*image.shape[:2], 4))
            veil[..., 3] = PALEST * (1.0 - norm(score_map(image.shape[:2], boxes, scores)))
            self.shade_ = ax.imshow(veil, interpolation="nearest")
        self.rectangles_ = [_outline(ax, boxes[j], colours[j], linewidth) for j in self.located]
        self.texts_ = [_write(ax, boxes[j], scores[j]) for j in self.located if annotate]
        ax.set_axis_off()
        return self


def best_regions(boxes: IntArray, scores: FloatArray, k: int | None = None, first: int | None = None) -> IntArray:
    """Regions of positive score that do not overlap, best first: at most k; ``first`` leads whatever its score."""
    most = len(boxes) if k is None else whole_number("k", k, low=1)
    order = np.argsort(-scores, kind="stable")
    chosen = [] if first is None else [first]
    for j in order[scores[order] > 0]:
        if len(chosen) >= most:
            break
        top, left, bottom, right = boxes[j]
        others = boxes[chosen]
        apart = (others[:, 0] >= bottom) | (others[:, 2] <= top) | (others[:, 1] >= right) | (others[:, 3] <= left)
        if apart.all():
            chosen.append(int(j))
    return np.array(chosen, dtype=np.int64)


def score_map(shape: tuple[int, ...], boxes: IntArray, scores: FloatArray) -> FloatArray:
    """Mean score of the regions over every pixel; 0 where there is none."""
    total, count = np.zeros(shape), np.zeros(shape)
    for (top, left, bottom, right), score in zip(boxes, scores):
        total[top:bottom, left:right] += score
        count[top:bottom, left:right] += 1
    return total / np.maximum(count, 1)


def _outline(ax: Any, box: IntArray, colour: Any, linewidth: float) -> Any:
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import Normal, Stroke

    top, left, bottom, right = box - 0.5  # a pixel's number is its middle
    # A dark rim keeps light outlines apart from light images.
    rim = [Stroke(linewidth=linewidth + 2.0, foreground="black"), Normal()]
    return ax.add_patch(
        Rectangle(
            (left, top), right - left, bottom - top, fill=False, edgecolor=colour, linewidth=linewidth,
            path_effects=rim, clip_on=False,
        )
    )  # fmt: skip


def _write(ax: Any, box: IntArray, score: float) -> Any:
    """Write the score above the box, or below where there is no room above."""
    top, left, bottom, _ = box
    above = top > bottom - top
    return ax.annotate(
        f"{score:.2f}", (left - 0.5, (top if above else bottom) - 0.5), xytext=(0, 4 if above else -4),
        textcoords="offset points", va="bottom" if above else "top", color="white", fontsize="small",
        bbox={"facecolor": "black", "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip
