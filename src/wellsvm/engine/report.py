"""What a run reports: its status, one record per label vector with separate bounds, the printed table, the warnings."""

from __future__ import annotations

import logging
import sys
import warnings
from dataclasses import dataclass
from enum import StrEnum

from sklearn.exceptions import ConvergenceWarning

from wellsvm._warnings import callers_level
from wellsvm.solver.master import Solution

__all__ = ["ACT", "Record", "Relaxation", "Status", "show", "tell", "warn", "warn_unsolved"]

logger = logging.getLogger("wellsvm")


class Status(StrEnum):
    """Why the cutting plane ended."""

    NO_VIOLATED_LABEL = "no violated label vector found"
    SMALL_DECREASE = "the next label vector would lower the objective by less than min_decrease"
    MAX_ITER = "max_iter reached"
    ENOUGH = "not solved further: a search for one labeling made the result, see refined_objective_"
    MASTER_NOT_SOLVED = "restricted master not solved to tol"
    STOPPED = "stopped by callback"
    SETTLED = "hardly a row changes its cluster"
    STILL_MOVING = "rows still change their cluster"

    @classmethod
    def _missing_(cls, value: object) -> Status | None:
        """A model that an earlier release saved has its words."""
        earlier = {"objective stands still": cls.SMALL_DECREASE, "enough label vectors to search from": cls.ENOUGH}
        return earlier.get(str(value))

    @property
    def converged(self) -> bool:
        """Whether no violated label vector was found, to ``min_violation``: the relaxation is solved, as far as the
        oracle can tell. Or, of several clusters relabeled together, whether they have settled."""
        return self in (Status.NO_VIOLATED_LABEL, Status.SETTLED)

    @property
    def word(self) -> str:
        """The same in a word or two. Label vectors that are still violated are no convergence, nor a failure where
        the next one would change little."""
        if self in ACT:
            return "NOT converged"
        return "converged" if self.converged else "ended"


# Where the user should act.
ACT = (Status.MAX_ITER, Status.MASTER_NOT_SOLVED)


@dataclass(frozen=True)
class Record:
    """The state after one label vector was added, or found not worth its place, and the restricted master solved.

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


@dataclass(frozen=True)
class Relaxation:
    """Outcome of the cutting plane.

    Attributes
    ----------
    solution : Solution
        The last master solved: label vectors, their weights, dual variables and bounds.
    violation : float
        Of the last label vector generated. "None found" is not "none exists": the oracle is local.
    history : list of Record
        One record per label vector.
    status : Status
        Why it ended.
    """

    solution: Solution
    violation: float
    history: list[Record]
    status: Status


def tell(message: str) -> None:
    """Print a line."""
    _ensure_handler()
    logger.info(message)


def show(history: list[Record], title: str) -> None:
    """Print the last record, below a heading if it is the first."""
    _ensure_handler()
    if len(history) == 1:
        if title:
            logger.info(title)
        logger.info("  labelings     objective           gap     violation   epochs   seconds")
    record = history[-1]
    logger.info(
        "%11d  %12.6g  %12.3g  %12.3g  %7d  %8.2f",
        record.labelings, record.objective, record.gap, record.violation, record.epochs, record.seconds,
        extra={"progress": record, "title": title},  # for handlers that draw instead of print
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


def warn(relaxation: Relaxation, name: str, tol: float) -> None:
    """Emit a ConvergenceWarning that tells the likely cause first, then achieved, wanted and what to try."""
    solution = relaxation.solution
    scale = max(abs(solution.upper), 1e-300)
    problem = (
        f"stopped without convergence ({relaxation.status}) after {len(relaxation.history)} label vectors: relative "
        f"gap {solution.gap / scale:.2g} and relative violation {max(relaxation.violation, 0) / scale:.2g}, wanted "
        f"{tol:.2g}"
    )
    _warn(solution, name, problem, "a larger max_iter or tol, a smaller C or C_unlabeled")


def warn_unsolved(svm: Solution, name: str, tol: float) -> None:
    """The same where the SVM that predicts, on the labels that a search settled on, is not solved to tol."""
    scale = max(abs(svm.upper), 1e-300)
    problem = f"ended with an SVM that is not solved: relative gap {svm.gap / scale:.2g}, wanted {tol:.2g}"
    _warn(svm, name, problem, "a larger tol, a smaller C or C_unlabeled")


def _warn(solution: Solution, name: str, problem: str, advice: str) -> None:
    trouble = getattr(solution.state.rows, "column_trouble", "")
    cause = (
        f": {trouble}. Scale the columns, for instance with sklearn.preprocessing.StandardScaler. It" if trouble else ""
    )
    more = "" if trouble else ", or scaled features"
    warnings.warn(f"{name}{cause} {problem}. Try {advice}{more}.", ConvergenceWarning, stacklevel=callers_level())
