"""The meter of memory: resident memory of a process over time, watched from outside.

From outside, because a thread inside would wait for whoever holds the interpreter's lock.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

import psutil

__all__ = ["Sample", "highest_growth", "resident", "watch"]

SAMPLED_EVERY = 0.01  # seconds
Sample = tuple[float, int]  # moment (time.time), bytes


def resident() -> int:
    """Resident memory of this process, in bytes."""
    return int(psutil.Process().memory_info().rss)


def watch(child: subprocess.Popen[bytes], seconds: float) -> list[Sample]:
    """Look at a process until it ends or the time is over."""
    samples: list[Sample] = []
    ends = time.monotonic() + seconds
    with suppress(psutil.Error):
        process = psutil.Process(child.pid)
        while child.poll() is None and time.monotonic() < ends:
            samples.append((time.time(), process.memory_info().rss))
            time.sleep(SAMPLED_EVERY)
    with suppress(subprocess.TimeoutExpired):  # a process that is just ending has no memory to look at
        child.wait(max(0.0, ends - time.monotonic()))
    return samples


def highest_growth(samples: Sequence[Sample], before: Sample, after: Sample) -> int:
    """By how much the memory grew at the highest between two moments, given what it was at both."""
    during = [rss for moment, rss in samples if before[0] <= moment <= after[0]]
    return max([before[1], after[1], *during]) - before[1]
