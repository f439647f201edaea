"""Every constant of rows, solver, engine and estimators, each with its reason, joined in one `Options`.

A reason is a measurement (docs/performance.md, docs/choices.md), an argument in one line, or the paper. Estimators set
the first group, here, from their parameters; the rest, one file per role, are no parameters because no user should have
to know them. What engine and solver read can be given as ``Options(...)``, so that it can be measured; rows and
estimators read the defaults.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from wellsvm.options.engine_constants import EngineConstants
from wellsvm.options.estimate_constants import EstimateConstants
from wellsvm.options.estimator_constants import EstimatorConstants
from wellsvm.options.row_constants import RowConstants
from wellsvm.options.solver_constants import SolverConstants

__all__ = ["Options"]


@dataclass(frozen=True, kw_only=True)
class Options(EngineConstants, EstimateConstants, SolverConstants, RowConstants, EstimatorConstants):
    """How to solve: all that does not depend on the data.

    Attributes
    ----------
    tol : float
        Duality gap, relative to the objective, at which an SVM or a restricted master counts as solved.
    min_violation : float
        A label vector that violates its constraint by less than this is not worth adding. The paper's epsilon.
    min_decrease : float
        A label vector that lowers the objective by less than this is the last one. The paper's second rule.
    stopping : {"relative", "absolute", "paper"}
        What the two thresholds above are measured against: the objective, which grows with the number of rows; nothing;
        or nothing, in the units of the paper's SVMs. For the squared hinge loss that is the nu-SVM, whose objective is
        ``-1 / (4 objective)``.
    max_iter : int
        Most label vectors to generate.
    oracle : str
        How the next label vector is found, a name in `wellsvm.engine.cutting_plane.ORACLES`.
    weight_update : {"level", "closed_form"}
        How the weights mu move: a level method that keeps all cuts, or the paper's closed form (MKLGL). Which takes
        fewer epochs depends on the master (docs/performance.md).
    refine : bool
        Whether to settle on one labeling after the relaxation.
    verbose : int
        Whether to print a line per label vector.
    """

    tol: float = 1e-3
    min_violation: float = 1e-3
    min_decrease: float = 1e-2
    stopping: str = "relative"
    max_iter: int = 50
    oracle: str = "paper"
    weight_update: str = "level"
    refine: bool = True
    verbose: int = 0

    def but(self, **changed: Any) -> Options:
        """These with some changed. `dataclasses.replace` sets every one anew, which fits of few rows feel."""
        unknown = [name for name in changed if name not in self.__dict__]
        if unknown:
            raise TypeError(f"there is no option {unknown[0]!r}")
        other = copy(self)
        other.__dict__.update(changed)
        return other
