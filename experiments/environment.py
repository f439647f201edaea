"""Where figures were made: backend, versions, processors."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from experiments.internals import replacing, versions

__all__ = ["code_state", "described", "environment", "known_environment", "note_environment"]

ENVIRONMENTS = "environment.json"


def environment() -> dict[str, str]:
    """What figures depend on besides the code."""
    return {**versions(), "processors": str(os.cpu_count())}


def code_state() -> str:
    """Git's names of the sources of the library; "changed" where they are not as they were committed."""
    root, names = Path(__file__).parents[1], ("src/wellsvm", "cpp")

    def git(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=False)

    if git("diff", "--quiet", "HEAD", "--", *names).returncode:
        return "changed"
    return " ".join(git("rev-parse", "--short=8", f"HEAD:{name}").stdout.strip() for name in names)


def described(environment: Mapping[str, str]) -> str:
    """One line: backend, processors, Python, the packages that compute."""
    packages = ", ".join(f"{name} {environment[name]}" for name in ("wellsvm", "scikit-learn", "numpy", "scipy"))
    packages = packages.replace("wellsvm not installed", "wellsvm from its source tree")
    return (
        f"{environment['backend']}, {environment['processors']} processors, Python {environment['python']}, {packages}"
    )


def note_environment(folder: Path) -> None:
    """Keep in a folder where its runs are made: they may go on elsewhere, and a report be written anywhere."""
    known, here = _environments(folder), environment()
    if here not in known:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / ENVIRONMENTS) as file:
            file.write(json.dumps([*known, here], indent=1).encode("utf-8"))


def known_environment(folder: Path) -> dict[str, str]:
    """Where the runs of a folder were made; empty if it does not tell. Of several places, all values."""
    merged: dict[str, list[str]] = {}
    for known in _environments(folder):
        for name, value in known.items():
            merged.setdefault(name, []).append(value)
    return {name: " and ".join(dict.fromkeys(values)) for name, values in merged.items()}


def _environments(folder: Path) -> list[dict[str, str]]:
    path = folder / ENVIRONMENTS
    if not path.exists():
        return []
    try:
        found: list[dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged ({error}); remove it, it is written anew by the next run") from None
    return found
