"""What a study is, and how the means of its entries are shown."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from experiments.journal import Entry, Journal
from experiments.runner import Trial

__all__ = ["Study", "fit_facts", "mean_of"]


class Study(NamedTuple):
    """A study.

    Attributes
    ----------
    about : str
        One line.
    sets : tuple of str
        Its data, as `experiments.data_sets` calls them.
    trials : callable
        Its trials, given its journal.
    table : callable
        Its entries and the name of a figure in Markdown.
    """

    about: str
    sets: tuple[str, ...]
    trials: Callable[[Journal], list[Trial]]
    table: Callable[[Sequence[Entry], str], str]


@contextmanager
def fit_facts() -> Iterator[Entry]:
    """Facts of the fit inside: seconds on the clock and of the processor, and which warnings there were."""
    facts: Entry = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began, cpu_began = time.perf_counter(), time.process_time()
        yield facts
        facts["seconds"] = round(time.perf_counter() - began, 3)
        facts["cpu_seconds"] = round(time.process_time() - cpu_began, 4)
    facts["warnings"] = sorted({warning.category.__name__ for warning in caught})


def mean_of(entries: Sequence[Entry], figure: str, **values: object) -> float:
    """Mean of a figure over the entries with these values; NaN if there is none."""
    chosen = [e[figure] for e in entries if all(e[name] == value for name, value in values.items())]
    return float(np.mean(chosen)) if chosen else float("nan")
