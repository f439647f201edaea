"""Pictures of fitted models, in the style of scikit-learn's displays; matplotlib is imported when one is drawn."""

from wellsvm.plotting._convergence import ConvergenceDisplay
from wellsvm.plotting._labelings import LabelingsDisplay
from wellsvm.plotting._regions import RegionsDisplay

__all__ = ["ConvergenceDisplay", "LabelingsDisplay", "RegionsDisplay"]
