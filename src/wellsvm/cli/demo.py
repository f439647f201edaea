"""``wellsvm demo``: real data with few labels, five methods compared.

All 45 pairs of handwritten digits, none picked by hand, with a handful of labels each: a supervised SVM on the labeled
rows, scikit-learn's two semi-supervised methods, and SemiSupervisedSVC without and with neighbors, on the same splits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from wellsvm import SemiSupervisedSVC
from wellsvm._files import replacing
from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.cli._console import check_output
from wellsvm.model_selection import hide_labels
from wellsvm.native import backend_name
from wellsvm.rows.kernels import resolve_gamma
from wellsvm.threads import one_thread

__all__ = ["DemoTrial", "demo", "run_trials"]

PAIRS = tuple(combinations(range(10), 2))
LABEL_COUNTS = (4, 8, 16, 32)
# The number of labels that the pictures of pairs and of single digits show.
SHOWN = 8
TEST_SHARE = 0.3
# Logistic regression with C=10 is the base of self-training in docs/choices_few_labels.md; on these digits it has
# 0.951, 0.971, 0.984 and 0.989 where C=1 has 0.888, 0.974, 0.984 and 0.988. Label spreading is better here with its
# defaults than with kernel="knn" (0.955, 0.985, 0.990 and 0.994).
METHODS: dict[str, Callable[[float, int], Any]] = {
    "supervised SVM": lambda gamma, seed: SVC(gamma=gamma),
    "self-training": lambda gamma, seed: SelfTrainingClassifier(LogisticRegression(C=10)),
    "label spreading": lambda gamma, seed: LabelSpreading(),
    "wellsvm": lambda gamma, seed: _semi_supervised(gamma, seed),
    "wellsvm, neighbors=6": lambda gamma, seed: _semi_supervised(gamma, seed, neighbors=6),
}
SVM, OURS = 0, 3  # the places of the baseline and of our defaults
GREY = "#666666"
# Colors that color-blind readers can tell apart, and markers.
LOOKS = (("#d55e00", "s"), ("#999999", "D"), ("#009e73", "v"), ("#0072b2", "o"), ("#56b4e9", "^"))


class DemoTrial(NamedTuple):
    """One pair of digits, one number of labels, one random split: which held-out rows each method got right."""

    pair: tuple[int, int]
    n_labels: int
    rows: IntArray
    right: BoolArray  # (n_methods, n_rows)


def demo(output: Path, splits: int | None = None, seed: int = 0) -> None:
    """Train, print the table, save the picture; the options are in `wellsvm.cli.app`."""
    began, console = perf_counter(), Console()
    can_plot = _can_plot(output)
    if splits is None:
        splits = 2 if backend_name().startswith("native") else 1
    digits = load_digits()
    console.print(
        f"Data: the {digits.target.size} handwritten digits of scikit-learn (8 x 8 pixels), all {len(PAIRS)} pairs of "
        f"digits, {splits} random split{'s' * (splits > 1)} each. {1 - TEST_SHARE:.0%} of a pair's rows train, and "
        "only a few of them keep their label (both digits in their true shares). Accuracy is on the other "
        f"{TEST_SHARE:.0%}, which training never sees.\n",
        highlight=False,
    )
    columns = TextColumn("Training"), BarColumn(), TextColumn("{task.completed} of {task.total}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress, one_thread():  # too small for several
        task = progress.add_task("", total=len(PAIRS) * len(LABEL_COUNTS) * splits)
        trials = []
        for trial in run_trials(digits, splits, seed):
            trials.append(trial)
            progress.advance(task)
    console.print(_table(trials))
    console.print(
        "\nSupervised SVM: scikit-learn's SVC on the labeled rows. The others use all training rows: scikit-learn's "
        "SelfTrainingClassifier around LogisticRegression(C=10) and LabelSpreading, and wellsvm's SemiSupervisedSVC "
        "with the RBF kernel of the SVM; with neighbors=6 it also uses a graph of the rows, as label spreading does. "
        "C=10 for self-training and neighbors=6 were chosen on these digits, where they do better on average than the "
        "defaults. All other parameters have their defaults; those of wellsvm were chosen on other data.",
        highlight=False,
    )
    if can_plot:
        _save(_figure(trials, digits), output)
        console.print(f"Picture: {output}", markup=False, highlight=False, soft_wrap=True)
    else:
        console.print("No picture: matplotlib is missing. pip install 'wellsvm[plot]'", markup=False, highlight=False)
    console.print(f"{perf_counter() - began:.0f} seconds on {backend_name()}", highlight=False)


def run_trials(digits: Any, splits: int, seed: int = 0) -> Iterator[DemoTrial]:
    """Yield one trial per split, pair and number of labels."""
    pixels, target = digits.data / 16.0, digits.target
    for split in range(seed, seed + splits):
        for pair in PAIRS:
            train, test = train_test_split(
                np.flatnonzero(np.isin(target, pair)), test_size=TEST_SHARE, random_state=split
            )
            X, gamma = pixels[train], resolve_gamma("mean", pixels[train])
            for n_labels in LABEL_COUNTS:
                y = hide_labels(target[train], n_labeled=n_labels, random_state=split)
                found = [_predicted(method(gamma, split), X, y, pixels[test]) for method in METHODS.values()]
                yield DemoTrial(pair, n_labels, test, np.array(found) == target[test])


def _semi_supervised(gamma: float, seed: int, **parameters: Any) -> SemiSupervisedSVC:
    return SemiSupervisedSVC(kernel="rbf", gamma=gamma, unlabeled=-1, random_state=seed, **parameters)


def _predicted(model: Any, X: FloatArray, y: IntArray, X_new: FloatArray) -> IntArray:
    """Classes of new rows; a model that cannot use rows without a label (-1) is fitted to the others."""
    rows = y >= 0 if isinstance(model, SVC) else slice(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early: judged like the others
        # Label spreading divides by zero for rows that no label reaches; they get some class.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="sklearn")
        found: IntArray = model.fit(X[rows], y[rows]).predict(X_new)
    return found


def _accuracies(trials: Sequence[DemoTrial], n_labels: int) -> FloatArray:
    """Accuracy of all methods, of shape (n_trials, n_methods)."""
    return np.array([trial.right.mean(axis=1) for trial in trials if trial.n_labels == n_labels])


def _by_pair(trials: Sequence[DemoTrial], n_labels: int) -> FloatArray:
    """Accuracy of all methods, mean over the splits, of shape (n_pairs, n_methods)."""
    return np.stack([_accuracies([t for t in trials if t.pair == pair], n_labels).mean(axis=0) for pair in PAIRS])


def _table(trials: Sequence[DemoTrial]) -> Table:
    table = Table(title="Accuracy on held-out rows, mean over all pairs and splits", title_justify="left")
    table.add_column()
    for n_labels in LABEL_COUNTS:
        table.add_column(f"{n_labels} labels", justify="right")
    means = np.array([_accuracies(trials, n_labels).mean(axis=0) for n_labels in LABEL_COUNTS])
    for name, values in zip(METHODS, means.T):
        table.add_row(name, *(f"{value:.3f}" for value in values))
    table.add_section()
    gains = [np.diff(_by_pair(trials, n_labels)[:, [SVM, OURS]])[:, 0] for n_labels in LABEL_COUNTS]
    signs = np.sign(np.round(gains, 9))
    for name, sign in (("pairs: wellsvm better than SVM", 1), ("equal", 0), ("worse", -1)):
        table.add_row(name, *(str(count) for count in np.count_nonzero(signs == sign, axis=1)))
    return table


# ------------------------------------------------------------------ the picture


def _can_plot(output: Path) -> bool:
    """Whether a picture can be made; an error now, not after the work, where it could not be saved."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        return False
    kinds = FigureCanvasAgg.filetypes
    if output.suffix[1:].lower() not in kinds:
        raise typer.BadParameter(f"--output {output}: the name must end in one of .{', .'.join(sorted(kinds))}")
    check_output("--output", output)
    return True


