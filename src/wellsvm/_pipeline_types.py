"""What scikit-learn's own transformers hold besides what skops trusts by itself: plain records, types and functions.

Compiled structures (trees, neighbor indexes) are left out: a changed file could make them read outside their memory.
"""

from __future__ import annotations

__all__ = ["OF_PIPELINES"]

OF_PIPELINES = (
    # make_column_selector, and what it and the encoders take as types of columns
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.compose._column_transformer._RemainderColsList",  # of scikit-learn 1.6
    "builtins.object",
    "numpy.dtype",
    "numpy.generic",
    "numpy.number",
    "numpy.integer",
    "numpy.signedinteger",
    "numpy.unsignedinteger",
    "numpy.inexact",
    "numpy.floating",
    "numpy.flexible",
    "numpy.character",
    # scores of univariate feature selection
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._mutual_info.mutual_info_regression",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
    "sklearn.feature_selection._univariate_selection.r_regression",
    # FeatureAgglomeration, and SplineTransformer, whose splines name NumPy's asarray in some releases of SciPy
    "numpy.mean",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "scipy.interpolate._bsplines.BSpline",
)
