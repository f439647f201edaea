"""Pipelines of scikit-learn's own parts are saved and loaded, whatever selects and converts their columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import FeatureAgglomeration
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

import wellsvm
from wellsvm import SemiSupervisedSVC

pytest.importorskip("skops")
pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N = 60
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, N),
        "income": RNG.normal(0, 1, N),
        "visits": RNG.integers(0, 5, N),
        "city": RNG.choice(["Ulm", "Bonn", "Graz"], N),
        "plan": pd.Categorical(RNG.choice(["a", "b"], N)),
    }
)
Y = np.where(np.arange(N) < 20, (TABLE["income"] > 0).astype(float), np.nan)
NUMBERS = ["age", "income", "visits"]
ALL = np.where(np.isnan(Y), 0, Y)  # scores of features want every label


def columns(*parts):
    return make_column_transformer(*parts, remainder="drop")


STEPS = {
    "selectors by NumPy's types": columns(
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    ),
    "selectors by names of types": columns(
        (make_pipeline(SimpleImputer(), RobustScaler()), make_column_selector(dtype_include="number")),
        (OneHotEncoder(dtype=np.float32), make_column_selector(pattern="city")),
    ),
    "selectors by Python's types": columns(
        (MinMaxScaler(), make_column_selector(dtype_include=[float, int])),
        (OrdinalEncoder(dtype=np.float32), make_column_selector(dtype_include=[object, "category"])),
    ),
    "bins": columns((KBinsDiscretizer(3, strategy="uniform"), ["age"]), (StandardScaler(), ["income"])),
    "splines": columns((SplineTransformer(), NUMBERS)),
    "agglomeration": columns((FeatureAgglomeration(), NUMBERS)),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_pipeline_of_columns_predicts_the_same_bits_after_loading(name, tmp_path):
    model = make_pipeline(STEPS[name], SemiSupervisedSVC(random_state=0)).fit(TABLE, Y)
    wellsvm.save(model, tmp_path / "model.skops")
    loaded = wellsvm.load(tmp_path / "model.skops")
    assert np.array_equal(loaded.decision_function(TABLE), model.decision_function(TABLE))


@pytest.mark.parametrize("score", [f_classif, chi2])
def test_selected_features(score, tmp_path):
    chosen = SelectKBest(score, k=2).fit(TABLE[NUMBERS].abs(), ALL)
    model = make_pipeline(chosen, SemiSupervisedSVC(random_state=0))
    model.steps[-1][1].fit(chosen.transform(TABLE[NUMBERS].abs()), Y)
    wellsvm.save(model, tmp_path / "model.skops")
    wellsvm.load(tmp_path / "model.skops").predict(TABLE[NUMBERS].abs())


def test_text(tmp_path):
    texts = [" ".join(RNG.choice(["good", "bad", "fine", "poor"], 6)) for _ in range(N)]
    model = make_pipeline(TfidfVectorizer(dtype=np.float32), SemiSupervisedSVC(random_state=0)).fit(texts, Y)
    wellsvm.save(model, tmp_path / "model.skops")
    assert np.array_equal(wellsvm.load(tmp_path / "model.skops").predict(texts), model.predict(texts))


def test_compiled_trees_are_refused_by_name(tmp_path):
    model = make_pipeline(RandomTreesEmbedding(2, random_state=0), SemiSupervisedSVC(random_state=0))
    model.fit(TABLE[NUMBERS], Y)
    with pytest.raises(TypeError, match=r"sklearn\.tree\._tree\.Tree.*trees and neighbor indexes"):
        wellsvm.save(model, tmp_path / "model.skops")
    assert not (tmp_path / "model.skops").exists()
