"""Fitted models as ONNX graphs, through skl2onnx: to predict where there is no Python.

Importing this module tells skl2onnx of the estimators, so that ``skl2onnx.to_onnx`` takes them too, inside a Pipeline
for instance. The graph computes f in double precision, whatever its input: distances in single precision would lose
digits that the kernel then multiplies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from wellsvm import MaxMarginClustering, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm._fitted_runs import final_estimator
from wellsvm.function import LinearFunction, read

try:
    import skl2onnx
    from onnx import TensorProto
    from skl2onnx.algebra import onnx_ops as ops
    from skl2onnx.common import data_types as types
except ImportError as error:
    raise ImportError("ONNX export needs skl2onnx: pip install 'wellsvm[onnx]', or '.[onnx]' in a checkout") from error

__all__ = ["to_onnx"]

ALIAS = "WellsvmKernelModel"
CONVERTED = (SemiSupervisedSVC, SemiSupervisedSVCCV, MaxMarginClustering)
KERNELS = ("linear", "rbf", "poly", "sigmoid")


def to_onnx(model: Any, X: Any, **options: Any) -> Any:
    """Convert a fitted model to an ONNX graph.

    Parameters
    ----------
    model : fitted estimator
        `SemiSupervisedSVC`, `SemiSupervisedSVCCV` or `MaxMarginClustering` with a named kernel, or a Pipeline that ends
        with one of them and whose other steps are supported by skl2onnx.
    X : array or DataFrame
        One or more sample rows, which determine the type and number of the inputs. Most runtimes expect float32.
    **options
        Passed to ``skl2onnx.to_onnx``, for example ``target_opset``.

    Returns
    -------
    onnx.ModelProto
        Its outputs are ``label``, as returned by `predict`; ``decision``, as returned by `decision_function`; and
        ``probabilities``, if the model was fitted with ``probability=True``.

    Raises
    ------
    TypeError
        The model cannot be converted: it classifies bags, or its kernel is precomputed or a function.

    Examples
    --------
    >>> from wellsvm.onnx import to_onnx
    >>> graph = to_onnx(model, X[:1].astype("float32"))  # doctest: +SKIP
    >>> with open("model.onnx", "wb") as file:  # doctest: +SKIP
    ...     file.write(graph.SerializeToString())
    """
    check_is_fitted(model)
    last = final_estimator(model)
    if not isinstance(last, CONVERTED):
        listed = ", ".join(each.__name__ for each in CONVERTED)
        raise TypeError(f"{type(last).__name__} cannot be converted to ONNX; {listed} can")
    _require_kernel(last)
    return skl2onnx.to_onnx(getattr(model, "best_estimator_", model), X, **options)


def _require_kernel(model: Any) -> None:
    if model.kernel not in KERNELS:
        raise TypeError(f"kernel={model.kernel!r} cannot be converted to ONNX; {', '.join(KERNELS)} can")
    if not model.intercept_.size:
        raise TypeError("a single cluster has no function to convert to ONNX")


# ------------------------------------------------------------------ what skl2onnx asks for


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare the outputs."""
    operator = scope.declare_local_operator(ALIAS, model)
    operator.inputs = inputs
    kind = np.asarray(getattr(model, "classes_", np.arange(2))).dtype.kind
    label = {"f": types.FloatTensorType, "i": types.Int64TensorType, "u": types.Int64TensorType}
    outputs = [("label", label.get(kind, types.StringTensorType)()), ("decision", types.FloatTensorType())]
    if hasattr(model, "proba_slope_"):
        outputs.append(("probabilities", types.FloatTensorType()))
    operator.outputs = [scope.declare_local_variable(name, form) for name, form in outputs]
    return operator.outputs


def _shapes(operator: Any) -> None:
    """Declare how large the outputs are."""
    model, n_rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    n_values = _n_columns(model)
    operator.outputs[0].type.shape = [n_rows]
    operator.outputs[1].type.shape = [n_rows] if n_values == 1 else [n_rows, n_values]
    for probabilities in operator.outputs[2:]:
        probabilities.type.shape = [n_rows, len(model.classes_)]


