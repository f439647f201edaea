"""Runs trials: in parallel, and on from where a killed run stopped.

A trial depends on nothing but itself, so that the order in which trials run, and on how many processes, does not change
a figure. Every result is a line in its journal as soon as it is there; a trial that failed is tried again next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import joblib

from experiments.arguments import say
from experiments.journal import Entry, Journal

__all__ = ["Trial", "follow", "left", "run"]

# A line is printed after every such share of the trials.
LINES = 20
LONGEST_ERROR = 200  # letters


@dataclass(frozen=True)
class Trial:
    """A piece of work.

    Attributes
    ----------
    journal : Journal
        Where its result goes.
    identity : dict
        What tells it from all other trials of the journal; its entry begins with it.
    work : callable
        Makes the rest of the entry. It is sent to another process, so it can be pickled.
    about : dict or None
        What else its entry tells that is known beforehand.
    """

    journal: Journal
    identity: Entry
    work: Callable[[], Entry]
    about: Entry | None = None

    @property
    def result(self) -> Entry | None:
        """Its entry in the journal; None if there is none."""
        return self.journal.result(self.identity)


def left(trials: Iterable[Trial]) -> list[Trial]:
    """Trials that have no result yet."""
    return [trial for trial in trials if trial.result is None]


def run(trials: Iterable[Trial], jobs: int = 1) -> Iterator[Entry]:
    """Run trials in ``jobs`` processes; yields each entry once it is in its journal.

    Inside ``joblib.parallel_config`` its backend (Dask, Ray, ...) is used. With one job a trial is asked for after the
    entry of the one before is written.
    """
    begun: list[Trial] = []

    def attempts() -> Iterator[object]:
        for number, trial in enumerate(trials):
            begun.append(trial)
            yield joblib.delayed(_attempt)(number, trial.work)

    for number, facts in joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(attempts()):
        trial = begun[number]
        entry = trial.identity | (trial.about or {}) | facts
        trial.journal.append(entry)
        yield entry


def _attempt(number: int, work: Callable[[], Entry]) -> tuple[int, Entry]:
    try:
        return number, work()
    except Exception as error:  # one failure must not end a run of hours
        text = " ".join(f"{type(error).__name__}: {error}".split())
        half = LONGEST_ERROR // 2
        return number, {"error": text if len(text) <= LONGEST_ERROR else f"{text[:half]} ... {text[-half:]}"}


def follow(entries: Iterable[Entry], left: int, total: int, describe: Callable[[Entry], str]) -> list[str]:
    """Go through entries as they come and tell on standard error how far it is; what failed."""
    began, failed = time.monotonic(), []
    for done, entry in enumerate(entries, start=1):
        reached = total - left + done
        if "error" in entry:
            failed.append(f"{describe(entry)}: {entry['error']}")
            say(f"failed: {failed[-1]}")
        if reached * LINES // total > (reached - 1) * LINES // total:
            gone = time.monotonic() - began
            times = (timedelta(seconds=round(seconds)) for seconds in (gone, gone / done * (left - done)))
            say("{} of {} runs, {} gone, about {} left; last: {}".format(reached, total, *times, describe(entry)))
    return failed
