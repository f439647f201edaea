"""Why the paper's algorithm is off the paper's figures, set by set, as far as experiments show it.

Taken from runs alone: the column "as in the paper" of Tables 2 to 4, the SVM on the same splits, and both by other
readings of the paper's protocol (``check-readings``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.markdown import pipe_table
from experiments.paper.cells import Writer, case_name
from experiments.paper.figures import Cell, PaperTable, Row, errors_apart
from experiments.paper.gains import Gain, gains
from experiments.paper.protocol import AS_IN_PAPER, Protocol

__all__ = ["READINGS", "Reason", "reasons", "reasons_text"]

TABLES = ("2", "3", "4")
READINGS, LARGER_CLASS = "check-readings", "larger class"
# Standard errors: within the first a figure agrees; beyond the second, chance is no reason any more.
AGREES, CHANCE = 1.0, 2.0
VERDICTS = {
    "data": "the data are not, or not surely, the paper's",
    "as the SVM": (
        "the SVM, which is no method of ours, is off to the same side on the same splits, by more than one standard "
        "error, and the gain over it agrees within one: data, splits or preparation"
    ),
    "larger class": "the paper's figure is, within one standard error, what predicting the larger class scores",
    "reading": "by another reading of the protocol the paper's algorithm and the SVM agree within one standard error",
    "gain": "the SVM is off as well, and the gain over it agrees within two standard errors",
    "chance": "off by less than two standard errors, and none of the above",
    "open": "no reason found among the readings tried",
}


@dataclass(frozen=True)
class Reason:
    """A set on which the paper's algorithm is more than one standard error off.

    Attributes
    ----------
    row, protocol
        The set, in its table.
    svm : (float, float)
        How far our SVM is above the paper's on the runs that the paper's algorithm has, and that in standard errors.
    gain : Gain
        Over the SVM, here and in the paper.
    readings : tuple of (str, Cell, Cell or None)
        Other readings: the paper's algorithm and, if it has that column, the SVM. The nearest first.
    constant : Cell or None
        Prediction of the larger class.
    """

    row: Row
    protocol: Protocol
    svm: tuple[float, float]
    gain: Gain
    readings: tuple[tuple[str, Cell, Cell | None], ...]
    constant: Cell | None

    @property
    def cell(self) -> Cell:
        """The figure of the paper's algorithm."""
        return self.row.cells[AS_IN_PAPER]

    @property
    def closing(self) -> str | None:
        """The nearest reading by which the paper's algorithm and the SVM agree with the paper."""
        for name, ours, svm in self.readings:
            if _agrees(ours) and (svm is None or _agrees(svm)):
                return name
        return None

    @property
    def verdict(self) -> str:
        """The first of `VERDICTS` that holds."""
        off = self.cell.difference or 0.0
        with_svm = self.svm[0] * off > 0 and abs(self.svm[1]) > AGREES
        if self.row.case.stand_in:
            return "data"
        if with_svm and self.gain.apart <= AGREES:
            return "as the SVM"
        if self.constant is not None and _agrees(self.constant):
            return "larger class"
        if self.closing:
            return "reading"
        if with_svm and self.gain.apart <= CHANCE:
            return "gain"
        return "chance" if (self.cell.errors_off or 0.0) <= CHANCE else "open"


def _agrees(cell: Cell) -> bool:
    return cell.errors_off is not None and cell.errors_off <= AGREES


def reasons(tables: Sequence[PaperTable]) -> list[Reason]:
    """Of every set that is off, in Tables 2 to 4; none unless all of them and the readings are there."""
    named = {table.protocol.table: table for table in tables}
    if not {*TABLES, READINGS} <= named.keys():
        return []
    by_name = {row.case.name: row for row in named[READINGS].rows}
    return [reason for table in TABLES for reason in _of_table(named[table], by_name)]


def _of_table(table: PaperTable, other: dict[str, Row]) -> Iterator[Reason]:
    share = f"{100 * table.protocol.settings['labeled']:g} %"
    for gain in gains(table):
        row = gain.row
        if (row.cells[AS_IN_PAPER].errors_off or 0.0) > AGREES:
            read = other[f"{row.case.name}, {share}"].cells
            found = [(name, cell, read.get(f"SVM: {name}")) for name, cell in _readings(read)]
            found.sort(key=lambda reading: reading[1].errors_off or 0.0)
            yield Reason(row, table.protocol, _svm_off(table, row), gain, tuple(found), _constant(table, row, read))


