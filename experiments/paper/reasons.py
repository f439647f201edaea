"""Why the paper's algorithm is off the paper's figures, set by set, as far as experiments show it.

Taken from runs alone: the column "as in the paper" of Tables 2 to 4, the SVM on the same splits, both by other readings
of the paper's protocol (``check-readings``), and both on more splits (``check-splits``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.markdown import pipe_table
from experiments.paper.cells import Writer, case_name
from experiments.paper.figures import Cell, PaperTable, Row, errors_apart
from experiments.paper.gains import Gain, gains
from experiments.paper.protocol import AS_IN_PAPER, Protocol, paper_name

__all__ = ["READINGS", "SPLITS", "Reason", "reasons", "reasons_text"]

TABLES = ("2", "3", "4")
READINGS, SPLITS, LARGER_CLASS = "check-readings", "check-splits", "larger class"
# Standard errors: within the first a figure agrees; beyond the second, chance is no reason any more.
AGREES, CHANCE = 1.0, 2.0
VERDICTS = {
    "data": "the data are not, or not surely, the paper's",
    "as the SVM": (
        "the SVM, which is no method of ours, is off to the same side on the same splits, by more than one standard "
        "error, and the gain over it agrees within one: data, splits or preparation"
    ),
    "larger class": (
        "the paper's figure is, within one standard error and half of the difference, what predicting the larger class "
        "scores"
    ),
    "reading": (
        "another reading of the protocol takes away half of the difference or more; by it the paper's algorithm and, "
        "where it concerns the SVM, the SVM agree within one standard error"
    ),
    "gain": "the SVM is off as well, and the gain over it agrees within two standard errors",
    "SVM off": (
        "the SVM is off to the same side, by more than two standard errors, and the gain over it differs as well: "
        "data, splits or preparation"
    ),
    "as the rivals": (
        "the other semi-supervised methods, none of them ours, are all off to the same side, on average by half of the "
        "difference or more: data, splits or preparation"
    ),
    "more splits": "none of the above on the splits of the table, but on more of them the one that is named",
    "near a reading": (
        "another reading of the protocol takes away half of the difference or more; by it the paper's algorithm agrees "
        "within one standard error and the SVM, where it concerns it, within two"
    ),
    "chance": "off by less than two standard errors, and none of the above",
    "open": "no reason found among the readings tried",
}
WEAK = ("near a reading", "chance", "open")


@dataclass(frozen=True)
class Reading:
    """The paper's algorithm by another reading of the protocol.

    Most readings have fewer runs than the table. What they change is taken run by run on the splits that both have, and
    added to the table's figure: otherwise the luck of a few splits would look like an effect. A reading that has all
    runs of the table speaks for itself.

    Attributes
    ----------
    name : str
        What is read otherwise.
    n : int
        Runs in common.
    mean, gap : float
        The figure so made, and how far it is above the paper's.
    off : float
        The gap in standard errors: of the paper's mean, of the table's, and of the change; or of the paper's mean and
        of the reading's.
    svm_off : float or None
        The same of the SVM; None if the reading does not concern it.
    """

    name: str
    n: int
    mean: float
    gap: float
    off: float
    svm_off: float | None


@dataclass(frozen=True)
class Reason:
    """What is known of a set; wanted where the paper's algorithm is more than one standard error off.

    Attributes
    ----------
    row, protocol
        The set, in its table.
    svm : (float, float)
        How far our SVM is above the paper's on the runs that the paper's algorithm has, and that in standard errors.
    gain : Gain
        Over the SVM, here and in the paper.
    readings : tuple of Reading
        Those that have been run, the nearest to the paper's figure first.
    constant : (float, float) or None
        What predicting the larger class scores, and how far that is from the paper's figure, in standard errors.
    rivals : tuple of float
        How far the other semi-supervised methods are above the paper's figures of them.
    more : Reason or None
        The same on more splits, where they have been run.
    """

    row: Row
    protocol: Protocol
    svm: tuple[float, float]
    gain: Gain
    readings: tuple[Reading, ...]
    constant: tuple[float, float] | None
    rivals: tuple[float, ...]
    more: Reason | None = None

    @property
    def paper(self) -> float:
        """The paper's figure."""
        return self.row.case.paper[paper_name(AS_IN_PAPER)]

    @property
    def cell(self) -> Cell:
        """The figure of the paper's algorithm."""
        return self.row.cells[AS_IN_PAPER]

    def closing(self, of_svm: float = AGREES) -> str | None:
        """The nearest reading that takes away half of the gap or more, and by which both methods agree: the paper's
        algorithm within one standard error, the SVM within ``of_svm``."""
        for reading in self.readings:
            if reading.off <= AGREES and (reading.svm_off or 0.0) <= of_svm and self._explains(reading.gap):
                return reading.name
        return None

    def _explains(self, gap: float) -> bool:
        """Whether half of the gap or more is gone; a figure that varies much is soon within a standard error."""
        return abs(gap) <= abs(self.cell.difference or 0.0) / 2

    @property
    def verdict(self) -> str:
        """The first of `VERDICTS` that holds."""
        off = self.cell.difference or 0.0
        with_svm = self.svm[0] * off > 0 and abs(self.svm[1]) > AGREES
        if self.row.case.stand_in:
            return "data"
        if with_svm and self.gain.apart <= AGREES:
            return "as the SVM"
        if self.constant is not None and self.constant[1] <= AGREES and self._explains(self.constant[0] - self.paper):
            return "larger class"
        if self.closing():
            return "reading"
        if with_svm and self.gain.apart <= CHANCE:
            return "gain"
        if with_svm and abs(self.svm[1]) > CHANCE:
            return "SVM off"
        if self.rivals and min(self.rivals) * max(self.rivals) > 0 and 2 * np.mean(self.rivals) / off >= 1:
            return "as the rivals"
        if self.more is not None and self.more.verdict not in WEAK:
            return "more splits"
        if self.closing(CHANCE):
            return "near a reading"
        return "chance" if (self.cell.errors_off or 0.0) <= CHANCE else "open"


