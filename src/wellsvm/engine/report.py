"""What a run tells: status, one record per label vector, bounds kept apart, the table and the warning."""

from __future__ import annotations

import logging
import sys
import warnings
from dataclasses import dataclass
from enum import StrEnum

from sklearn.exceptions import ConvergenceWarning

from wellsvm._typing import FloatArray, LabelArray
from wellsvm._warnings import callers_level
from wellsvm.geometry.base import Descent

__all__ = ["History", "Record", "Result", "Status"]

logger = logging.getLogger("wellsvm")


class Status(StrEnum):
    """Why the cutting plane ended."""

    NO_VIOLATED_LABEL = "no violated label vector found"
    SMALL_DECREASE = "objective stands still"
    MAX_ITER = "max_iter reached"
    MASTER_NOT_SOLVED = "restricted master not solved to tol"
    STOPPED = "stopped by callback"

    @property
    def converged(self) -> bool:
        """Whether a stopping rule of Algorithm 1 ended the run."""
        return self in (Status.NO_VIOLATED_LABEL, Status.SMALL_DECREASE)


@dataclass(frozen=True)
class Record:
    """The state after one label vector was added and the restricted master solved.

    Attributes
    ----------
    objective : float
        Upper bound of the restricted master, Eq. (9).
    gap : float
        Upper minus lower bound of the restricted master.
    violation : float
        By how much the generated label vector violates its constraint in Eq. (5).
    labelings : int
        Label vectors in the master.
    epochs : int
        Passes over the rows so far.
    seconds : float
        Time since the start.
    """

    objective: float
    gap: float
    violation: float
    labelings: int
    epochs: int
    seconds: float


class History(list[Record]):
    """The records of a run, printed as they come when ``verbose``."""

    def __init__(self, verbose: int = 0, title: str = "") -> None:
        super().__init__()
        self.verbose, self.title = verbose, title

    def add(self, record: Record) -> None:
        """Append a record."""
        self.append(record)
        if self.verbose:
            _ensure_handler()
            if len(self) == 1:
                if self.title:
                    logger.info(self.title)
                logger.info("  labelings     objective           gap     violation   epochs   seconds")
            logger.info(
                "%11d  %12.6g  %12.3g  %12.3g  %7d  %8.2f",
                record.labelings, record.objective, record.gap, record.violation, record.epochs, record.seconds,
                extra={"progress": record, "title": self.title},  # for handlers that draw instead of print
            )  # fmt: skip


class _StandardOutput(logging.Handler):
    """Writes to whatever ``sys.stdout`` is at the time: notebooks and tests replace it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message."""
        print(self.format(record), file=sys.stdout, flush=True)


def _ensure_handler() -> None:
    """Show the table on standard output unless the application has set up logging of its own."""
    if not logger.handlers and not logging.getLogger().handlers:
        handler = _StandardOutput()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


@dataclass
class Result:
    """Outcome of the cutting plane.

    Attributes
    ----------
    descent : Descent
        The final dual variables and label vectors.
    mu : array of shape (n_labelings,)
        Weights of the label vectors.
    objective, gap : float
        Upper bound of the restricted master, and its distance to the lower bound.
    violation : float
        Of the last label vector generated. "None found" is not "none exists": the oracle is local.
    """

    descent: Descent
    mu: FloatArray
    objective: float
    gap: float
    violation: float
    history: History
    status: Status
    tol: float

    @property
    def labels(self) -> list[LabelArray]:
        """The label vectors in use."""
        return self.descent.labels

    def scores(self) -> FloatArray:
        """f of every instance."""
        return self.descent.scores(self.mu)

    def warn_unless_converged(self, name: str = "wellsvm") -> Result:
        """Emit a ConvergenceWarning that tells achieved, wanted and what to try."""
        if self.status in (Status.MAX_ITER, Status.MASTER_NOT_SOLVED):
            scale = max(abs(self.objective), 1e-300)
            warnings.warn(
                f"{name} stopped without convergence ({self.status}) after {len(self.history)} label vectors: "
                f"relative gap {self.gap / scale:.2g} and relative violation {max(self.violation, 0) / scale:.2g}, "
                f"wanted {self.tol:.2g}. Try a larger max_iter or tol, a smaller C or C_unlabeled, or scaled features.",
                ConvergenceWarning,
                stacklevel=callers_level(),
            )
        return self
