"""One measurement: a fresh process, watched from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.bench.competitors import COMPETITORS
from experiments.memory import Sample, highest_growth, watch

__all__ = ["TOO_SLOW", "measure"]

TOO_SLOW = "over"
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ERROR_LENGTH = 200
ROOT = str(Path(__file__).resolve().parents[2])


def measure(method: str, data: Path, settings: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What one process measured, and by how much its memory grew at the highest while it fitted.

    A measurement that could not be made, or not within ``seconds``, is a word under "skipped".
    """
    competitor = COMPETITORS[method]
    if competitor.code is not None:
        command = [sys.executable, "-c", competitor.code]
        _watched(command, competitor.threads, seconds)  # warm-up: the files of the import come into the system's cache
        return _watched(command, competitor.threads, seconds)[0]
    order = json.dumps({"method": method, "data": str(data), "settings": settings})
    command = [sys.executable, "-m", "experiments.bench.child", order]
    result, samples = _watched(command, competitor.threads, seconds)
    if "wall" not in result:
        return result
    before, after = ((result.pop(moment), result.pop(rss)) for moment, rss in MOMENTS)
    result["extra_bytes"] = highest_growth(samples, before, after)
    if competitor.threads > 1 and result["cpu"] < 1.1 * result["wall"]:
        result["note"] = f"asked for {competitor.threads} threads, kept one processor busy"
    return result


# What the child tells of the beginning and the end of the fit.
MOMENTS = (("began", "rss_before"), ("ended", "rss_after"))


def _watched(command: list[str], threads: int, seconds: float) -> tuple[dict[str, Any], list[Sample]]:
    """Run a command: the JSON object that it printed, and its resident memory over time."""
    path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    environment = os.environ | dict.fromkeys(POOLS, str(threads)) | {"PYTHONPATH": path}
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            child = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment)
            try:
                samples = watch(child, seconds)
            finally:
                over = child.poll() is None
                if over:
                    child.kill()
                    child.wait()
        if over:
            return {"skipped": f"{TOO_SLOW} {seconds:g} s"}, samples
        if child.returncode != 0:
            # The last line of a traceback is the error; a process that the system killed says nothing.
            told = err.read_text(errors="replace").strip() or f"ended with exit code {child.returncode}"
            return {"skipped": f"failed: {told.splitlines()[-1][:ERROR_LENGTH]}"}, samples
        return json.loads(out.read_text().splitlines()[-1]), samples