def reasons(tables: Sequence[PaperTable]) -> list[Reason]:
    """Of every set that is off, in Tables 2 to 4; none unless all of them and the readings are there."""
    named = {table.protocol.table: table for table in tables}
    if not {*TABLES, READINGS} <= named.keys():
        return []
    by_name = {row.case.name: row for row in named[READINGS].rows}
    splits = _of_table(named[SPLITS], by_name) if SPLITS in named else ()
    more = {_place(reason.protocol, reason.row): reason for reason in splits}
    found = [reason for table in TABLES for reason in _of_table(named[table], by_name)]
    found = [reason for reason in found if (reason.cell.errors_off or 0.0) > AGREES]
    return [replace(reason, more=more.get(_place(reason.protocol, reason.row))) for reason in found]


def _place(protocol: Protocol, row: Row) -> str:
    """The set and its share of labels, as tables with several shares call it."""
    return row.case.name if "labeled" in row.case.settings else f"{row.case.name}, {_share(protocol)}"


def _share(protocol: Protocol) -> str:
    return f"{100 * protocol.settings['labeled']:g} %"


def _of_table(table: PaperTable, other: dict[str, Row]) -> Iterator[Reason]:
    """What is known of every set, off or not."""
    for gain in gains(table):
        row = gain.row
        read = other[_place(table.protocol, row)].cells
        found = sorted(_readings(table, row, read), key=lambda reading: abs(reading.gap))
        constant, rivals = _constant(table, row, read), tuple(_rivals_off(table, row))
        yield Reason(row, table.protocol, _svm_off(table, row), gain, tuple(found), constant, rivals)


def _readings(table: PaperTable, row: Row, cells: dict[str, Cell]) -> Iterator[Reading]:
    for column in cells:
        name = column.removeprefix(AS_IN_PAPER).lstrip(":, ")
        ours = _changed(table, row, AS_IN_PAPER, cells[column]) if column.startswith(AS_IN_PAPER) else None
        if ours is not None:
            svm = cells.get(f"SVM: {name}")
            svm_changed = None if svm is None else _changed(table, row, "SVM", svm)
            yield Reading(name, *ours, svm_off=None if svm_changed is None else svm_changed[-1])


def _changed(table: PaperTable, row: Row, method: str, read: Cell) -> tuple[int, float, float, float] | None:
    """What a reading makes of a figure of the table, as `Reading` has it; None with less than two runs in common."""
    base, paper, std = (
        row.cells[method].values,
        row.case.paper[paper_name(method)],
        row.case.paper_std[paper_name(method)],
    )
    common = sorted(base.keys() & read.values.keys())
    if len(common) < 2:
        return None
    if len(common) == len(base):
        mean = float(np.mean(list(read.values.values())))
        gap, off = _apart(list(read.values.values()), paper, std, table.protocol)
        return read.n, mean, gap, abs(off)
    change = np.array([read.values[k] - base[k] for k in common])
    mean = float(np.mean(list(base.values())) + change.mean())
    variances = (
        std**2 / table.protocol.runs_of_paper,
        np.var(list(base.values()), ddof=1) / len(base),
        change.var(ddof=1) / change.size,
    )
    return len(common), mean, mean - paper, errors_apart(mean - paper, float(np.sqrt(sum(variances))))


