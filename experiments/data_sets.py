"""Data by name: sets that are made here, sets of the data folder, UCI sets of OpenML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from sklearn.utils import Bunch

from experiments.data_folder import STAND_INS, available, data_folder, load_stored
from wellsvm.datasets import fetch_uci, load_clustering, make_sparse_text, make_two_moons

__all__ = ["load_set", "why_missing"]

DOCUMENTS = "rcv1 "  # "rcv1 1000" are 1000 generated documents
MADE: dict[str, Callable[[], Bunch]] = {
    "digits": lambda: load_clustering("digits"),
    # Of the size of the paper's, which was not found.
    "two_moons": lambda: make_two_moons(200, noise=0.01, n_features=102, random_state=0),
}


def _is_made(name: str) -> bool:
    return name in MADE or name.startswith(DOCUMENTS)


def load_set(name: str, download: bool = False) -> Bunch:
    """A set with ``X``, ``y`` and what else belongs to it; ``stand_in`` tells why it is not the paper's, or is None.

    The two sets asked for last are kept: do not change them.

    Parameters
    ----------
    name : str
        Of a set that is made here, else of one in the data folder.
    download : bool, default=False
        Whether to fetch a set that is not in the folder from OpenML, where it is known.
    """
    return _load(name, data_folder(), download)


@lru_cache(maxsize=2)
def _load(name: str, folder: Path | None, download: bool) -> Bunch:
    if name in MADE:
        return Bunch(stand_in=None, **MADE[name]())
    if name.startswith(DOCUMENTS):
        X, y = make_sparse_text(int(name.removeprefix(DOCUMENTS)), random_state=0)
        return Bunch(X=X, y=y, stand_in=None)
    try:
        return load_stored(name, folder)
    except FileNotFoundError as error:
        if not download:
            raise
        try:
            return Bunch(stand_in=STAND_INS.get(name), **fetch_uci(name))
        except ValueError as unknown:
            raise FileNotFoundError(f"{error}; OpenML does not help: {unknown}") from unknown


def why_missing(names: Iterable[str], download: bool = False) -> dict[str, str]:
    """Sets that cannot be loaded, and why."""
    present, reasons = set(available()), {}
    for name in dict.fromkeys(names):
        if name not in present and not _is_made(name):
            try:
                load_set(name, download)
            except (OSError, ValueError) as error:
                reasons[name] = str(error)
    return reasons
