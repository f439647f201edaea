"""An entry as a measurement leaves it in the journal."""

from __future__ import annotations

import pytest

HERE = {"backend": "native (avx2)", "python": "3.12.0", "processors": "4", "wellsvm": "1.0", "scikit-learn": "1.6",
        "numpy": "2.0", "scipy": "1.15"}  # fmt: skip


@pytest.fixture
def entry():
    def make(method="ours", n=100, repeat=0, **facts):
        settings = facts.pop("settings", {"C": 1})
        return {
            "profile": "small", "workload": "text", "case": f"made up, n={n}, {settings}", "data": "made up",
            "settings": settings, "method": method, "repeat": repeat, "n": n, "environment": HERE, **facts,
        }  # fmt: skip

    return make
