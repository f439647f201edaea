"""Large-margin learning from weak labels: convex, scalable, in scikit-learn's way of working.

Names are imported when they are first used: a program pays for what it needs only. Nothing at all is imported here, as
Ctrl-C during an import ends in a traceback, and the command line cannot answer it before it is reached.
"""

TYPE_CHECKING = False  # as in typing
if TYPE_CHECKING:
    from typing import Any

    from wellsvm._report import report
    from wellsvm._versions import show_versions
    from wellsvm.bags import Bags
    from wellsvm.estimators.candidate_labels import CandidateLabelSVC
    from wellsvm.estimators.clustering import MaxMarginClustering
    from wellsvm.estimators.multi_instance import MultiInstanceSVC
    from wellsvm.estimators.multi_instance_cv import MultiInstanceSVCCV
    from wellsvm.estimators.noisy_labels import NoisyLabelSVC
    from wellsvm.estimators.positive_unlabeled import PositiveUnlabeledSVC
    from wellsvm.estimators.proportions import ProportionSVC
    from wellsvm.estimators.semi_supervised import SemiSupervisedSVC
    from wellsvm.estimators.semi_supervised_cv import SemiSupervisedSVCCV
    from wellsvm.estimators.weak_labels import WeakLabelSVC
    from wellsvm.persistence import load, save
    from wellsvm.rows.folder import open_rows
    from wellsvm.rows.folder_writing import write_rows

__all__ = [
    "Bags",
    "CandidateLabelSVC",
    "MaxMarginClustering",
    "MultiInstanceSVC",
    "MultiInstanceSVCCV",
    "NoisyLabelSVC",
    "PositiveUnlabeledSVC",
    "ProportionSVC",
    "SemiSupervisedSVC",
    "SemiSupervisedSVCCV",
    "WeakLabelSVC",
    "load",
    "open_rows",
    "report",
    "save",
    "show_versions",
    "write_rows",
]

_MODULE_OF = {
    "Bags": "bags",
    "CandidateLabelSVC": "estimators.candidate_labels",
    "MaxMarginClustering": "estimators.clustering",
    "MultiInstanceSVC": "estimators.multi_instance",
    "NoisyLabelSVC": "estimators.noisy_labels",
    "PositiveUnlabeledSVC": "estimators.positive_unlabeled",
    "ProportionSVC": "estimators.proportions",
    "MultiInstanceSVCCV": "estimators.multi_instance_cv",
    "SemiSupervisedSVC": "estimators.semi_supervised",
    "SemiSupervisedSVCCV": "estimators.semi_supervised_cv",
    "WeakLabelSVC": "estimators.weak_labels",
    "load": "persistence",
    "open_rows": "rows.folder",
    "report": "_report",
    "save": "persistence",
    "show_versions": "_versions",
    "write_rows": "rows.folder_writing",
}
_MODULES = ("baselines", "dask", "datasets", "images", "labels", "metrics", "model_selection", "onnx", "plotting")


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name == "__version__":
        globals()[name] = found = _version()
        return found
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wellsvm")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"
