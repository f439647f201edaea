"""LabelingsDisplay: the label vectors that the relaxation combines, side by side with their weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from wellsvm._fitted_runs import final_estimator, run_named, runs_of
from wellsvm._typing import FloatArray
from wellsvm.plotting._matplotlib import import_pyplot

__all__ = ["LabelingsDisplay"]

# Columns of the picture at most; more rows than that are averaged, neighbors after sorting.
MOST_COLUMNS = 2000
# Of -1, 0 (an instance that is no key) and +1: told apart in gray and by color-blind eyes.
COLOURS = ("#d9822b", "#f2f2f2", "#2a6fbb")


class LabelingsDisplay:
    """Where the label vectors of a fit differ, and the weight of each.

    The picture has one line per label vector, with the heaviest on top, and one column per row (for bags, per instance)
    on which they differ, in the order of the weighted vote. Rows on which all agree are left out and counted below the
    picture. Create one with `from_estimator`.

    Parameters
    ----------
    labelings : int array of shape (n_labelings, n_rows)
        The label vectors: -1 and +1, and 0 for an instance of a positive bag that is not a key instance.
    weights : array of shape (n_labelings,)
        Their weights.
    unit : str, default="rows"
        What a column represents.

    Attributes
    ----------
    axes_ : array of two matplotlib Axes
        The picture, and the bars of the weights.
    figure_ : matplotlib Figure
        Where it was drawn.
    image_ : AxesImage
        The label vectors.
    bars_ : BarContainer
        The weights.
    order_ : int array of shape (n_labelings,)
        The label vectors from top to bottom.
    rows_ : int array
        The training rows from left to right.

    Examples
    --------
    >>> from wellsvm import SemiSupervisedSVC
    >>> from wellsvm.datasets import make_two_moons
    >>> from wellsvm.plotting import LabelingsDisplay
    >>> moons = make_two_moons(n_samples=100, n_labeled=6, random_state=0)
    >>> model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, init="svm", random_state=0)
    >>> display = LabelingsDisplay.from_estimator(model.fit(moons.X, moons.y_partial))
    >>> len(display.bars_) == len(model.labeling_weights_)
    True
    """

    def __init__(self, *, labelings: Any, weights: Any, unit: str = "rows") -> None:
        self.labelings = labelings
        self.weights = weights
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator: Any, *, problem: Any = None, ax: Any = None, cmap: Any = None) -> Self:
        """Draw the label vectors of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator with ``labelings_``, or a Pipeline or search with one in it
            The model as it was fitted; saved, pickled or loaded models have no label vectors.
        problem : class or int, optional
            With more than two classes, the class to show; with more than two clusters, the index of the division. None
            shows the first.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if None.
        cmap : str or Colormap, optional
            Colors from -1 to +1.

        Returns
        -------
        LabelingsDisplay
            The display, drawn.
        """
        run, model = run_named(runs_of(estimator), problem), final_estimator(estimator)
        if run.labelings is None:
            raise ValueError(
                f"this {type(model).__name__} has no labelings_: a pickle or a saved file leaves them out, and models "
                "fitted in other processes come back as pickles; fit the model here"
            )
        unit, labelings = "instances", run.labelings
        if not hasattr(model, "key_instances_"):
            unit, labelings = "rows", labelings[:, np.any(labelings != 0, axis=0)]  # of a division its own rows
        return cls(labelings=labelings, weights=run.weights, unit=unit).plot(ax, cmap=cmap)

    def plot(self, ax: Any = None, *, cmap: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; the bars are put next to it. A new figure if None.
        cmap : str or Colormap, optional
            Colors from -1 to +1.

        Returns
        -------
        self
        """
        plt = import_pyplot()
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.ticker import MaxNLocator

        labelings, weights = np.asarray(self.labelings), np.asarray(self.weights)
        if ax is None:
            ax = plt.subplots(layout="constrained")[1]
        side = ax.inset_axes((1.03, 0.0, 0.22, 1.0), sharey=ax)
        self.axes_, self.figure_ = np.array([ax, side]), ax.figure
        self.order_ = np.argsort(-weights, kind="stable")
        differ = np.flatnonzero(np.any(labelings != labelings[0], axis=0))
        shown = differ if differ.size else np.arange(labelings.shape[1])
        self.rows_ = shown[np.argsort(weights @ labelings[:, shown], kind="stable")]
        self.image_ = ax.imshow(
            _averaged(labelings[np.ix_(self.order_, self.rows_)]), aspect="auto", interpolation="nearest", vmin=-1,
            vmax=1, cmap=LinearSegmentedColormap.from_list("labels", COLOURS) if cmap is None else cmap,
            extent=(0, shown.size, len(weights) - 0.5, -0.5),
        )  # fmt: skip
        self.bars_ = side.barh(np.arange(len(weights)), weights[self.order_], color="0.55")
        ax.set(ylabel="label vector", xlabel=self._below(labelings.shape[1], differ.size))
        ax.set_yticks(np.arange(len(weights)), (self.order_ + 1).tolist())
        ax.tick_params(left=False)
        ax.hlines(np.arange(1, len(weights)) - 0.5, 0, shown.size, color="white", linewidth=2)
        side.tick_params(labelleft=False, left=False)
        side.spines[["top", "right"]].set_visible(False)
        side.xaxis.set_major_locator(MaxNLocator(2, prune="lower"))  # a 0 would touch the picture's last number
        side.set(xlabel="weight")
        self._explain_colours(ax)
        return self

    def _below(self, n_rows: int, n_different: int) -> str:
        if n_different == 0:
            return f"all {n_rows} {self.unit}"
        return f"{n_different} of {n_rows} {self.unit} differ"

    def _explain_colours(self, ax: Any) -> None:
        from matplotlib.patches import Patch

        bags = self.unit == "instances"
        names = {-1: "negative", 0: "not key", 1: "key"} if bags else {-1: "-1", 1: "+1"}
        seen = [value for value in names if np.any(np.asarray(self.labelings)[:, self.rows_] == value)]
        ax.legend(
            [Patch(facecolor=self.image_.cmap(self.image_.norm(value)), edgecolor="grey") for value in seen],
            [names[value] for value in seen],
            loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderaxespad=0.2, fontsize="small",
        )  # fmt: skip


def _averaged(picture: np.ndarray) -> FloatArray:
    """At most MOST_COLUMNS columns: neighbors are averaged."""
    if picture.shape[1] <= MOST_COLUMNS:
        return picture.astype(np.float64)
    borders = np.linspace(0, picture.shape[1], MOST_COLUMNS + 1).astype(int)
    return np.add.reduceat(picture, borders[:-1], axis=1, dtype=np.float64) / np.diff(borders)
