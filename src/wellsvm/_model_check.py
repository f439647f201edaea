"""Checks of a model that was read from a file, before anyone predicts with it.

Types are checked by `wellsvm.persistence`; here it is their contents: the function that a model stands for must have
shapes that fit together, finite numbers and indices in range, or it is refused by the name of the attribute.
"""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from wellsvm._input import checked_sparse
from wellsvm.function import ATTRIBUTES
from wellsvm.options import Options
from wellsvm.rows.kernels import KERNELS, Kernel

__all__ = ["require_sound"]

# A row of so many zeros is tried on every model; wider ones only exist for a kernel that is precomputed.
MOST_COLUMNS = 10_000_000
DEEPEST = 50
# Times a value of X, of which there may be 1e28, it is still a number.
MOST_COEFFICIENT = 1e200


def require_sound(part: Any, depth: int = 0) -> None:
    """Refuse a model, or a part of one, that could not predict; ValueError names the attribute."""
    if depth > DEEPEST:
        raise ValueError("its contents are nested too deeply")
    if sparse.issparse(part):
        checked_sparse(part, "a sparse matrix in it")
    elif isinstance(part, BaseEstimator):
        _require_attributes(part)
        for value in vars(part).values():
            require_sound(value, depth + 1)
        if _is_ours_and_fitted(part):
            _require_function(part)
    elif isinstance(part, (list, tuple)):
        for item in part:
            require_sound(item, depth + 1)
    elif isinstance(part, dict):
        require_sound(list(part.values()), depth + 1)


def _is_ours_and_fitted(model: BaseEstimator) -> bool:
    """Whether it must stand for a function: a baseline may predict in another way, and what transforms has none."""
    module, names = type(model).__module__, vars(model)
    if module.startswith("wellsvm.estimators."):
        return hasattr(model, "predict") and any(name.endswith("_") for name in names)
    return module.startswith("wellsvm.") and any(name in names for name in ATTRIBUTES)


def _require(condition: bool, name: str, what: str) -> None:
    if not condition:
        raise ValueError(f"its {name} {what}")


def _require_attributes(model: BaseEstimator) -> None:
    """All parameters are there, and attributes are no parameters."""
    for name in model._get_param_names():
        _require(name in vars(model), name, "is missing")


def _require_function(model: Any) -> None:
    """The function f of one of our estimators: shapes, finite numbers, ranges."""
    stored = {name: vars(model)[name] for name in ATTRIBUTES if name in vars(model)}
    _require("intercept_" in stored, "intercept_", "is missing")
    intercept, width = stored["intercept_"], vars(model).get("n_features_in_")
    _require(type(width) is int and 1 <= width < 2**63, "n_features_in_", f"is {width!r}")
    _require_numbers("intercept_", intercept, (None,))
    n_functions = len(intercept)
    if "coef_" in stored:
        _require_numbers("coef_", stored["coef_"], (n_functions, width))
    elif n_functions:
        _require_expansion(model, stored, n_functions, int(width))
    _require_classes(model, n_functions)
    _require_prediction(model, int(width))


def _require_expansion(model: Any, stored: dict[str, Any], n_functions: int, width: int) -> None:
    for name in ("dual_coef_", "support_", "support_vectors_"):
        _require(name in stored, name, "is missing")
    coef, support, vectors = stored["dual_coef_"], stored["support_"], stored["support_vectors_"]
    _require_numbers("dual_coef_", coef, (n_functions, None))
    _require_numbers("support_", support, (coef.shape[1],), kinds="iu")
    _require(support.size == 0 or int(support.min()) >= 0, "support_", "refers to a row that does not exist")
    kernel = vars(model).get("_kernel")
    if not isinstance(kernel, Kernel):
        raise ValueError(f"its _kernel is {type(kernel).__name__}")
    _require(isinstance(kernel.name, str) and kernel.name in KERNELS, "_kernel", f"is called {kernel.name!r}")
    for name in ("gamma", "degree", "coef0"):
        value = getattr(kernel, name, None)
        sound = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        _require(sound, f"_kernel.{name}", f"is {value!r}")
    if kernel.name == "precomputed":
        _require(support.size == 0 or int(support.max()) < width, "support_", "refers to a row that does not exist")
    else:
        _require_numbers("support_vectors_", vectors, (coef.shape[1], width))


def _require_classes(model: Any, n_functions: int) -> None:
    """One function for two classes, else one for each; clusters have as many as there are divisions or clusters."""
    classes = vars(model).get("classes_")
    if classes is None:
        children = vars(model).get("children_")
        if children is not None:
            _require_numbers("children_", children, (max(1, n_functions), 2), kinds="iu")  # one cluster has no function
        return
    sound = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "biufUOM"
    _require(sound and len(classes) >= 2, "classes_", "is not a list of classes")
    expected = 1 if len(classes) == 2 else len(classes)
    _require(n_functions == expected, "intercept_", f"has {n_functions} entries for {len(classes)} classes")


def _require_numbers(name: str, values: Any, shape: tuple[int | None, ...], kinds: str = "f") -> None:
    """An array of finite numbers of this shape; None is any length."""
    dense = values.data if sparse.issparse(values) else values
    _require(isinstance(dense, np.ndarray) and dense.dtype.kind in kinds, name, "is not an array of numbers")
    fits = len(values.shape) == len(shape) and all(a == b for a, b in zip(values.shape, shape) if b is not None)
    _require(fits, name, f"has the shape {values.shape}")
    _require(bool(np.isfinite(dense).all()), name, "holds NaN or infinity")
    largest = float(np.abs(dense).max(initial=0)) if kinds == "f" else 0.0
    most = Options.largest_value if name == "support_vectors_" else MOST_COEFFICIENT
    _require(largest <= most, name, f"holds {largest:g}, too large to be computed with")


def _require_prediction(model: Any, width: int) -> None:
    """A row of zeros gets a prediction: what no rule above has thought of fails here and not in the user's hands."""
    if width > MOST_COLUMNS:
        return
    row = np.zeros((1, width))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            data = [row] if hasattr(model, "locate") else row
            predicted = model.predict(data)
            if hasattr(model, "predict_proba"):
                model.predict_proba(data)
        except Exception as error:
            raise ValueError(f"it cannot predict: {type(error).__name__}: {error}") from error
    _require(len(predicted) == 1, "prediction", f"of one row has {len(predicted)} entries")
