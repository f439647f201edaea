"""Two classes under the RBF kernel: the smooth search beside the annealed one, at the defaults of SemiSupervisedSVC.

Sets and splits of the paper's Tables 6 to 8. Even splits are the development half, odd ones the confirmation half. The
error is that of the unlabeled rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import SplitPlan, make_split
from experiments.studies.study import Study, fit_facts, mean_of
from wellsvm import SemiSupervisedSVC

__all__ = ["KERNEL_STUDIES"]

N_SPLITS = 6
STORED, DRAWN = SplitPlan(10, test=0.0, split="stored", scale="none"), SplitPlan(10, test=0.0)
PLANS = {
    "ssl_digit1": STORED,
    "ssl_usps": STORED,
    "ssl_bci": STORED,
    "lds_g50c": SplitPlan(50, test=0.0, split="stored", scale="none"),
    "hwd_1_7": SplitPlan(10, test=0.0, scale="none"),
    "hwd_2_3": SplitPlan(10, test=0.0, scale="none"),
    "uci_australian": DRAWN,
    "uci_flare": DRAWN,
    "uci_house_votes": DRAWN,
    "uci_diabetes": DRAWN,
}
METHODS: dict[str, dict[str, Any]] = {
    "supervised": {"C_unlabeled": 0.0},
    "annealed": {"search": "annealed"},
    "smooth": {"search": "smooth"},
}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "split": split, "method": method}, partial(_run, name, split, method))
        for split in range(N_SPLITS)
        for name in PLANS
        for method in METHODS
    ]


def _run(name: str, number: int, method: str) -> Entry:
    split = make_split(load_set(name), PLANS[name], number)
    with fit_facts() as facts:
        model = SemiSupervisedSVC(kernel="rbf", random_state=0, **METHODS[method]).fit(split.X, split.y)
    facts["half"] = ("even", "odd")[number % 2]
    facts["error_percent"] = 100 * (1 - float(model.score(split.X_test, split.y_test)))
    facts["used_unlabeled"] = model.used_unlabeled_
    return facts


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Errors of both halves, and how many cells are more than two points worse than the supervised SVM."""
    halves = ("even", "odd")
    head = ["set", *(f"{method}, {half}" for half in halves for method in METHODS)]
    lines = [
        [
            name,
            *(f"{mean_of(entries, 'error_percent', set=name, half=h, method=m):.1f}" for h in halves for m in METHODS),
        ]
        for name in PLANS
    ]
    lines.append(["**mean**", *(f"**{_mean(entries, h, m):.1f}**" for h in halves for m in METHODS)])
    lines.append(["harmed", *(f"{_harmed(entries, h, m):.0%}" for h in halves for m in METHODS)])
    return pipe_table(head, lines)


def _mean(entries: Sequence[Entry], half: str, method: str) -> float:
    """Mean over the sets of their means."""
    means = [mean_of(entries, "error_percent", set=name, half=half, method=method) for name in PLANS]
    return sum(means) / len(means)


def _harmed(entries: Sequence[Entry], half: str, method: str) -> float:
    """Share of the cells whose error is more than two points above the supervised SVM's."""
    cells = {(e["set"], e["split"]): e["error_percent"] for e in entries if e["half"] == half and e["method"] == method}
    base = {
        (e["set"], e["split"]): e["error_percent"] for e in entries if e["half"] == half and e["method"] == "supervised"
    }
    both = cells.keys() & base.keys()
    return sum(cells[cell] > base[cell] + 2 for cell in both) / max(1, len(both))


KERNEL_STUDIES = {
    "kernel_search": Study(
        "the smooth search beside the annealed one, two classes under the RBF kernel", tuple(PLANS), _trials, _table
    )
}
