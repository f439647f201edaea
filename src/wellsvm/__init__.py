"""Large-margin learning from weak labels: convex, scalable, in scikit-learn's way of working."""

from importlib.metadata import PackageNotFoundError, version

from wellsvm._report import report
from wellsvm._versions import show_versions
from wellsvm.bags import Bags
from wellsvm.estimators.clustering import MaxMarginClustering
from wellsvm.estimators.multi_instance import MultiInstanceSVC
from wellsvm.estimators.semi_supervised import SemiSupervisedSVC
from wellsvm.estimators.semi_supervised_cv import SemiSupervisedSVCCV
from wellsvm.persistence import load, save

__all__ = [
    "Bags",
    "MaxMarginClustering",
    "MultiInstanceSVC",
    "SemiSupervisedSVC",
    "SemiSupervisedSVCCV",
    "load",
    "report",
    "save",
    "show_versions",
]

try:
    __version__ = version("wellsvm")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
