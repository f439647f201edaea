"""No labels: two kinds of measurement in different units, and a rule for tomorrow's rows that says how sure it is."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import MaxMarginClustering
from wellsvm.metrics import clustering_accuracy

rng = np.random.default_rng(0)


def measurements(n):
    """Millimetres, grams and volts of two kinds of part."""
    kind = rng.integers(2, size=n)
    size, weight, noise = rng.normal(20 + kind, 0.4), rng.normal(500 + 90 * kind, 35), rng.normal(0.01, 0.002, n)
    return np.column_stack([size, weight, noise]), kind


X, kind = measurements(300)
new, new_kind = measurements(100)
model = make_pipeline(StandardScaler(), MaxMarginClustering(random_state=0)).fit(X)
means = make_pipeline(StandardScaler(), KMeans(2, n_init=10, random_state=0)).fit(X)
ours, theirs = (clustering_accuracy(new_kind, each.predict(new)) for each in (model, means))
print(f"on new rows: k-means {theirs:.2f}, maximum margin {ours:.2f}; sizes {np.bincount(model[-1].labels_)}")
values = model.decision_function(new)
print("least clear new row:", np.abs(values).argmin(), "of value", round(float(np.abs(values).min()), 2))
assert ours > 0.9
assert ours >= theirs - 0.02