def _svm_off(table: PaperTable, row: Row) -> tuple[float, float]:
    """How far the SVM is off on the runs that the paper's algorithm has: plainly, and in standard errors."""
    svm, case = row.cells[str(table.protocol.reference)], row.case
    values = [svm.values[k] for k in svm.values.keys() & row.cells[AS_IN_PAPER].values.keys()]
    return _apart(values, case.paper["SVM"], case.paper_std["SVM"], table.protocol)


def _rivals_off(table: PaperTable, row: Row) -> Iterator[float]:
    """Differences to the paper of all methods that are neither the reference nor ours."""
    for name, cell in row.cells.items():
        if paper_name(name) not in (table.protocol.reference, paper_name(AS_IN_PAPER)) and cell.difference is not None:
            yield cell.difference


def _constant(table: PaperTable, row: Row, cells: dict[str, Cell]) -> tuple[float, float] | None:
    """The prediction of one class, beside the paper's WellSVM."""
    cell = cells.get(LARGER_CLASS)
    if cell is None or cell.n < 2:
        return None
    paper, std = row.case.paper[paper_name(AS_IN_PAPER)], row.case.paper_std[paper_name(AS_IN_PAPER)]
    gap, off = _apart(list(cell.values.values()), paper, std, table.protocol)
    return paper + gap, abs(off)


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
                list(_agreement(readings, [table for table in tables if table.protocol.table in TABLES])),
            ),
        ]
    )


def _line(reason: Reason) -> list[str]:
    write, cell = Writer(reason.protocol), reason.cell
    near = ""
    if reason.readings:
        nearest = reason.readings[0]
        near = f"{nearest.name}: {write.number(nearest.mean)}, off {nearest.off:.1f} ({nearest.n})"
        near += "" if nearest.svm_off is None else f"; SVM {nearest.svm_off:.1f}"
    return [
        _share(reason.protocol),
        case_name(reason.row),
        write.paper(cell.paper),
        f"{write.number(cell.mean or 0.0)} ({cell.n})",
        _off(reason),
        f"{reason.svm[1]:+.1f}",
        f"{reason.gain.apart:.1f}",
        near,
        f"{reason.verdict}{_shown(reason)}",
    ]


def _shown(reason: Reason) -> str:
    """What a verdict rests on, where the other columns do not have it."""
    verdict, more = reason.verdict, reason.more
    if verdict in ("reading", "near a reading"):
        return f": {reason.closing() or reason.closing(CHANCE)}"
    if verdict == "larger class" and reason.constant is not None:
        return f": {Writer(reason.protocol).number(reason.constant[0])}"
    if verdict == "more splits" and more is not None:
        rests_on = _shown(more) or f", SVM {more.svm[1]:+.1f}, gain {more.gain.apart:.1f}"
        return f": {more.verdict}{rests_on} ({more.cell.n})"
    return ""


def _off(reason: Reason) -> str:
    """How far the paper's algorithm is above the paper's figure, in standard errors."""
    return f"{np.sign(reason.cell.difference or 0.0) * (reason.cell.errors_off or 0.0):+.1f}"


def _agreement(readings: PaperTable, tables: Sequence[PaperTable]) -> Iterator[list[str]]:
    """On how many of the sets that it was run on every reading comes within one and two standard errors."""
    yield ["as in Tables 2 to 4", *_within(tables, ("SVM",)), *_within(tables, (AS_IN_PAPER,))]
    names = dict.fromkeys(m.partition(": ")[2] or m.partition(", ")[2] for m in readings.methods)
    for name in filter(None, names):
        line = [name]
        for method in ("SVM", AS_IN_PAPER):
            line += _within([readings], (f"{method}: {name}", f"{method}, {name}"))
        yield line


def _within(tables: Sequence[PaperTable], columns: Sequence[str]) -> list[str]:
    """Sets within one standard error, within two, and all; empty for none."""
    cells = [row.cells.get(column) for table in tables for row in table.rows for column in columns]
    off = [cell.errors_off for cell in cells if cell is not None and cell.errors_off is not None]
    return [str(sum(e <= limit for e in off)) for limit in (AGREES, CHANCE, np.inf)] if off else [""] * 3
