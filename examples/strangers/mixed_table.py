"""A table with numbers, categories and missing cells: a ColumnTransformer before the model, saved as one file."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import wellsvm
from wellsvm import SemiSupervisedSVC
from wellsvm.model_selection import hide_labels

rng = np.random.default_rng(1)
leaves = pd.Series(rng.random(900) < 0.3, name="leaves")
table = pd.DataFrame(
    {
        "age": rng.normal(45 - 6 * leaves, 10),
        "income": np.exp(rng.normal(10 - 0.5 * leaves, 0.4)),
        "visits": rng.poisson(np.where(leaves, 2, 6)),
        "plan": np.where(rng.random(900) < np.where(leaves, 0.75, 0.25), "basic", "full"),
        "city": rng.choice(["Ulm", "Bonn", "Graz"], 900),
    }
)
table.loc[rng.random(900) < 0.1, "income"] = np.nan
y = leaves.map({True: "leaves", False: "stays"})
y_partial = hide_labels(y[:600], n_labeled=24, random_state=0)  # a Series, as y is


def preparation():
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    )


model = make_pipeline(preparation(), SemiSupervisedSVC(random_state=0)).fit(table[:600], y_partial)
known = y_partial.notna()
plain = make_pipeline(preparation(), SVC(kernel="linear", C=2)).fit(table[:600][known], y[:600][known])
ours, svm = model.score(table[600:], y[600:]), plain.score(table[600:], y[600:])
print(f"SVC on 24 labels {svm:.3f}, with 576 unlabeled rows {ours:.3f}; share of leavers {model[-1].balance_[0]:.2f}")
assert ours >= svm - 0.02

with tempfile.TemporaryDirectory() as folder:
    wellsvm.save(model, Path(folder) / "churn.skops")
    loaded = wellsvm.load(Path(folder) / "churn.skops")
    wellsvm.report(model, Path(folder) / "churn.html", X=table[:600], y=y_partial)
    assert (loaded.predict(table[600:]) == model.predict(table[600:])).all()
    print("saved, loaded, reported:", sorted(path.name for path in Path(folder).iterdir()))
