"""UCI sets fetched from OpenML and coded as in the paper.

The rule that gives the paper's feature counts: a numeric feature stays; a nominal one with two values gives
one 0/1 column, with k > 2 values that occur k columns; constant or empty columns are dropped; missing cells
get the median (numeric) or the most frequent value (nominal).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class OpenMLSet:
    """Where a set is on OpenML, which class is +1, and the shape it must have after coding."""

    openml_name: str
    positive: str
    shape: tuple[int, int]
    version: int = 1
    columns: tuple[str, ...] | None = None  # keep these, in this order
    ordinal: bool = False  # nominal features as one column of codes instead of 0/1 columns
    keep_constant: bool = False
    complete_rows: bool = False  # drop rows with missing cells instead of filling them


_HEART9 = (
    "age",
    "resting_blood_pressure",
    "serum_cholestoral",
    "maximum_heart_rate_achieved",
    "oldpeak",
    "number_of_major_vessels",
    "sex",
    "fasting_blood_sugar",
    "exercise_induced_angina",
)

OPENML_SETS = {
    "uci_australian": OpenMLSet("credit-approval", "+", (690, 42)),
    "uci_diabetes": OpenMLSet("diabetes", "tested_positive", (768, 8)),
    "uci_german": OpenMLSet("credit-g", "good", (1000, 59)),
    "uci_haberman": OpenMLSet("haberman", "2", (306, 14)),
    "uci_heart9": OpenMLSet("heart-statlog", "present", (270, 9), columns=_HEART9),
    "uci_heart_statlog": OpenMLSet("heart-statlog", "present", (270, 13)),
    "uci_house": OpenMLSet("vote", "republican", (232, 16), complete_rows=True),
    "uci_house_votes": OpenMLSet("vote", "republican", (435, 16)),
    "uci_ionosphere": OpenMLSet("ionosphere", "g", (351, 34), keep_constant=True),
    "uci_krvskp": OpenMLSet("kr-vs-kp", "won", (3196, 36), ordinal=True),
    "uci_sick": OpenMLSet("sick", "sick", (3772, 31)),
    "uci_spectf": OpenMLSet("SPECTF", "1", (349, 44)),
}


def fetch_uci(name: str) -> Bunch:
    """Fetch a UCI set from OpenML (scikit-learn keeps a copy) and code it as the paper did.

    Parameters
    ----------
    name : {"uci_australian", "uci_diabetes", "uci_german", "uci_haberman", "uci_heart9", "uci_heart_statlog", \
            "uci_house", "uci_house_votes", "uci_ionosphere", "uci_krvskp", "uci_sick", "uci_spectf"}
        Which set.

    Returns
    -------
    data : Bunch
        ``X`` (n_samples, n_features) float64, ``y`` (n_samples,) -1 or +1, ``names`` list of str, ``source``.
    """
    if name not in OPENML_SETS:
        raise ValueError(f"name={name!r} is not one of {sorted(OPENML_SETS)}")
    spec = OPENML_SETS[name]
    # Arrays and the ARFF parser, because pandas is not a dependency of this package.
    raw = fetch_openml(spec.openml_name, version=spec.version, as_frame=False, parser="liac-arff")
    target = np.asarray(raw.target).astype(str)
    if spec.positive not in target:
        raise ValueError(
            f"OpenML {spec.openml_name!r} version {spec.version} has classes {sorted(set(target))}, expected "
            f"{spec.positive!r}: the set has changed there"
        )
    y = np.where(target == spec.positive, 1, -1).astype(np.int64)
    cells, features = np.asarray(raw.data, dtype=np.float64), list(raw.feature_names)
    if spec.columns is not None:
        cells = cells[:, [features.index(column) for column in spec.columns]]
        features = list(spec.columns)
    if spec.complete_rows:
        complete = ~np.isnan(cells).any(axis=1)
        cells, y = cells[complete], y[complete]
    X, names = code_features(
        cells, features, raw.categories or {}, ordinal=spec.ordinal, keep_constant=spec.keep_constant
    )
    if X.shape != spec.shape:
        warnings.warn(
            f"OpenML {spec.openml_name!r} version {spec.version} gives shape {X.shape}, the paper has "
            f"{spec.shape}: results may not be comparable",
            UserWarning,
            stacklevel=2,
        )
    return Bunch(X=X, y=y, names=names, source=f"OpenML {spec.openml_name} version {spec.version}")


def code_features(
    cells: FloatArray,
    features: list[str],
    categories: dict[str, list[str]],
    *,
    ordinal: bool = False,
    keep_constant: bool = False,
) -> tuple[FloatArray, list[str]]:
    """Fill missing cells and turn nominal codes into 0/1 columns, by the rule at the top of this file.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_raw)
        Numbers, or positions in ``categories`` for nominal features; NaN where missing.
    features : list of str, length n_raw
        Feature names.
    categories : dict
        Values of each nominal feature.
    ordinal : bool, default=False
        Leave nominal features as one column of codes.
    keep_constant : bool, default=False
        Keep columns with a single value.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    names : list of str, length n_features
        ``feature`` or ``feature=value``.
    """
    columns: list[FloatArray] = []
    names: list[str] = []
    for raw_column, feature in zip(cells.T, features, strict=True):
        known = raw_column[~np.isnan(raw_column)]
        values, counts = np.unique(known, return_counts=True)
        if len(values) == 0 or (len(values) == 1 and not keep_constant):
            continue
        nominal = feature in categories
        fill = values[np.argmax(counts)] if nominal else np.median(known)
        column = np.where(np.isnan(raw_column), fill, raw_column)
        if not nominal or ordinal or len(values) == 1:
            columns.append(column)
            names.append(feature)
            continue
        for value in values[1:] if len(values) == 2 else values:
            columns.append((column == value).astype(np.float64))
            names.append(f"{feature}={categories[feature][int(value)]}")
    return np.column_stack(columns) if columns else np.empty((len(cells), 0)), names
