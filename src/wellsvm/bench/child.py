"""The process that measures one fit: ``python -m wellsvm.bench.child JOB``, JOB a JSON object.

It reads the problem, warms up on a few rows (imports, first calls), fits once, scores, and prints one JSON object.
Resident memory is watched from outside, by the runner: here only the moments of the fit are noted.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from wellsvm.bench.adapters import ADAPTERS, NOT_INSTALLED
from wellsvm.bench.problems import Problem

__all__ = ["main", "measure"]


def measure(method: str, problem: Problem, settings: dict[str, Any]) -> dict[str, Any]:
    """Time, figures of merit and convergence of one fit; a word under "skipped" where it could not be made."""
    adapter, memory = ADAPTERS[method], psutil.Process().memory_info
    assert adapter.build is not None
    assert adapter.task is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            head = problem.head()
            adapter.task.fit(adapter.build(head, settings), head)
        model = adapter.build(problem, settings)
    except ImportError as error:
        return {"skipped": f"{NOT_INSTALLED}: {error.name or error}"}
    before, began = memory().rss, time.time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            adapter.task.fit(model, problem)
        except MemoryError:
            return {"skipped": "not enough memory"}
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "wall": wall,
        "cpu": cpu,
        "began": began,
        "ended": time.time(),
        "rss_before": before,
        "rss_after": memory().rss,
        "x_bytes": problem.n_bytes,
        "warnings": sorted({warning.category.__name__ for warning in caught}),
        **adapter.task.score(model, problem),
        **_convergence(model),
    }


def _convergence(model: Any) -> dict[str, Any]:
    """Objective, relative gap and iterations where the model tells them; a digest of linear coefficients."""
    facts: dict[str, Any] = {}
    objective, gap = getattr(model, "objective_", None), getattr(model, "gap_", None)
    if objective is not None:
        facts["objective"] = float(objective)
    if objective is not None and gap is not None:
        facts["gap"] = float(gap) / max(abs(float(objective)), 1e-300)
    if getattr(model, "n_iter_", None) is not None:
        facts["n_iter"] = int(np.max(model.n_iter_))
    coef = getattr(model, "coef_", None)
    if isinstance(coef, np.ndarray):
        facts["coef_sha256"] = hashlib.sha256(np.ascontiguousarray(coef).tobytes()).hexdigest()
    return facts


def main() -> None:
    """Read the job, print the result."""
    job = json.loads(sys.argv[1])
    problem = Problem.read(Path(job["problem"]))
    print(json.dumps(measure(job["method"], problem, job["settings"])))


if __name__ == "__main__":
    main()