def _readings(cells: dict[str, Cell]) -> Iterator[tuple[str, Cell]]:
    """Readings of the paper's algorithm that have been run."""
    for column, cell in cells.items():
        if column.startswith(AS_IN_PAPER) and cell.errors_off is not None:
            yield column.removeprefix(AS_IN_PAPER).lstrip(":, "), cell


def _svm_off(table: PaperTable, row: Row) -> tuple[float, float]:
    """How far the SVM is off on the runs that the paper's algorithm has: plainly, and in standard errors."""
    svm, case = row.cells[str(table.protocol.reference)], row.case
    values = [svm.values[k] for k in svm.values.keys() & row.cells[AS_IN_PAPER].values.keys()]
    return _apart(values, case.paper["SVM"], case.paper_std["SVM"], table.protocol)


def _constant(table: PaperTable, row: Row, cells: dict[str, Cell]) -> Cell | None:
    """The prediction of one class, beside the paper's WellSVM."""
    cell = cells.get(LARGER_CLASS)
    if cell is None or cell.n < 2:
        return None
    values = list(cell.values.values())
    _, off = _apart(values, row.case.paper["WellSVM"], row.case.paper_std["WellSVM"], table.protocol)
    return Cell(**{**cell.__dict__, "errors_off": abs(off)})


def _apart(values: Sequence[float], paper: float, std: float, protocol: Protocol) -> tuple[float, float]:
    gap = float(np.mean(values)) - paper
    error = float(np.sqrt(std**2 / protocol.runs_of_paper + np.var(values, ddof=1) / len(values)))
    return gap, float(np.sign(gap)) * errors_apart(gap, error)


# ------------------------------------------------------------------------------------------------------- text


def reasons_text(tables: Sequence[PaperTable]) -> str:
    """A line for every set that is off, what the verdicts mean, and how near every reading comes; empty if unknown."""
    found = reasons(tables)
    if not found:
        return ""
    head = [
        "labels",
        "set",
        "paper",
        f"ours, {AS_IN_PAPER}",
        "off",
        "SVM off",
        "gain off",
        "nearest reading",
        "verdict",
    ]
    counts = Counter(reason.verdict for reason in found)
    meanings = [f"- {name} ({counts[name]} of {len(found)}): {VERDICTS[name]}." for name in VERDICTS if counts[name]]
    readings = next(table for table in tables if table.protocol.table == READINGS)
    return "\n\n".join(
        [
            pipe_table(head, [_line(reason) for reason in found], text=("set", "nearest reading", "verdict")),
            "\n".join(meanings),
            pipe_table(
                ["reading", "SVM: within one", "within two", "of", f"{AS_IN_PAPER}: within one", "within two", "of"],
                list(_agreement(readings)),
            ),
        ]
    )


def _line(reason: Reason) -> list[str]:
    write, cell = Writer(reason.protocol), reason.cell
    name, ours, svm = reason.readings[0] if reason.readings else ("", None, None)
    near = ""
    if ours is not None and ours.mean is not None:
        near = f"{name}: {write.number(ours.mean)}, off {ours.errors_off:.1f} ({ours.n})"
        near += f"; SVM {svm.errors_off:.1f}" if svm is not None and svm.errors_off is not None else ""
    closing = f": {reason.closing}" if reason.verdict == "reading" else ""
    return [
        f"{100 * reason.protocol.settings['labeled']:g} %",
        case_name(reason.row),
        write.paper(cell.paper),
        f"{write.number(cell.mean or 0.0)} ({cell.n})",
        f"{np.sign(cell.difference or 0.0) * (cell.errors_off or 0.0):+.1f}",
        f"{reason.svm[1]:+.1f}",
        f"{reason.gain.apart:.1f}",
        near,
        f"{reason.verdict}{closing}",
    ]


def _agreement(readings: PaperTable) -> Iterator[list[str]]:
    """Every reading: on how many of the sets that it was run on it comes within one and two standard errors."""
    names = dict.fromkeys(m.partition(": ")[2] or m.partition(", ")[2] for m in readings.methods if m != LARGER_CLASS)
    for name in names:
        line = [name or "as in Tables 2 to 4"]
        for method in ("SVM", AS_IN_PAPER):
            columns = (f"{method}: {name}", f"{method}, {name}") if name else (method,)
            off = [
                cell.errors_off
                for row in readings.rows
                for column, cell in row.cells.items()
                if column in columns and cell.errors_off is not None
            ]
            line += [str(sum(e <= limit for e in off)) if off else "" for limit in (AGREES, CHANCE)]
            line.append(str(len(off)) if off else "")
        yield line