def _n_columns(model: Any) -> int:
    """Columns of `decision_function`."""
    if getattr(model, "children_", None) is not None and len(model.intercept_) > 1:
        return len(model.intercept_) + 1  # divisions of a tree have one leaf more
    return len(model.intercept_)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph."""
    model, version = operator.raw_operator, container.target_opset
    _require_kernel(model)

    def node(name: str, *inputs: Any, **attributes: Any) -> Any:
        return getattr(ops, f"Onnx{name}")(*inputs, op_version=version, **attributes)

    X = node("Cast", operator.inputs[0], to=TensorProto.DOUBLE)
    functions = _values(node, read(vars(model)), X)
    values = _margins(node, model, functions)
    whole = np.array([-1], dtype=np.int64)
    if _n_columns(model) == 1:
        codes = node("Reshape", node("Cast", node("Greater", values, np.array([0.0])), to=TensorProto.INT64), whole)
        decision = node("Reshape", values, whole)
    else:
        codes, decision = node("ArgMax", values, axis=1, keepdims=0), values
    classes = getattr(model, "classes_", None)
    outputs = [codes if classes is None else node("Gather", _storable(classes), codes, axis=0)]
    outputs.append(node("Cast", decision, to=TensorProto.FLOAT))
    if hasattr(model, "proba_slope_"):
        scores = node("Concat", node("Neg", values), values, axis=1) if _n_columns(model) == 1 else values
        logits = node("Add", node("Mul", scores, np.array([model.proba_slope_])), model.proba_offsets_[None, :])
        outputs.append(node("Cast", node("Softmax", logits, axis=1), to=TensorProto.FLOAT))
    for output, variable in zip(outputs, operator.outputs):
        node("Identity", output, output_names=[variable]).add_to(scope, container)


def _values(node: Any, function: Any, X: Any) -> Any:
    """f of every row, one column for each function."""
    if isinstance(function, LinearFunction):
        return node("Add", node("MatMul", X, _doubles(function.coef_.T)), function.intercept_[None, :])
    kernel, Z = function.kernel, function.support_vectors_
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)
    products, gamma = node("MatMul", X, _doubles(Z.T)), np.array([float(kernel.gamma)])
    if kernel.name == "rbf":
        squares = node("MatMul", node("Mul", X, X), np.ones((Z.shape[1], 1)))
        distances = node("Add", node("Sub", squares, node("Mul", products, np.array([2.0]))), (Z**2).sum(axis=1)[None])
        K = node("Exp", node("Mul", node("Max", distances, np.array([0.0])), -gamma))
    else:
        K = node("Add", node("Mul", products, gamma), np.array([float(kernel.coef0)]))
        K = node("Tanh", K) if kernel.name == "sigmoid" else node("Pow", K, np.array([float(kernel.degree)]))
    return node("Add", node("MatMul", K, _doubles(function.dual_coef_.T)), function.intercept_[None, :])


def _margins(node: Any, model: Any, values: Any) -> Any:
    """`decision_function` from the functions: the same, but for a tree of divisions the least margin on the way."""
    if getattr(model, "children_", None) is None or len(model.intercept_) == 1:
        return values
    leaves = []
    for path in _ways(model.children_):
        picked = node("Gather", values, np.array([k for k, _ in path]), axis=1)
        signed = node("Mul", picked, np.array([[sign for _, sign in path]], dtype=np.float64))
        leaves.append(node("Neg", node("TopK", node("Neg", signed), np.array([1], dtype=np.int64), axis=1)[0]))
    return node("Concat", *leaves, axis=1)


def _ways(children: np.ndarray) -> list[list[tuple[int, int]]]:
    """For every cluster the divisions on the way to it, and the sign of f on its side; see `divisions.Tree`."""
    ways: dict[int, list[tuple[int, int]]] = {}

    def descend(division: int, before: list[tuple[int, int]]) -> None:
        for child, sign in zip(children[division].tolist(), (-1, 1)):
            way = [*before, (division, sign)]
            if child < 0:
                ways[-1 - child] = way
            else:
                descend(child, way)

    descend(0, [])
    return [ways[cluster] for cluster in sorted(ways)]


def _doubles(matrix: Any) -> np.ndarray:
    return np.ascontiguousarray(matrix, dtype=np.float64)


def _storable(classes: np.ndarray) -> np.ndarray:
    """Classes as ONNX has them: float32, int64 or strings."""
    kinds = {"f": np.float32, "i": np.int64, "u": np.int64}
    kind = kinds.get(classes.dtype.kind)
    return classes.astype(str) if kind is None else classes.astype(kind)


for _estimator in CONVERTED:
    skl2onnx.update_registered_converter(_estimator, ALIAS, _shapes, _convert, parser=_parse)
