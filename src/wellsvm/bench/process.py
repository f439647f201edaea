"""One measurement: a fresh process, watched from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wellsvm.bench.adapters import ADAPTERS

__all__ = ["TOO_SLOW", "import_psutil", "measure"]

TOO_SLOW = "over"
SAMPLED_EVERY = 0.01  # seconds between two looks at the memory of the process
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ERROR_LENGTH = 200


def import_psutil() -> Any:
    """psutil, or an error that names the extra."""
    try:
        import psutil
    except ImportError as error:
        raise ImportError("the benchmarks need psutil, which is missing: pip install 'wellsvm[bench]'") from error
    return psutil


def measure(method: str, problem: Path, settings: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What one process measured, and by how much its memory grew at the highest while it fitted.

    A measurement that could not be made, or not within ``seconds``, is a word under "skipped".
    """
    adapter = ADAPTERS[method]
    if adapter.code is not None:
        command = [sys.executable, "-c", adapter.code]
        _watch(command, adapter.threads, seconds)  # warm-up: the files of the import come into the system's cache
        return _watch(command, adapter.threads, seconds)[0]
    job = json.dumps({"method": method, "problem": str(problem), "settings": settings})
    result, samples = _watch([sys.executable, "-m", "wellsvm.bench.child", job], adapter.threads, seconds)
    if "wall" not in result:
        return result
    began, ended = result.pop("began"), result.pop("ended")
    before, after = result.pop("rss_before"), result.pop("rss_after")
    during = [rss for moment, rss in samples if began <= moment <= ended]
    result["extra_bytes"] = max([before, after, *during]) - before
    if adapter.threads > 1 and result["cpu"] < 1.1 * result["wall"]:
        result["note"] = f"asked for {adapter.threads} threads, kept one processor busy"
    return result


def _watch(command: list[str], threads: int, seconds: float) -> tuple[dict[str, Any], list[tuple[float, int]]]:
    """Run a command: the JSON object that it printed, and its resident memory over time."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            environment = os.environ | dict.fromkeys(POOLS, str(threads))
            child = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment)
            try:
                samples = _sample(child, seconds)
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


def _sample(child: subprocess.Popen[bytes], seconds: float) -> list[tuple[float, int]]:
    """Look at a process until it ends or the time is over.

    From outside, because a thread inside would wait for whoever holds the interpreter's lock.
    """
    psutil = import_psutil()
    samples: list[tuple[float, int]] = []
    ends = time.monotonic() + seconds
    with suppress(psutil.Error):
        process = psutil.Process(child.pid)
        while child.poll() is None and time.monotonic() < ends:
            samples.append((time.time(), process.memory_info().rss))
            time.sleep(SAMPLED_EVERY)
    with suppress(subprocess.TimeoutExpired):  # a process that is just ending has no memory to look at
        child.wait(max(0.0, ends - time.monotonic()))
    return samples
