"""What the paper's algorithm gains over the SVM, here and in the paper.

Where both differ from the paper's figures by as much, the data or the splits are others; where the gains differ, the
method is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from experiments.paper.figures import Cell, PaperTable, Row, errors_apart
from experiments.paper.protocol import AS_IN_PAPER, Case, Protocol, paper_name

__all__ = ["Gain", "gains"]


@dataclass(frozen=True)
class Gain:
    """A case on which the paper's algorithm and the SVM have runs in common, and the paper has both with deviations.

    Attributes
    ----------
    row : Row
        The case.
    ours, paper : (float, float)
        Gain over the SVM and its standard error: of ours run by run; of the paper's as if the runs of the two methods
        were independent, since it prints no more. As they share their splits that is too large, mostly.
    svm_off : float
        How far our SVM is above the paper's, over all its runs.
    """

    row: Row
    ours: tuple[float, float]
    paper: tuple[float, float]
    svm_off: float

    @property
    def apart(self) -> float:
        """Difference of the gains in standard errors."""
        return errors_apart(self.ours[0] - self.paper[0], float(np.hypot(self.ours[1], self.paper[1])))


def gains(table: PaperTable) -> Iterator[Gain]:
    """Cases of a table that can be compared so; none if it has no column of the paper's algorithm, or no SVM."""
    protocol = table.protocol
    if protocol.reference is None or AS_IN_PAPER not in protocol.methods:
        return
    for row in table.rows:
        svm, paper = row.cells[protocol.reference], _in_paper(protocol, row.case)
        ours = _ours(row.cells[AS_IN_PAPER], svm)
        if paper is not None and ours is not None and svm.difference is not None:
            yield Gain(row, ours, paper, svm.difference)


def _ours(method: Cell, svm: Cell) -> tuple[float, float] | None:
    common = sorted(method.values.keys() & svm.values.keys())
    if len(common) < 2:
        return None
    gain = np.array([method.values[k] - svm.values[k] for k in common])
    return float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(gain.size))


def _in_paper(protocol: Protocol, case: Case) -> tuple[float, float] | None:
    names = (paper_name(AS_IN_PAPER), str(protocol.reference))
    if not all(name in case.paper and name in case.paper_std for name in names):
        return None
    method, svm = names
    error = np.hypot(case.paper_std[method], case.paper_std[svm]) / np.sqrt(protocol.runs_of_paper)
    return case.paper[method] - case.paper[svm], float(error)
