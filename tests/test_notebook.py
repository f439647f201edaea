"""The notebook runs from top to bottom, without Jupyter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "few_labels.ipynb"


@pytest.mark.skipif(not NOTEBOOK.exists(), reason="a source archive without examples")
def test_the_notebook_runs_and_is_stored_without_outputs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("skops")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), cell["id"], "exec"), namespace)
    assert (tmp_path / "wine.html").exists()
