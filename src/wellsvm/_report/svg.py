"""Small charts as inline SVG. Colors are classes, so that the page's style sheet decides for light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray

__all__ = [
    "MOST_COLOURS", "WIDTH", "Line", "colour_of", "histogram", "line_chart", "picture", "round_ticks", "tick_texts",
]  # fmt: skip

WIDTH, HEIGHT = 680, 260
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 14, 44
# Colors in the style sheet; with more lines than this all are drawn in one quiet color.
MOST_COLOURS = 8
BINS = 40


class Line(NamedTuple):
    """A line of a chart, with the color class and, for tooltips, a name."""

    name: str
    x: Sequence[float]
    y: Sequence[float] | FloatArray
    colour: str = "s0"
    dotted: bool = False
    error: Sequence[float] | FloatArray | None = None


def colour_of(number: int, of: int) -> str:
    """The color class of one of several lines."""
    return f"s{number}" if of <= MOST_COLOURS else "quiet"


class _Frame(NamedTuple):
    """Maps numbers to places in the picture."""

    x: Callable[[float], float]
    y: Callable[[float], float]
    marks: list[str]


def line_chart(
    lines: Sequence[Line],
    *,
    label: str,
    x_label: str,
    y_label: str,
    log: bool = False,
    level: tuple[str, float] | None = None,
    x_names: Sequence[str] | None = None,
    marked: tuple[float, str] | None = None,
) -> str:
    """Lines with points.

    Parameters
    ----------
    lines : sequence of Line
        At least one, with at least one point each.
    label : str
        What the picture shows, for readers that do not see it.
    log : bool
        Whether the vertical axis is logarithmic.
    level : (name, value), optional
        A horizontal line.
    x_names : sequence of str, optional
        Names of the places 0, 1, ... on the horizontal axis, which else has numbers.
    marked : (x, name), optional
        A vertical line.
    """
    heights = np.concatenate([np.concatenate([_low(line), _high(line)]) for line in lines])
    if level is not None:
        heights = np.append(heights, level[1])
    x = np.concatenate([np.asarray(line.x, dtype=float) for line in lines])
    x_ticks = [float(v) for v in range(len(x_names))] if x_names else _whole_ticks(x.min(), x.max())
    frame = _frame((x.min(), x.max()), x_ticks, x_names, (heights.min(), heights.max()), log, x_label, y_label)
    parts = list(frame.marks)
    if level is not None:
        y = frame.y(level[1])
        parts.append(f'<line class="level" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="small" x="{WIDTH - RIGHT}" y="{y - 4:.1f}" text-anchor="end">{level[0]}</text>')
    if marked is not None:
        at = frame.x(marked[0])
        end, side = ("end", -6) if at > WIDTH / 2 else ("start", 6)
        parts.append(f'<line class="choice" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        place = f'x="{at + side:.1f}" y="{HEIGHT - BOTTOM - 8}" text-anchor="{end}"'
        parts.append(f'<text class="strong" {place}>{escape(marked[1])}</text>')
    parts += [_draw(line, frame) for line in lines]
    return picture(parts, label)


def histogram(values: FloatArray, *, label: str, x_label: str, y_label: str, levels: Sequence[float]) -> str:
    """How many values fall where, in another color below 0; ``levels`` are vertical lines."""
    low, high = min(float(values.min()), *levels), max(float(values.max()), *levels)
    width = (high - low) / BINS
    edges = width * np.arange(math.floor(low / width), math.ceil(high / width) + 1)  # 0 is one of them
    counts, _ = np.histogram(values, edges)
    ticks = [tick for tick in round_ticks(low, high) if edges[0] <= tick <= edges[-1]]
    frame = _frame((edges[0], edges[-1]), ticks, None, (0.0, float(counts.max())), False, x_label, y_label, pad=0.0)
    parts = list(frame.marks)
    for count, begin, end in zip(counts.tolist(), edges[:-1], edges[1:]):
        left, right, top = frame.x(begin), frame.x(end), frame.y(count)
        parts.append(
            f'<rect class="{"s0" if begin >= 0 else "s7"}" x="{left + 0.5:.1f}" y="{top:.1f}" '
            f'width="{max(right - left - 1, 0.5):.1f}" height="{HEIGHT - BOTTOM - top:.1f}">'
            f"<title>{begin:.3g} to {end:.3g}: {count}</title></rect>"
        )
    for value in levels:
        at = frame.x(value)
        parts.append(f'<line class="level" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    return picture(parts, label)


def picture(parts: Sequence[str], label: str, height: int = HEIGHT) -> str:
    """The parts as one picture, WIDTH units wide; ``label`` is for readers that do not see it."""
    opening = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
    return "\n".join(['<div class="scroll">' + opening, *parts, "</svg></div>"])


def _low(line: Line) -> FloatArray:
    return np.asarray(line.y, dtype=float) - (0.0 if line.error is None else np.asarray(line.error))


def _high(line: Line) -> FloatArray:
    return np.asarray(line.y, dtype=float) + (0.0 if line.error is None else np.asarray(line.error))


def _draw(line: Line, frame: _Frame) -> str:
    points = [(frame.x(x), frame.y(y)) for x, y in zip(line.x, line.y)]
    dotted = " dotted" if line.dotted else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [f'<polyline class="{line.colour}{dotted}" points="{path}"/>']
    if line.error is not None:
        for (x, _), low, high in zip(points, _low(line), _high(line)):
            ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{frame.y(low):.1f}" y2="{frame.y(high):.1f}"'
            parts.append(f'<line class="{line.colour} error" {ends}/>')
    for (x, y), x_value, y_value in zip(points, line.x, line.y):
        told = f"{line.name}, " if line.name else ""
        parts.append(
            f'<circle class="{line.colour}{dotted}" cx="{x:.1f}" cy="{y:.1f}" r="3">'
            f"<title>{escape(told)}{x_value:g}: {y_value:.4g}</title></circle>"
        )
    return "\n".join(parts)


def _frame(
    x_range: tuple[float, float],
    x_ticks: Sequence[float],
    x_names: Sequence[str] | None,
    y_range: tuple[float, float],
    log: bool,
    x_label: str,
    y_label: str,
    pad: float = 0.04,
) -> _Frame:
    """Axes, grid and labels, and the maps from numbers to the picture."""
    low, high = (math.log10(v) for v in y_range) if log else y_range
    y_ticks = [10.0**e for e in range(math.floor(low), math.ceil(high) + 1)] if log else round_ticks(low, high)
    if log:
        low, high = float(math.floor(low)), float(max(math.ceil(high), math.floor(low) + 1))
        y_ticks = y_ticks[:: 1 + len(y_ticks) // 8]
    else:
        low, high = min(low, y_ticks[0]), max(high, y_ticks[-1])
    x_low, x_high = x_range if x_range[1] > x_range[0] else (x_range[0] - 1.0, x_range[0] + 1.0)
    inset = pad * (WIDTH - LEFT - RIGHT)

    def x_of(x: float) -> float:
        return LEFT + inset + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT - 2 * inset)

    def y_of(y: float) -> float:
        share = ((math.log10(y) if log else y) - low) / (high - low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    marks = []
    for tick, text in zip(y_ticks, [f"{tick:g}" for tick in y_ticks] if log else tick_texts(y_ticks)):
        y = y_of(tick)
        marks.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        marks.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    for tick, name in zip(x_ticks, x_names or tick_texts(x_ticks)):
        marks.append(
            f'<text x="{x_of(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(name)}</text>'
        )
    marks.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    marks.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    turned = f'transform="rotate(-90 12 {(HEIGHT - BOTTOM + TOP) / 2})" text-anchor="middle"'
    marks.append(f'<text x="12" y="{(HEIGHT - BOTTOM + TOP) / 2}" {turned}>{escape(y_label)}</text>')
    return _Frame(x_of, y_of, marks)


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that cover the range."""
    if not high > low:
        spread = abs(low) or 1.0
        low, high = low - 0.5 * spread, high + 0.5 * spread
    step = 10.0 ** math.floor(math.log10((high - low) / about))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= about)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """The numbers with equally many decimals."""
    decimals = max((len(f"{tick:.10f}".rstrip("0").partition(".")[2]) for tick in ticks), default=0)
    return [f"{tick:.{decimals}f}" if abs(tick) < 1e6 else f"{tick:.4g}" for tick in ticks]


def _whole_ticks(low: float, high: float) -> list[float]:
    """Whole numbers inside the range, at most ten or so."""
    step = max(1, math.ceil((high - low) / 10))
    return [float(v) for v in range(math.ceil(low), math.floor(high) + 1, step)]
