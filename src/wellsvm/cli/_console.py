"""What the commands show while they work: errors and warnings of one line, and the progress of a fit."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from wellsvm._escape import shown
from wellsvm._files import check_replaceable
from wellsvm.cli._flags import in_flags

__all__ = [
    "Failure",
    "check_output",
    "progress_of_fit",
    "stderr",
    "told_in_one_line",
    "warnings_as_lines",
]


class Failure(Exception):
    """An error that the user can mend: `wellsvm.cli.main` prints its message alone and ends with exit code 1."""

    exit_code = 1

    def format_message(self) -> str:
        """The message."""
        return str(self)


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Turn what bad data and parameters raise into `Failure`: no traceback, no name of a Python class."""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        if isinstance(error, BrokenPipeError) or os.environ.get("WELLSVM_TRACEBACK"):
            raise
        message = str(error)
        if isinstance(error, OSError) and error.strerror:
            message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        raise Failure(in_flags(message) or "not enough memory") from error


def check_output(option: str, path: Path, *inputs: Path) -> None:
    """Refuse, before any work, an output that cannot be written or that is one of the inputs."""
    try:
        check_replaceable(path)
    except OSError as error:
        raise typer.BadParameter(f"{option}: {error}") from error
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise typer.BadParameter(f"{option}: {path} is an input file and would be overwritten")


def stderr() -> Console:
    """The console for what is not a result; made anew, as standard error may have been replaced."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


@contextmanager
def warnings_as_lines() -> Iterator[list[str]]:
    """Collect warnings, each text once, and print them as single lines at the end."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield told
        finally:
            texts = (in_flags(" ".join(str(warning.message).split())) for warning in caught)
            told += dict.fromkeys(texts)
    for text in told:
        stderr().print(f"wellsvm: warning: {shown(text)}", markup=False)


class _Drawn(logging.Handler):
    """Draws the records of the engine's log (see `wellsvm.engine.report.show`), one line for each problem."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress
        self.waiting = progress.add_task("", what="Preparing", state="")
        self.tasks: dict[str, TaskID] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Update the line of the record's problem."""
        state = getattr(record, "progress", None)
        if state is None:  # a line of words, of a fold for instance
            self.progress.update(self.waiting, what=record.getMessage(), visible=True)
            return
        title = getattr(record, "title", "")
        if title not in self.tasks:
            self.progress.update(self.waiting, visible=False)
            self.tasks[title] = self.progress.add_task("", what=escape(shown(title)) or "Fitting", state="")
        relative = state.gap / max(abs(state.objective), 1e-300)
        vectors = f"{state.labelings} label vector{'s' * (state.labelings > 1)}"
        self.progress.update(
            self.tasks[title],
            state=f"{vectors}, objective {state.objective:.6g}, gap {relative:.1e}",
        )


@contextmanager
def progress_of_fit(show: bool) -> Iterator[int]:
    """Draw the label vectors of the fits inside on a terminal; gives the ``verbose`` that makes estimators tell."""
    console = stderr()
    if not (show and console.is_terminal):
        yield 0
        return
    logger = logging.getLogger("wellsvm")
    level, propagate = logger.level, logger.propagate
    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[what]}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        handler = _Drawn(progress)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield 1
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
