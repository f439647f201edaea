"""Time against size, with the exponent: seconds = factor * n ** exponent, fitted in logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from experiments.internals import replacing
from experiments.journal import Entry

__all__ = ["Curves", "curves_of", "draw", "fit_exponent", "save"]

# Told apart by color-blind readers too (Okabe and Ito); wellsvm's own line is drawn in the first one.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = "osD^vP"
OURS = ("SemiSupervisedSVC", "MaxMarginClustering", "MultiInstanceSVC")

Curves = dict[str, dict[str, list[tuple[int, float]]]]


def fit_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """Exponent and factor of seconds = factor * size ** exponent, by least squares in logarithms."""
    exponent, logarithm = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(exponent), float(np.exp(logarithm))


def curves_of(entries: Sequence[Entry], workload: str) -> Curves:
    """Panels (data and settings), in them methods, in them sizes and median seconds; only where there are two sizes."""
    times: dict[str, dict[str, dict[int, list[float]]]] = {}
    for entry in entries:
        if entry["workload"] != workload or "wall" not in entry:
            continue
        settings = ", ".join(f"{key}={value}" for key, value in entry["settings"].items())
        panel = f"{entry['data']}, {settings}" if settings else entry["data"]
        times.setdefault(panel, {}).setdefault(entry["method"], {}).setdefault(entry["n"], []).append(entry["wall"])
    curves = {
        panel: {method: [(n, median(of_n[n])) for n in sorted(of_n)] for method, of_n in methods.items()}
        for panel, methods in times.items()
    }
    return {panel: methods for panel, methods in curves.items() if max(map(len, methods.values())) > 1}


def draw(curves: Curves, title: str) -> Any:
    """A figure with one panel per data set and settings."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    figure = Figure(figsize=(6.4 * len(curves), 5.6), facecolor="white", layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False, sharey=True)[0]
    looks = _looks(curves)
    for axes, (name, methods) in zip(panels, curves.items()):
        for method, points in methods.items():
            _draw_line(axes, method, points, *looks[method])
        axes.set_title(name, loc="left", fontsize="medium")
        axes.set(xscale="log", yscale="log", xlabel="rows")
        sizes = sorted({n for points in methods.values() for n, _ in points})
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.set_xticks([], minor=True)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))  # at least two numbers even within one decade
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(color="#e5e5e5", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.13), frameon=False, fontsize="small")
    panels[0].set_ylabel("seconds")
    figure.suptitle(title, x=0.01, ha="left", fontsize="large")
    return figure


def _looks(curves: Curves) -> dict[str, tuple[str, str, float]]:
    """Color, marker and width of every method, the same in all panels."""
    names = list(dict.fromkeys(method for methods in curves.values() for method in methods))
    ours = [name for name in names if name.startswith(OURS)]
    ordered = ours + [name for name in names if name not in ours]
    return {
        name: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)], 2.8 if name in ours else 1.6)
        for k, name in enumerate(ordered)
    }


def _draw_line(axes: Any, method: str, points: list[tuple[int, float]], colour: str, marker: str, width: float) -> None:
    """Points and, through them, the fitted law; its exponent is told where there are more than the two that fix it."""
    sizes, seconds = zip(*points)
    label = method
    if len(points) > 1:
        exponent, factor = fit_exponent(sizes, seconds)
        ends = np.array([sizes[0], sizes[-1]], dtype=float)
        axes.plot(ends, factor * ends**exponent, color=colour, linewidth=width, alpha=0.6, solid_capstyle="round")
        if len(points) > 2:
            label = f"{method}: time grows as $n^{{{exponent:.2f}}}$"
    axes.plot(sizes, seconds, linestyle="none", marker=marker, color=colour, label=label)


def save(figure: Any, path: Path) -> None:
    """Write a PNG."""
    with replacing(path) as file:
        figure.savefig(file, format="png", dpi=130)
