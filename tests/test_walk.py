"""The walk of a fit: how many files and functions a reader has to pass."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from scipy import sparse

import wellsvm
from wellsvm import SemiSupervisedSVC

ROOT = str(Path(wellsvm.__file__).parent)
MOST_FILES = 12


def files_passed(run: Callable[[], Any]) -> set[str]:
    """Files of the package whose functions a call passes."""
    files = set()

    def look(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            files.add(frame.f_code.co_filename[len(ROOT) + 1 :])

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files


def test_a_linear_semi_supervised_fit_passes_few_files():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    y = np.where(np.arange(120) < 20, X[:, 0] > 0, -1)
    model = SemiSupervisedSVC(balance="labels", unlabeled=-1, random_state=0)
    files = files_passed(lambda: model.fit(sparse.csr_matrix(X), y))
    assert len(files) <= MOST_FILES, sorted(files)
