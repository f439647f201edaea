"""A dot plot as inline SVG: a line for each name, dots on a shared axis. Colors are the classes of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from experiments.internals import WIDTH, picture, round_ticks, tick_texts

__all__ = ["Dot", "dot_chart"]

LEFT, RIGHT, TOP, BOTTOM = 150, 24, 8, 44
LINE = 22
# A logarithmic axis reaches beyond the dots by this factor.
MARGIN = 1.5


class Dot(NamedTuple):
    """A dot with its color class, a name for its tooltip, and half the length of its error bar."""

    value: float
    name: str
    colour: str = "s0"
    hollow: bool = False
    error: float | None = None


def dot_chart(lines: Sequence[tuple[str, Sequence[Dot]]], *, label: str, x_label: str, log: bool = False) -> str:
    """Names with their dots, from top to bottom; later dots are drawn over earlier ones."""
    dots = [dot for _, line in lines for dot in line]
    low = min(dot.value if log else dot.value - (dot.error or 0.0) for dot in dots)
    high = max(dot.value if log else dot.value + (dot.error or 0.0) for dot in dots)
    if log:
        low, high = low / MARGIN, high * MARGIN
        marked = _log_ticks(low, high)
    else:
        marked = round_ticks(low, high, about=7)
        low, high = min(low, marked[0]), max(high, marked[-1])

    def at(value: float) -> float:
        share = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    bottom = TOP + LINE * len(lines)
    parts = []
    for tick, text in zip(marked, [f"{tick:g}" for tick in marked] if log else tick_texts(marked)):
        x = f"{at(tick):.1f}"
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{bottom + BOTTOM - 6}" text-anchor="middle">{escape(x_label)}</text>')
    for number, (name, line) in enumerate(lines):
        y = TOP + LINE * (number + 0.5)
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        for dot in line:
            if dot.error is not None:
                ends = f'x1="{at(dot.value - dot.error):.1f}" x2="{at(dot.value + dot.error):.1f}"'
                parts.append(f'<line class="{dot.colour} error" {ends} y1="{y:.1f}" y2="{y:.1f}"/>')
            kind = f"{dot.colour} hollow" if dot.hollow else dot.colour
            place = f'cx="{at(dot.value):.1f}" cy="{y:.1f}" r="{5.5 if dot.hollow else 4}"'
            parts.append(f'<circle class="{kind}" {place}><title>{escape(dot.name)}</title></circle>')
    return picture(parts, label, bottom + BOTTOM)


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten inside the range; 2 and 5 times them too, if there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside = [
        [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        for steps in ((1,), (1, 2, 5))
    ]
    return inside[0] if len(inside[0]) > 2 else inside[1]
