"""The tasks of six new users run and reach what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "strangers"
TASKS = sorted(FOLDER.glob("*.py"))


@pytest.mark.skipif(not FOLDER.is_dir(), reason="a source archive without examples")
def test_there_are_six():
    assert len(TASKS) == 6


@pytest.mark.slow
@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_a_new_user_gets_there(path, tmp_path):
    for needed in ("pandas", "polars", "typer", "skops"):
        pytest.importorskip(needed)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout
