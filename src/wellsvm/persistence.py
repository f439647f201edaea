"""`wellsvm.save` and `wellsvm.load`: models in files that hold no code.

A file is a skops archive with one more member, ``wellsvm.json``: the mark. It names the format, the versions that wrote
the file and the notes of the writer, and it is read before anything else, so that a file from a later release is told
apart from a damaged one. Types are stored by the module they live in: one that has moved since is looked up where it
is now (`MOVED`).
"""

from __future__ import annotations

import io
import json
import os
import platform
import struct
import zipfile
import zlib
from copy import copy
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from wellsvm._archives import check_archive, most_bytes
from wellsvm._files import as_path, check_replaceable, replacing
from wellsvm._model_check import require_sound
from wellsvm._pipeline_types import OF_PIPELINES

__all__ = ["load", "read_mark", "save"]

# Raised by one when a file of this release could not be read by the release before.
FORMAT = 1
MARK = "wellsvm.json"
# Where skops writes which type every part has.
SCHEMA = "schema.json"
# Besides these, skops knows which types of NumPy, SciPy and scikit-learn are safe. Sparse rows it reads without pickle,
# but lists their types; `require_sound` looks at their indices. The splitters, parameters of SemiSupervisedSVCCV, are
# plain records of numbers.
TRUSTED = (
    *OF_PIPELINES,
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.RepeatedKFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.StratifiedShuffleSplit",
    "wellsvm.bags.PerInstance",
    "wellsvm.baselines._annealing.AnnealedS3VM",
    "wellsvm.baselines._branch_and_bound.BranchAndBoundS3VM",
    "wellsvm.baselines._cccp.CCCPSVM",
    "wellsvm.baselines._citation_knn.CitationKNN",
    "wellsvm.baselines._continuation.ContinuationS3VM",
    "wellsvm.baselines._cpmmc.CPMMC",
    "wellsvm.baselines._diverse_density.DiverseDensity",
    "wellsvm.baselines._diverse_density.EMDD",
    "wellsvm.baselines._gmmc.GMMC",
    "wellsvm.baselines._gradient.GradientS3VM",
    "wellsvm.baselines._iterative_svr.IterativeSVR",
    "wellsvm.baselines._kernel_k_means.KernelKMeans",
    "wellsvm.baselines._laplacian.LaplacianSVM",
    "wellsvm.baselines._newton.MultiSwitchTSVM",
    "wellsvm.baselines._newton.NewtonS3VM",
    "wellsvm.baselines._s4vm.S4VM",
    "wellsvm.baselines._tsvm.TSVM",
    "wellsvm.baselines._weak.AlternatingProportionSVC",
    "wellsvm.baselines._weak.AveragedCandidatesSVC",
    "wellsvm.baselines._weak.ElkanNotoSVC",
    "wellsvm.baselines._weak.MeanMap",
    "wellsvm.baselines.multi_instance.MIKernelSVC",
    "wellsvm.baselines.multi_instance.MISVM",
    "wellsvm.baselines.multi_instance.miSVM",
    "wellsvm.engine.report.Record",
    "wellsvm.estimators.candidate_labels.CandidateLabelSVC",
    "wellsvm.estimators.clustering.MaxMarginClustering",
    "wellsvm.estimators.multi_instance.MultiInstanceSVC",
    "wellsvm.estimators.multi_instance_cv.MultiInstanceSVCCV",
    "wellsvm.estimators.noisy_labels.NoisyLabelSVC",
    "wellsvm.estimators.positive_unlabeled.PositiveUnlabeledSVC",
    "wellsvm.estimators.proportions.ProportionSVC",
    "wellsvm.estimators.semi_supervised.SemiSupervisedSVC",
    "wellsvm.estimators.semi_supervised_cv.SemiSupervisedSVCCV",
    "wellsvm.estimators.weak_labels.WeakLabelSVC",
    "wellsvm.model_selection.SemiSupervisedSplit",
    "wellsvm.rows.kernels.Kernel",
)
# Modules of 0.1 whose types live elsewhere now.
MOVED = {"wellsvm.geometry.kernels": "wellsvm.rows.kernels"}


