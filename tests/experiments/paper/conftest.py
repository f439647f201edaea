"""A small made-up protocol and records for it."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.paper.protocol import Case, Protocol

METHODS = ("SVM", "Rival", "WellSVM")
STAND_IN = "made-up <stand-in> data | not the paper's"
SLOW = "more than an hour"


def a_case(name, *figures, **more):
    return Case(name, data=f"set_{name.lower()}", paper=dict(zip(METHODS, figures)), **more)


@pytest.fixture
def protocol():
    """Four cases, three methods, six repeats; the rival is not run on the last case."""
    cases = (
        a_case("Alpha", 0.8, 0.75, 0.85),
        a_case("Beta", 0.7, 0.72, 0.7, note=STAND_IN),
        a_case("Gamma", 0.9, 0.85, 0.95),
        a_case("Delta", 0.6, 0.5, 0.62, skip={"Rival": SLOW}),
    )
    return Protocol("2", "made up", "none", "accuracy", METHODS, 6, cases, reference="SVM", notes="Chosen by us.")


@pytest.fixture
def make_records():
    """Records of a protocol: the paper's figure, shifted by method, with noise by repeat."""

    def make(protocol, shift=(0.0, -0.02, 0.03), seed=0):
        rng, records = np.random.default_rng(seed), []
        for case in protocol.cases:
            shared = rng.normal(0, 0.03, protocol.repeats)  # the split: harder or easier for all
            for method, gain in zip(protocol.methods, shift):
                for repeat in range(0 if method in case.skip else protocol.repeats):
                    noise = shared[repeat] + rng.normal(0, 0.005)
                    records.append(
                        {
                            "table": protocol.table, "case": case.name, "method": method, "repeat": repeat,
                            "value": case.paper.get(method, 0.5) + gain + noise,
                            "seconds": float(rng.uniform(0.1, 2.0)), "chosen": {"C": 1.0},
                            "n_iter": int(rng.integers(2, 20)) if method == "WellSVM" else None,
                        }
                    )  # fmt: skip
        return records

    return make


@pytest.fixture
def environment():
    return {"backend": "native (avx2)", "python": "3.12.0", "processors": "4", "wellsvm": "1.0",
            "scikit-learn": "1.6", "numpy": "2.0", "scipy": "1.15"}  # fmt: skip
