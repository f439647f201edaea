"""The page around the sections: one HTML file without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["Raw", "legend", "page", "section", "share_bar", "table", "tiles"]

STYLE = """
:root { color-scheme: light dark;
  --page: #f4f4f1; --card: #ffffff; --ink: #1d1d1b; --soft: #5f5e58; --line: #e2e1da; --strong: #1d1d1b;
  --good: #0a6b2d; --good-bg: #e2f3e6; --warn: #8a4b00; --warn-bg: #fdeed3;
  --s0: #2a78d6; --s1: #1baf7a; --s2: #d99200; --s3: #008300; --s4: #4a3aa7; --s5: #e34948; --s6: #e87ba4;
  --s7: #eb6834; --quiet: #8d9bb0; }
@media (prefers-color-scheme: dark) { :root {
  --page: #121211; --card: #1c1c1b; --ink: #ecebe6; --soft: #a9a79e; --line: #34332f; --strong: #ffffff;
  --good: #7fd79a; --good-bg: #143020; --warn: #f3bd6a; --warn-bg: #3a2a10;
  --s0: #4a94ee; --s1: #21b381; --s2: #d09a1c; --s3: #3fa33f; --s4: #9c91ee; --s5: #ea7474; --s6: #dd6a95;
  --s7: #e5723f; --quiet: #6d7a8e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 920px; margin: 0 auto; padding: 32px 20px 56px; }
header { margin-bottom: 20px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 0 0 4px; } h3 { font-size: 14px; margin: 14px 0 2px; }
p { margin: 0 0 12px; color: var(--soft); max-width: 72ch; }
header p { margin: 0; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px; margin: 14px 0; }
.badge { display: inline-block; padding: 2px 10px; border-radius: 999px; font-size: 13px; font-weight: 600;
  vertical-align: 4px; margin-left: 8px; } td .badge { margin: 0; vertical-align: 0; white-space: nowrap; }
.good { color: var(--good); background: var(--good-bg); } .warn { color: var(--warn); background: var(--warn-bg); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(108px, 1fr)); gap: 12px; }
.tile b { display: block; font-size: 22px; font-weight: 600; line-height: 1.25; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.tile span { color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; min-width: 64px;
  max-width: 420px; overflow-wrap: break-word; }
tr:last-child td { border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.chosen td { font-weight: 600; color: var(--strong); }
code { font: 13px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
details { margin-top: 10px; } summary { cursor: pointer; color: var(--soft); font-size: 14px; }
details > div { margin-top: 8px; }
td:has(.bar) { white-space: nowrap; }
.bar { display: inline-block; width: 140px; height: 9px; border-radius: 4px; background: var(--line); overflow: hidden;
  vertical-align: 0; }
.bar i { display: block; height: 100%; background: var(--s0); border-radius: 4px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--soft); margin: 6px 0 2px; }
.legend i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; vertical-align: 4px;
  margin-right: 6px; }
.legend i.dots { background: none; border-top: 3px dotted var(--soft); height: 0; }
.legend i.full { background: var(--soft); }
.chips { display: flex; flex-wrap: wrap; gap: 6px; }
.chips span { border: 1px solid var(--line); border-radius: 6px; padding: 1px 8px; font-size: 13px;
  font-variant-numeric: tabular-nums; } .chips span b { font-weight: 600; } .chips span i { font-style: normal;
  color: var(--soft); }
svg { display: block; width: 100%; min-width: 520px; height: auto; font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text { fill: var(--soft); } svg text.strong { fill: var(--strong); font-weight: 600; }
svg text.small { font-size: 11px; }
svg polyline { fill: none; stroke-width: 2; stroke-linejoin: round; } svg circle { stroke: none; }
svg .dotted { stroke-dasharray: 2 4; stroke-linecap: round; } svg circle.dotted { opacity: 0.75; }
svg .grid { stroke: var(--line); } svg .axis { stroke: var(--soft); } svg .level { stroke: var(--soft);
  stroke-dasharray: 5 4; } svg .choice { stroke: var(--strong); } svg .error { stroke-width: 1.5; opacity: 0.6; }
footer { color: var(--soft); font-size: 13px; margin-top: 22px; }
@media print { body { background: none; } section { break-inside: avoid; } }
"""
COLOURS = "\n".join(
    f"svg polyline.{name}, svg line.{name} {{ stroke: var(--{name}); }} "
    f"svg circle.{name}, svg rect.{name} {{ fill: var(--{name}); }} .legend i.{name} {{ background: var(--{name}); }}"
    for name in [*(f"s{k}" for k in range(8)), "quiet"]
)


class Raw(str):
    """Markup, not to be escaped."""


def page(title: str, header: str, sections: Iterable[str], footer: str, style: str = "") -> str:
    """The whole file; empty sections are left out. ``style`` is added to the style sheet."""
    body = "\n".join(part for part in sections if part)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{STYLE}{COLOURS}{style}
</style>
</head>
<body>
<main>
<header>{header}</header>
{body}
<footer>{escape(footer)}</footer>
</main>
</body>
</html>
"""


def section(title: str, *parts: str, note: str = "") -> str:
    """A card with a heading."""
    about = f"<p>{escape(note)}</p>" if note else ""
    return f"<section>\n<h2>{escape(title)}</h2>{about}\n" + "\n".join(parts) + "\n</section>"


def tiles(figures: Iterable[tuple[str, str]], title: str = "") -> str:
    """Large numbers with their names, under a heading if there is one."""
    each = (f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for name, value in figures)
    heading = f"<h2>{escape(title)}</h2>" if title else ""
    return f'<section>{heading}<div class="tiles">{"".join(each)}</div></section>'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], chosen: Collection[int] = ()) -> str:
    """A table: numbers to the right, everything but `Raw` escaped, some rows marked."""
    rows = list(rows)
    right = [bool(rows) and all(isinstance(row[k], (int, float)) for row in rows) for k in range(len(head))]

    def cell(tag: str, value: Any, k: int) -> str:
        text = value if isinstance(value, Raw) else escape(f"{value:.5g}" if isinstance(value, float) else str(value))
        return f"<{tag}{' class=number' if right[k] else ''}>{text}</{tag}>"

    lines = ["<tr>" + "".join(cell("th", name, k) for k, name in enumerate(head)) + "</tr>"]
    for number, row in enumerate(rows):
        mark = ' class="chosen"' if number in chosen else ""
        lines.append(f"<tr{mark}>" + "".join(cell("td", value, k) for k, value in enumerate(row)) + "</tr>")
    return '<div class="scroll"><table>' + "\n".join(lines) + "</table></div>"


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Color classes and what they stand for."""
    each = (f'<span><i class="{colour}"></i>{escape(name)}</span>' for colour, name in entries)
    return f'<div class="legend">{"".join(each)}</div>'


def share_bar(share: float) -> Raw:
    """A bar filled by a share, and the share in percent."""
    return Raw(f'<span class="bar"><i style="width:{100 * share:.1f}%"></i></span> {100 * share:.1f} %')
