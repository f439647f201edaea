"""The figures of section 5 as pictures: objective, label vectors, CPU time, large text, regions of interest.

All are drawn from the journals; the picture of regions also shows the digits of its bags, so it needs their data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from experiments.data_sets import load_set
from experiments.internals import replacing
from experiments.journal import Entry
from experiments.paper.protocol import load_protocol

__all__ = ["PICTURES", "write_pictures"]

# Told apart by color-blind readers too (Okabe and Ito).
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f", "#b2df8a", "#6a3d9a",
    "#a50f15",
)  # fmt: skip
MARKERS = "osD^vPX*<>p"
LABEL_SHARES = {"2": "5 %", "3": "10 %", "4": "15 %"}
DIGIT_SIDE = 16
DOTS_PER_INCH = 110


def write_pictures(entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Draw every picture that there are entries for; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in PICTURES.items():
        figure = draw(entries)
        if figure is not None:
            written.append(folder / f"{name}.png")
            with replacing(written[-1]) as file:
                # No date and no version inside, so that the same runs give the same bytes.
                figure.savefig(file, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return written


def _figure(width: float, height: float, columns: int) -> tuple[Any, Sequence[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    panels = figure.subplots(1, columns, squeeze=False)[0]
    for axes in panels:
        axes.grid(color="#e5e5e5", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def _of(entries: Sequence[Entry], *tables: str) -> list[Entry]:
    """Entries of tables, cases and methods in the order of their protocols."""
    return [entry for table in tables for entry in sorted(entries, key=_place_in(table)) if entry["table"] == table]


def _place_in(table: str) -> Callable[[Entry], tuple[int, int, int]]:
    protocol = load_protocol(table)
    cases = {case.name: place for place, case in enumerate(protocol.cases)}
    methods = {method: place for place, method in enumerate(protocol.all_methods)}

    def place(entry: Entry) -> tuple[int, int, int]:
        return cases.get(entry["case"], len(cases)), methods.get(entry["method"], len(methods)), entry["repeat"]

    return place


def objectives(entries: Sequence[Entry]) -> Any:
    """The objective after every label vector, as a share of the first."""
    found = [entry for entry in _of(entries, "figure-objective") if entry["repeat"] == 0]
    if not found:
        return None
    figure, (axes,) = _figure(6.4, 4.2, 1)
    for number, entry in enumerate(found):
        values = np.array(entry["chosen"]["objectives"])
        steps = np.arange(1, values.size + 1)
        look = {"color": COLOURS[number], "marker": MARKERS[number], "ms": 4, "zorder": 100 - values.size}
        axes.plot(steps, values / values[0], label=entry["case"], **look)  # the short ones on top
    axes.set(xlabel="label vectors", ylabel="objective, as a share of the first", ylim=(0, 1.05))
    axes.legend(frameon=False)
    return figure


def label_vectors(entries: Sequence[Entry]) -> Any:
    """How many label vectors were generated on each set: the median, and a line to the most."""
    found = [entry for entry in _of(entries, *LABEL_SHARES) if entry["method"] == "as in the paper" and entry["n_iter"]]
    if not found:
        return None
    names = list(dict.fromkeys(entry["case"] for entry in found))
    figure, (axes,) = _figure(6.4, 0.32 * len(names) + 1.2, 1)
    for number, (table, share) in enumerate(LABEL_SHARES.items()):
        for place, name in enumerate(names):
            counts = [e["n_iter"] for e in found if (e["table"], e["case"]) == (table, name)]
            if counts:
                y, look = place + 0.22 * (number - 1), {"color": COLOURS[number]}
                axes.plot([min(counts), max(counts)], [y, y], linewidth=1, **look)
                label = f"{share} labeled" if place == 0 else None
                axes.plot(median(counts), y, MARKERS[number], ms=5, label=label, **look)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="label vectors: median, from the fewest to the most", xlim=(0, None))
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.09), ncols=3)
    return figure


def cpu_times(entries: Sequence[Entry]) -> Any:
    """Median CPU seconds on the 16 UCI sets: with the choice of parameters for Tables 2 to 4, one fit for Table 11."""
    panels = {"semi-supervised, 10 % labeled": _of(entries, "3"), "clustering": _of(entries, "11")}
    if not all(panels.values()):
        return None
    figure, axes = _figure(11, 5.6, 2)
    for panel, (title, found) in zip(axes, panels.items()):
        names = list(dict.fromkeys(entry["case"] for entry in found))
        first_block = load_protocol(found[0]["table"]).methods
        methods = [m for m in first_block if any(entry["method"] == m for entry in found)]
        for number, method in enumerate(methods):
            times = {n: [e["seconds"] for e in found if (e["case"], e["method"]) == (n, method)] for n in names}
            points = [(median(seconds), place) for place, seconds in enumerate(times.values()) if seconds]
            look = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            panel.plot(*zip(*points), linestyle="", ms=5, label=method, **look)
        panel.set_yticks(range(len(names)), names)
        panel.invert_yaxis()
        panel.set(xscale="log", xlabel="CPU seconds", title=title)
        panel.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(0, -0.1), ncols=4)
    return figure


def unlabeled_rows(entries: Sequence[Entry]) -> Any:
    """Accuracy and CPU time against the share of rows used for training."""
    return _against_rows(_of(entries, "figure-unlabeled"), "rows for training, per cent")


def clustered_rows(entries: Sequence[Entry]) -> Any:
    """Clustering accuracy and CPU time against the share of rows."""
    return _against_rows(_of(entries, "figure-clusters"), "rows, per cent")


def _against_rows(found: Sequence[Entry], label: str) -> Any:
    """Two sets above each other, accuracy and time beside each other; cases are named "set, 5 %"."""
    if not found:
        return None
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(entry["case"].partition(", ")[0] for entry in found))
    figure = Figure(figsize=(9.5, 3.4 * len(sets)), facecolor="white", layout="constrained")
    panels = figure.subplots(len(sets), 2, squeeze=False)
    methods = list(dict.fromkeys(entry["method"] for entry in found))
    for line, name in zip(panels, sets):
        for axes, key in zip(line, ("value", "seconds")):
            for number, method in enumerate(methods):
                values: dict[float, list[float]] = {}
                for entry in found:
                    if entry["case"].startswith(f"{name}, ") and entry["method"] == method:
                        values.setdefault(float(entry["case"].split(", ")[1].rstrip(" %")), []).append(entry[key])
                points = sorted((share, mean(of_share)) for share, of_share in values.items())
                if points:
                    axes.plot(*zip(*points), color=COLOURS[number], marker=MARKERS[number], ms=4, label=method)
            axes.set(xscale="log", xlabel=label, ylabel="accuracy" if key == "value" else "CPU seconds")
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set_title(f"stand-in of the size of {name}", loc="left", fontsize="medium")
            axes.grid(color="#e5e5e5", linewidth=0.8)
            axes.spines[["top", "right"]].set_visible(False)
            if key == "seconds":
                axes.set(yscale="log")
        line[0].legend(frameon=False)
    return figure


def located_regions(entries: Sequence[Entry]) -> Any:
    """One test bag of every concept: the digits of the bag, a frame around the one that a method locates."""
    found = _of(entries, "figure-regions")
    if not found:
        return None
    from matplotlib.figure import Figure

    data = load_set("mil_usps_roi")
    images = np.asarray(data.X, dtype=float).reshape(-1, DIGIT_SIDE, DIGIT_SIDE)
    roi = np.asarray(data.roi) > 0
    cases, methods = (list(dict.fromkeys(entry[key] for entry in found)) for key in ("case", "method"))
    figure = Figure(figsize=(1.75 * len(methods) + 0.8, 1.5 * len(cases)), facecolor="white", layout="constrained")
    panels = figure.subplots(len(cases), len(methods), squeeze=False)
    for line, case in zip(panels, cases):
        line[0].set_ylabel(case.replace(", as ", "\nas "), fontsize="small")
        for axes, method in zip(line, methods):
            axes.set(xticks=[], yticks=[])
            for entry in [e for e in found if (e["case"], e["method"]) == (case, method)][:1]:
                _draw_bag(axes, images, roi, entry["chosen"])
    for axes, method in zip(panels[0], methods):
        axes.set_title(method, fontsize="medium")
    return figure


def _draw_bag(axes: Any, images: np.ndarray, roi: np.ndarray, chosen: dict[str, Any]) -> None:
    """The instances of a bag in a 3 x 4 sheet; a green frame where the located one is a region of interest."""
    first, last, located = chosen["first"], chosen["last"], chosen["located"]
    columns = 4
    sheet = np.zeros((-(-(last - first) // columns) * DIGIT_SIDE, columns * DIGIT_SIDE))
    for number, instance in enumerate(range(first, last)):
        row, column = DIGIT_SIDE * (number // columns), DIGIT_SIDE * (number % columns)
        sheet[row : row + DIGIT_SIDE, column : column + DIGIT_SIDE] = images[instance]
    axes.imshow(sheet, cmap="gray_r")
    if located is not None:
        from matplotlib.patches import Rectangle

        row, column = divmod(located - first, columns)
        colour = "#009e73" if roi[located] else "#d55e00"
        corner = (column * DIGIT_SIDE - 0.5, row * DIGIT_SIDE - 0.5)
        axes.add_patch(Rectangle(corner, DIGIT_SIDE, DIGIT_SIDE, fill=False, edgecolor=colour, linewidth=3))


PICTURES: dict[str, Callable[[Sequence[Entry]], Any]] = {
    "reproduction-objective": objectives,
    "reproduction-label-vectors": label_vectors,
    "reproduction-time": cpu_times,
    "reproduction-unlabeled": unlabeled_rows,
    "reproduction-clusters": clustered_rows,
    "reproduction-regions": located_regions,
}
