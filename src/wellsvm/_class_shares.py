"""What a fitted semi-supervised model says of its unlabeled rows, in words: for the command line and the report."""

from __future__ import annotations

from numbers import Real
from typing import Any

__all__ = ["NOT_USED", "shares_told"]

NOT_USED = "not used; this model is the supervised SVM"
# Classes shown at most; the attributes have them all.
MOST_CLASSES = 6


def shares_told(model: Any) -> str:
    """Shares asked for and found, as "estimated 0.31 +- 0.05, found 0.30": of the second of two classes, else of all.

    Empty for a model without shares, a baseline for instance.
    """
    if not hasattr(model, "balance_found_"):
        return ""
    parts = list(zip(model.classes_.tolist(), model.balance_, model.balance_se_, model.balance_found_))
    if len(parts) == 2:
        return f"{_text_of(model, *parts[1])}, of class {parts[1][0]}"
    texts = [f"{part[0]}: {_text_of(model, *part)}" for part in parts[:MOST_CLASSES]]
    return "; ".join(texts if len(parts) <= MOST_CLASSES else [*texts, "..."])


def _text_of(model: Any, name: Any, share: float, error: float, found: float) -> str:
    asked = model.balance.get(name) if isinstance(model.balance, dict) else model.balance
    text = f"found {found:.2f}"
    if isinstance(asked, Real):
        return f"given {share:.2f}, {text}"
    if isinstance(asked, str) and error > 0:  # 0 where no row is unlabeled
        return f"{'estimated' if asked == 'estimate' else 'as labeled'} {share:.2f} +- {error:.2f}, {text}"
    return text
