"""Report sections on other weak labels: wrong labels and suspects, groups, candidates, links, label sets."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from wellsvm._report.page import section, table

__all__ = ["weak_labels"]

MOST_SUSPECTS = 20


def weak_labels(model: Any) -> str:
    """The section of a model of noisy labels, proportions, candidates, links or an own label set; empty for others."""
    if hasattr(model, "noise_"):
        return _noise(model)
    if hasattr(model, "proportions_"):
        return _groups(model)
    if hasattr(model, "C_ambiguous") and hasattr(model, "balance_"):
        rows = [[str(name), f"{share:.3f}"] for name, share in zip(model.classes_.tolist(), model.balance_)]
        note = "The share of each class among the training rows, after every row was assigned to one of its candidates."
        if getattr(model, "balance_by_parts_", False):
            note += " Every row counted for its candidates in equal parts."
        return section("Candidates", table(["class", "share"], rows), note=note)
    if hasattr(model, "label_set_"):
        return _label_set(model)
    if np.any(getattr(model, "n_links_", 0)):
        head = ["pairs that share a cluster", "pairs that do not"]
        return section("Links", table(head, [model.n_links_.tolist()]), note="The clusters keep all of these links.")
    return ""


def _noise(model: Any) -> str:
    how = "by cross-validation" if isinstance(model.noise, str) else "as given"
    rows = [[str(name), f"{share:.3f}"] for name, share in zip(model.classes_.tolist(), model.noise_)]
    told = table(["label", "largest share wrong"], rows)
    if hasattr(model, "suspects_"):
        first = model.suspects_[:MOST_SUSPECTS]
        n_against = int(np.count_nonzero(model.suspicion_ > 0))
        shown = ", ".join(f"{row} ({model.suspicion_[row]:.2f})" for row in first.tolist())
        told += f"<p>{escape(f'The model contradicts {n_against} labels. Most suspicious rows: {shown}')}</p>"
    price = f"C={model.C_:g} was {'chosen by cross-validation' if isinstance(model.C, str) else 'given'}."
    return section(
        "Wrong labels", told, note=f"The largest share of wrong labels that was allowed for each label, {how}. {price}"
    )


def _groups(model: Any) -> str:
    n_groups = len(model.groups_)
    low, high = model.proportions_.min(axis=0), model.proportions_.max(axis=0)
    rows = [[str(c), f"{a:.3f}", f"{b:.3f}"] for c, a, b in zip(model.classes_.tolist(), low, high)]
    searched = "searched for" if model.searched_ else "not searched for, because held-out groups showed no benefit"
    note = f"{n_groups} groups; the labels were {searched}."
    return section("Proportions", table(["class", "least share", "largest share"], rows), note=note)


def _label_set(model: Any) -> str:
    told = ""
    if hasattr(model, "transduction_"):  # not in a saved model
        rows = [[str(c), int(np.count_nonzero(model.transduction_ == c))] for c in model.classes_.tolist()]
        told = table(["class", "training rows"], rows)
    return section("Label set", told, note=f"The labels were chosen from a set of the class {model.label_set_}.")