def _save(figure: Any, output: Path) -> None:
    with replacing(output) as file:
        figure.savefig(file, format=output.suffix[1:].lower(), dpi=150)


def _figure(trials: Sequence[DemoTrial], digits: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.5), facecolor="white", layout="constrained")
    panels: Any = figure.subfigures(1, 3, width_ratios=(1, 1, 1.05), wspace=0.02)
    _draw_curves(panels[0].subplots(), trials)
    _draw_pairs(panels[1].subplots(), trials)
    _draw_images(panels[2], trials, digits)
    return figure


def _draw_curves(axes: Any, trials: Sequence[DemoTrial]) -> None:
    """Accuracy against the number of labels."""
    for column, (name, (colour, marker)) in enumerate(zip(METHODS, LOOKS)):
        values = np.stack([_accuracies(trials, n)[:, column] for n in LABEL_COUNTS])
        means, x = values.mean(axis=1), 1.06 ** (column - 2) * np.array(LABEL_COUNTS)
        axes.vlines(x, *np.percentile(values, (10, 90), axis=1), color=colour, alpha=0.35, linewidth=4)
        axes.plot(x, means, marker=marker, color=colour, linewidth=2, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(LABEL_COUNTS, [str(n) for n in LABEL_COUNTS])
    axes.set(xlabel="labeled rows (of about 250)", ylabel="accuracy on held-out rows")
    axes.set_xticks([], minor=True)
    axes.set_title(f"All pairs of digits: mean, and 10 %\nto 90 % of the {values.shape[1]} problems", loc="left")
    axes.legend(loc="lower right", frameon=False)
    _tidy(axes)


def _draw_pairs(axes: Any, trials: Sequence[DemoTrial]) -> None:
    """Accuracy of wellsvm on every pair of digits, against that of each other method."""
    points = _by_pair(trials, SHOWN)
    lowest = np.floor(points.min() * 50) / 50 - 0.01
    axes.plot([lowest, 1.005], [lowest, 1.005], color=GREY, linewidth=1, linestyle="--", zorder=1)
    for others, name, (colour, marker) in list(zip(points.T, METHODS, LOOKS))[:OURS]:
        look = {"s": 30, "color": colour, "marker": marker, "alpha": 0.75, "edgecolor": "white", "linewidth": 0.5}
        axes.scatter(others, points[:, OURS], label=name, zorder=2, **look)
    axes.text(0.03, 0.97, "above the line:\nwellsvm better", transform=axes.transAxes, va="top", color=GREY)
    axes.legend(loc="lower right", frameon=False)
    axes.set(xlim=(lowest, 1.005), ylim=(lowest, 1.005), aspect="equal")
    axes.set(xlabel="accuracy of the other method", ylabel="accuracy of wellsvm")
    axes.set_title(f"Each pair of digits, {SHOWN} labels,\nmean over the splits", loc="left")
    _tidy(axes)


def _draw_images(figure: Any, trials: Sequence[DemoTrial], digits: Any, n_rows: int = 3, n_columns: int = 5) -> None:
    """Held-out digits that the supervised SVM got wrong and wellsvm right, one pair of digits after the other."""
    shown = [trial for trial in trials if trial.n_labels == SHOWN]
    gained = sum(int(np.count_nonzero(t.right[OURS] & ~t.right[SVM])) for t in shown)
    lost = sum(int(np.count_nonzero(t.right[SVM] & ~t.right[OURS])) for t in shown)
    tested = sum(t.rows.size for t in shown)
    title = (
        f"{SHOWN} labels, {tested:,} held-out rows: only wellsvm\nright on {gained:,}, only the SVM right on {lost:,}"
    )
    figure.suptitle(title, x=0.03, ha="left", fontsize="large")
    grid = figure.subplots(n_rows, n_columns).ravel()
    for axes in grid:
        axes.set_axis_off()
    for axes, (row, taken_for) in zip(grid, _corrected(shown, digits.target)):
        axes.imshow(digits.images[row], cmap="Greys", interpolation="nearest")
        axes.set_title(f"{digits.target[row]}, not {taken_for}", fontsize="medium", pad=2)


def _corrected(trials: Sequence[DemoTrial], target: IntArray) -> Iterator[tuple[int, int]]:
    """Rows that only wellsvm got right and what the SVM took them for: the first of each pair, each row once."""
    seen_rows: set[int] = set()
    seen_pairs: set[tuple[int, int]] = set()
    for trial in trials:
        for row in trial.rows[trial.right[OURS] & ~trial.right[SVM]]:
            if trial.pair not in seen_pairs and row not in seen_rows:
                seen_pairs.add(trial.pair)
                seen_rows.add(int(row))
                yield int(row), sum(trial.pair) - int(target[row])


def _tidy(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
