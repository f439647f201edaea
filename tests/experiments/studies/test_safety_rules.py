"""The study of rules of safety: each of them fits, and the table counts cells that all of them have."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.splits import Split
from experiments.studies.safety_rules import ALONE, RULES, SAFETY_STUDIES

STUDY = SAFETY_STUDIES["safety_rules"]


@pytest.fixture(scope="module")
def split() -> Split:
    """Two clouds that overlap, of which labels tell little."""
    rng = np.random.default_rng(8)
    truth = np.arange(90) % 2
    X = rng.standard_normal((90, 3)) + 0.8 * truth[:, None]
    y = np.where(np.arange(90) < 10, truth, np.nan)
    return Split(X[:60], y[:60], X[60:], truth[60:], truth[10:60])


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_fits(rule, split):
    assert 0.5 < RULES[rule](split).score(split.X_test, split.y_test) <= 1


def test_the_rules_ask_more_and_more(split):
    used = [
        RULES[name](split).used_unlabeled_
        for name in RULES
        if name.endswith(("loss", "error", "errors", "default)", "used"))
    ]
    assert used[0]
    assert used == sorted(used, reverse=True)
    assert not used[-1]


def test_a_cell_counts_once_all_rules_have_it():
    entries = [
        {
            "part": "uci",
            "set": "a",
            "labels": 10,
            "drawn": "a class",
            "draw": draw,
            "method": rule,
            "accuracy": accuracy,
        }
        for draw in (0, 1)
        for rule, accuracy in zip(RULES, (0.8, 0.75, 0.81, 0.8, 0.795, 0.79, 0.7))
        if draw == 0 or rule == ALONE
    ]
    table = STUDY.table(entries, "accuracy").splitlines()
    assert [cell.strip() for cell in table[0].split("|")[1:-1]] == ["rule", "uci, a class, development"]
    assert [line.split("|")[2].strip() for line in table[2:]] == [
        "0.800, 0 %", "0.750, 100 %", "0.810, 0 %", "0.800, 0 %", "0.795, 0 %", "0.790, 0 %", "0.700, 100 %", "1",
    ]  # fmt: skip
