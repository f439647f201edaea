"""The next label vector: a violated constraint of Eq. (5).

The most violated label maximises ``||u_y||^2 = y'Hy`` over B (Eq. 15, 23), which is hard. It is convex in y, so
``y'Hy >= 2 y'Hz - z'Hz`` for any z in B, and the set's linear oracle maximises the right side exactly: by sorting.

- "paper": one such step from the best label vector in use (Eq. 16, 24, 31).
- "climb": steps repeated to a fixed point, from every label vector in use and from random ones; the best is taken. It
  solves the relaxation better and, on text, classifies worse (docs/choices.md): a choice, not the default.

Either way a label vector that raises ``y'Hy`` is violated (Prop. 4); finding none is no proof that none exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.geometry.base import Candidate, Descent

__all__ = ["ORACLES", "Oracle", "climb", "climb_from_many", "linearized_once"]

Oracle: TypeAlias = Callable[[Descent, FloatArray, np.random.Generator], Candidate]

RANDOM_STARTS = 10


def next_label(descent: Descent, start: Candidate) -> Candidate | None:
    """Maximise the linearisation at ``start``; None where ``start`` itself attains the maximum."""
    label_set = descent.label_set
    slope = label_set.linearize(descent.alpha, descent.candidate_scores(start))  # r = H z
    y = label_set.linear_oracle(slope)
    if slope @ y <= (slope @ start.y) * (1 + 1e-12):
        return None
    return descent.candidate(y)


def linearized_once(descent: Descent, squared_norms: FloatArray, rng: np.random.Generator) -> Candidate:
    """The paper's oracle: one linearisation at the label vector in use of largest ``y'Hy`` (Eq. 16)."""
    start = descent.active(int(np.argmax(squared_norms)))
    return next_label(descent, start) or start


def climb(descent: Descent, start: Candidate) -> Candidate:
    """Linearise again and again: every step raises ``y'Hy`` and B is finite, so it ends, in a local maximum."""
    while (better := next_label(descent, start)) is not None and better.squared_norm > start.squared_norm:
        start = better
    return start


def climb_from_many(descent: Descent, squared_norms: FloatArray, rng: np.random.Generator) -> Candidate:
    """The best of climbing from every label vector in use and from random members of B."""
    starts = [descent.active(t) for t in range(len(descent.labels))]
    starts += [descent.candidate(descent.label_set.initial(rng)) for _ in range(RANDOM_STARTS)]
    return max((climb(descent, start) for start in starts), key=lambda candidate: candidate.squared_norm)


ORACLES: dict[str, Oracle] = {"paper": linearized_once, "climb": climb_from_many}
