"""What the commands share: types of arguments, and a way to speak beside the results."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, TypeAlias

from experiments.data_folder import ENVIRONMENT_VARIABLE

__all__ = ["Commands", "add_shared", "at_least_one", "say"]

Commands: TypeAlias = "argparse._SubParsersAction[Any]"  # argparse has no public name for it


def at_least_one(text: str) -> int:
    """A whole number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


def add_shared(parser: argparse.ArgumentParser, out: Path, jobs: bool) -> None:
    """Add the options that all commands have; ``--jobs`` where runs may share the machine."""
    parser.add_argument("--out", type=Path, default=out, help="folder of the journals and what is made of them")
    parser.add_argument("--data", type=_set_data, help=f"folder of the data sets, in place of {ENVIRONMENT_VARIABLE}")
    parser.add_argument("--report-only", action="store_true", help="run nothing; show what is there")
    parser.add_argument("--list", action="store_true", help="print what there is and run nothing")
    if jobs:
        parser.add_argument("--jobs", type=at_least_one, default=1, help="processes; times are best taken with one")


def _set_data(text: str) -> Path:
    """A folder, which this process and all that it starts take the data from."""
    path = Path(text).resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    os.environ[ENVIRONMENT_VARIABLE] = str(path)
    return path


def say(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)
