"""ConvergenceDisplay: objective, gap and violation of a fit, label vector by label vector."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from wellsvm._fitted_runs import Run, final_estimator, runs_of
from wellsvm.plotting._matplotlib import import_pyplot

__all__ = ["ConvergenceDisplay"]

# On the logarithmic axis nothing lies lower than this many tol; zero and rounding errors are drawn there.
FLOOR = 1e-2
# More runs than this share one color and have no legend: it would be longer than the picture.
MOST_COLOURS = 10


class ConvergenceDisplay:
    """How the cutting plane converged.

    The upper part shows the objective, an upper bound of the relaxation that falls with every label vector. The lower
    part shows the duality gap of the restricted master problem and the violation of the next label vector, relative to
    the objective, together with ``tol``. Create one with `from_estimator`.

    Parameters
    ----------
    runs : list of wellsvm._fitted_runs.Run
        One per two-class problem: a single one for two classes or clusters, otherwise one per class or division.
    tol : float
        The tolerance of the fit.

    Attributes
    ----------
    axes_ : array of two matplotlib Axes
        The upper and the lower part.
    figure_ : matplotlib Figure
        Where it was drawn.
    objective_lines_, gap_lines_, violation_lines_ : lists of Line2D
        One line per run.
    tol_line_ : Line2D
        The tolerance.

    Examples
    --------
    >>> from wellsvm import SemiSupervisedSVC
    >>> from wellsvm.datasets import make_two_moons
    >>> from wellsvm.plotting import ConvergenceDisplay
    >>> moons = make_two_moons(n_samples=100, n_labeled=6, random_state=0)
    >>> model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, random_state=0).fit(moons.X, moons.y_partial)
    >>> display = ConvergenceDisplay.from_estimator(model)
    >>> len(display.objective_lines_)
    1
    """

    def __init__(self, *, runs: list[Run], tol: float) -> None:
        self.runs = runs
        self.tol = tol

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line_options: Any) -> Self:
        """Draw the convergence of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator with ``history_``, or a Pipeline or search with one in it
            The model; a saved model works too.
        ax : matplotlib Axes, or two of them, optional
            Where to draw; see `plot`.
        **line_options :
            Passed to ``Axes.plot`` for every line.

        Returns
        -------
        ConvergenceDisplay
            The display, drawn.
        """
        return cls(runs=runs_of(estimator), tol=float(final_estimator(estimator).tol)).plot(ax, **line_options)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            Where to draw: the objective in the first, the gap and the violation in the second. A single Axes is divided
            into two; None creates a new figure.
        **line_options :
            Passed to ``Axes.plot`` for every line.

        Returns
        -------
        self
        """
        above, below = self.axes_ = _two_axes(ax)
        self.figure_ = above.figure
        self.objective_lines_, self.gap_lines_, self.violation_lines_ = [], [], []
        many = len(self.runs) > MOST_COLOURS
        for k, run in enumerate(self.runs):
            name = None if many or run.name is None else str(run.name)
            options = {"color": "C0" if many else f"C{k}", "marker": ".", "alpha": 0.5 if many else 1.0, **line_options}
            number = np.arange(1, len(run.history) + 1)
            objective = [record.objective for record in run.history]
            gap, violation = (run.relative(quantity, FLOOR * self.tol) for quantity in ("gap", "violation"))
            self.objective_lines_ += above.plot(number, objective, label=name, **options)
            self.violation_lines_ += below.plot(number, violation, **options)
            self.gap_lines_ += below.plot(number, gap, **{**options, "linestyle": ":"})
        self.tol_line_ = below.axhline(self.tol, color="grey", linewidth=1, label="tol")
        _describe(above, below)
        return self


def _two_axes(ax: Any) -> np.ndarray:
    """One below the other, with a common horizontal axis."""
    plt = import_pyplot()
    if ax is None:
        return np.asarray(plt.subplots(2, 1, sharex=True, layout="constrained")[1])
    if np.ndim(ax):
        axes = np.ravel(ax)
        if axes.size != 2:
            raise ValueError(f"ax must be one Axes or two; got {axes.size}")
        return axes
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax is not part of a grid, so it cannot be divided; pass two Axes")
    ax.set_axis_off()
    grid = place.subgridspec(2, 1)
    above = ax.figure.add_subplot(grid[0])
    return np.array([above, ax.figure.add_subplot(grid[1], sharex=above)])


def _describe(above: Any, below: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    above.set(ylabel="objective")
    above.tick_params(labelbottom=False)
    if above.get_legend_handles_labels()[1]:
        above.legend(fontsize="small")
    below.set(yscale="log", xlabel="label vector", ylabel="share of objective")
    below.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    kinds = [Line2D([], [], color="black", marker=".", linestyle=style) for style in ("-", ":")]
    below.legend([*kinds, Line2D([], [], color="grey", linewidth=1)], ["violation", "gap", "tol"], fontsize="small")