def save(model: BaseEstimator, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
    """Save a fitted model to a file that `load` reads without running code from it.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a Pipeline or another estimator of scikit-learn that contains one.
    path : path
        The file; ``.skops`` is the usual suffix. An existing file is replaced in one step, so it is never left
        half-written.
    notes : dict, optional
        Additional information to store in the file, as anything that JSON can represent;
        `wellsvm.persistence.read_mark` returns it.

    Raises
    ------
    NotFittedError
        The model is not fitted.
    TypeError
        The model contains something that cannot be stored, such as a function as kernel; the message names it.
    OSError
        The file cannot be written; an existing file is left unchanged.

    Notes
    -----
    Attributes that describe the training rows (``transduction_``, ``labelings_``, ``key_instances_``) are not stored,
    as in pickles.

    Examples
    --------
    >>> import wellsvm
    >>> wellsvm.save(model, "model.skops")  # doctest: +SKIP
    >>> wellsvm.load("model.skops").predict(X)  # doctest: +SKIP
    """
    skops = _skops()
    check_replaceable(path)
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}")
    check_is_fitted(model)
    try:
        data = skops.dumps(_without_callbacks(model), compression=zipfile.ZIP_DEFLATED)
        foreign = _foreign_types(data)
    except Exception as error:  # skops gives the errors of whatever it stumbles on
        raise TypeError(f"{type(model).__name__} cannot be saved: {error}{_functions_among(model)}") from error
    if foreign:
        raise TypeError(
            f"{type(model).__name__} contains types that cannot be stored without code: {', '.join(foreign)}"
            f"{_functions_among(model)}. Estimators of wellsvm, and Pipelines of scikit-learn's own parts around them, "
            "can be saved; trees and neighbor indexes, which are compiled, and your own classes cannot"
            + ("; save its best_estimator_ instead" if hasattr(model, "best_estimator_") else "")
        )
    packages = ("wellsvm", "scikit-learn", "numpy", "scipy", "skops")
    versions = {"python": platform.python_version(), **{package: _version(package) for package in packages}}
    mark = {
        "format": FORMAT,
        "model": type(model).__name__,
        "versions": versions,
        "notes": {} if notes is None else notes,
    }
    try:
        if not isinstance(mark["notes"], dict):
            raise TypeError(f"they are a {type(notes).__name__}, not a dict")
        text = json.dumps(mark)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"notes must be what JSON can hold: {error}") from error
    with replacing(path) as file:
        file.write(data)
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(MARK, text)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model saved by `save`; a file with unknown types is refused before any object is created.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : estimator
        Its predictions are exactly those of the saved model.

    Raises
    ------
    ValueError
        The file was not written by `save`, is damaged, comes from a newer release, or contains unknown types; the
        message names them.
    OSError
        The file cannot be read.
    """
    skops = _skops()
    data = _read(path)
    _mark_of(data, path)
    try:
        data = _with_present_modules(data)
        model = skops.loads(data, trusted=list(TRUSTED))
        require_sound(model)
    except skops.exceptions.UntrustedTypesFoundException as error:
        raise ValueError(
            f"{path} holds types that are not loaded: {', '.join(_foreign_types(data))}. wellsvm.load accepts the "
            "estimators of wellsvm and scikit-learn only; the file was changed after it was saved"
        ) from error
    except Exception as error:  # a damaged file can raise anything
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"{path} is damaged: {kind}{error}") from error
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"{path} does not contain an estimator but {type(model).__name__}")
    return model


def read_mark(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The description stored in a file: ``format``, ``model``, ``versions`` and the ``notes`` passed to `save`."""
    return _mark_of(_read(path), path)


def _read(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file that memory can hold."""
    path = as_path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; pass the name of a file")
    if path.exists() and not path.is_file():  # a device or a pipe may never end
        raise OSError(f"{path} is not a regular file")
    if path.stat().st_size > (most := most_bytes(path.stat().st_size, packed=1)):
        raise ValueError(f"{path} has {path.stat().st_size / 2**20:.0f} MiB and {most / 2**20:.0f} are free")
    return path.read_bytes()


def _mark_of(data: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if MARK not in archive.namelist():
                raise ValueError(f"{path} was not written by wellsvm.save")
            try:
                check_archive(archive, len(data))
            except Exception as error:  # a damaged header can raise anything
                raise ValueError(f"{path} is damaged: {error}") from error
            try:
                mark = json.loads(archive.read(MARK))
                newest = mark["format"]
                if type(newest) is not int or not isinstance(mark.get("model", ""), str):
                    raise ValueError("format is a number, model a name")
                if not all(isinstance(mark.get(part, {}), dict) for part in ("notes", "versions")):
                    raise ValueError("notes and versions are tables")
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise ValueError(f"{path} is damaged: its mark {MARK} cannot be read") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, struct.error) as error:
        raise ValueError(f"{path} was not written by wellsvm.save, or is cut short: {error}") from error
    if newest > FORMAT:
        raise ValueError(
            f"{path} has format {newest}, written by wellsvm {mark.get('versions', {}).get('wellsvm')}; this release "
            f"reads formats up to {FORMAT}: install a newer wellsvm"
        )
    return {"model": "", "versions": {}, "notes": {}, **mark}


def _with_present_modules(data: bytes) -> bytes:
    """The archive, naming the modules that types live in today."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        text = moved = archive.read(SCHEMA).decode()
        for before, now in MOVED.items():
            moved = moved.replace(json.dumps(before), json.dumps(now))
        if moved == text:
            return data
        members = {info: archive.read(info) for info in archive.infolist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for info, content in members.items():
            archive.writestr(info, moved if info.filename == SCHEMA else content)
    return out.getvalue()


def _foreign_types(data: bytes) -> list[str]:
    return [name for name in _skops().get_untrusted_types(data=data) if name not in TRUSTED]


def _without_callbacks(model: BaseEstimator) -> BaseEstimator:
    """The model, and the steps of a pipeline, without what watched the fit: scikit-learn's callbacks are no model."""
    bare = copy(model)
    vars(bare).pop("_skl_callbacks", None)
    if isinstance(bare, Pipeline):
        steps = [(name, _without_callbacks(s) if isinstance(s, BaseEstimator) else s) for name, s in bare.steps]
        bare.steps = steps
    return bare


def _functions_among(model: BaseEstimator) -> str:
    """The parameters that are functions, for an error; they are the usual reason why a model cannot be stored."""
    given = {
        name: value
        for name, value in model.get_params(deep=True).items()
        if callable(value) and not isinstance(value, (type, BaseEstimator))
    }
    if not given:
        return ""
    listed = ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in given.items())
    return f" (given as {listed}: functions cannot be stored; use the name of a kernel, or kernel='precomputed')"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ImportError("saving and loading models needs skops: pip install 'wellsvm[persist]'") from None
    return skops.io
