"""The process that measures one fit: ``python -m experiments.bench.child ORDER``, ORDER a JSON object.

It reads the data, warms up on a few rows (imports, first calls), fits once, scores, and prints one JSON object.
Resident memory is watched from outside, by `experiments.memory`: here only the moments of the fit are noted.
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

from experiments.bench.competitors import COMPETITORS, NOT_INSTALLED
from experiments.bench.contest_data import ContestData
from experiments.memory import resident

__all__ = ["main", "measure"]


def measure(method: str, data: ContestData, settings: dict[str, Any]) -> dict[str, Any]:
    """Time, figures of merit and convergence of one fit; a word under "skipped" where it could not be made."""
    build, discipline = COMPETITORS[method].build, COMPETITORS[method].discipline
    assert build is not None
    assert discipline is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            head = data.head()
            discipline.fit(build(head, settings), head)
        model = build(data, settings)
    except ImportError as error:
        return {"skipped": f"{NOT_INSTALLED}: {error.name or error}"}
    before, began = resident(), time.time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            discipline.fit(model, data)
        except MemoryError:
            return {"skipped": "not enough memory"}
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "wall": wall,
        "cpu": cpu,
        "began": began,
        "ended": time.time(),
        "rss_before": before,
        "rss_after": resident(),
        "x_bytes": data.n_bytes,
        "warnings": sorted({warning.category.__name__ for warning in caught}),
        **discipline.score(model, data),
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
    """Read the order, print the result."""
    order = json.loads(sys.argv[1])
    data = ContestData.read(Path(order["data"]))
    print(json.dumps(measure(order["method"], data, order["settings"])))


if __name__ == "__main__":
    main()
