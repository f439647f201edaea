"""Estimates made before a fit: the class shares of the unlabeled rows, and whether unlabeled rows help at all.

Folds and samples are drawn with a seed of their own: whether unlabeled rows help is a matter of the data, and the same
whatever ``random_state`` the fit has.
"""

from __future__ import annotations

from wellsvm._typing import FloatArray
from wellsvm.engine.report import tell
from wellsvm.engine.safety import Verdict, judge_unlabeled
from wellsvm.engine.search import roughly
from wellsvm.engine.shares import Shares, shares_of_unlabeled
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows

__all__ = ["estimate_shares", "judge_use"]


def estimate_shares(rows: Rows, partial: PartialLabels, loss: str, C: FloatArray, options: Options) -> Shares:
    """Estimate the shares of the classes among the unlabeled rows; print them if asked to be verbose."""
    shares = shares_of_unlabeled(rows, partial.codes, len(partial.classes), loss, C, options.evidence_seed, options)
    if options.verbose:
        found = zip(partial.classes.tolist(), *shares)
        tell("class shares, estimated: " + ", ".join(f"{c!r} {share:.3f} +- {se:.3f}" for c, share, se in found))
    return shares


def judge_use(
    rows: Rows, partial: PartialLabels, shares: Shares, loss: str, C: FloatArray, options: Options
) -> Verdict:
    """Judge whether unlabeled rows help; print the outcome if asked to be verbose."""
    seed = options.evidence_seed
    verdict = judge_unlabeled(rows, partial.codes, shares.shares, loss, C, seed, roughly(options, rows))
    if options.verbose:
        word = "used" if verdict.helps else "not used"
        reason = f"they lower the loss of held-out labels by {verdict.gain:.3f} +- {verdict.error:.3f}"
        tell(f"unlabeled rows are {word}: {reason}, and change their accuracy by {verdict.more_right:+.1%}")
    return verdict
