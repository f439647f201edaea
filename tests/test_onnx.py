"""ONNX graphs say what the estimators say, to 1e-5 on a thousand rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.model_selection import hide_labels

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")
from wellsvm.onnx import to_onnx  # noqa: E402

DIGITS, DIGIT = load_digits(return_X_y=True)
X = (DIGITS[:1000] / 16).astype(np.float32)
NAMES = np.array([f"digit {k}" for k in range(10)])[DIGIT[:1000]]
PAIR = DIGIT < 2
TWO, TWO_Y = (
    np.tile((DIGITS[PAIR] / 16).astype(np.float32), (3, 1))[:1000],
    np.tile(DIGIT[PAIR], 3)[:1000].astype(float),
)


def outputs(model, X):
    """What the graph gives, by name."""
    session = onnxruntime.InferenceSession(
        to_onnx(model, X[:1]).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {session.get_inputs()[0].name: X})))


def require_equal(model, X):
    found = outputs(model, X)
    assert np.array_equal(found["label"], model.predict(X))
    wanted = model.decision_function(X)
    assert found["decision"].shape == wanted.shape
    np.testing.assert_allclose(found["decision"], wanted, rtol=1e-5, atol=1e-5)
    return found


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_two_classes(kernel):
    y = hide_labels(TWO_Y, n_labeled=20, random_state=0)
    gamma = 0.01 if kernel == "sigmoid" else "mean"
    model = SemiSupervisedSVC(kernel=kernel, gamma=gamma, max_iter=5, random_state=0).fit(TWO[:200], y[:200])
    assert require_equal(model, TWO)["label"].dtype == np.float32


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_many_classes_named_by_strings_in_a_pipeline(kernel):
    y = hide_labels(NAMES[:300], n_labeled=60, random_state=0)
    model = make_pipeline(StandardScaler(), SemiSupervisedSVC(kernel=kernel, random_state=0)).fit(X[:300], y)
    require_equal(model, X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(n_classes):
    chosen = DIGIT[:1000] < n_classes
    y = hide_labels(DIGIT[:1000][chosen], n_labeled=30, random_state=0)
    model = SemiSupervisedSVC(kernel="rbf", probability=True, unlabeled=-1, random_state=0).fit(X[chosen], y)
    found = require_equal(model, X)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)


def test_the_cross_validated_model():
    y = hide_labels(TWO_Y[:200], n_labeled=30, random_state=0)
    require_equal(SemiSupervisedSVCCV(Cs_unlabeled=[0.1], cv=2, random_state=0).fit(TWO[:200], y), TWO)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_clusters(kernel, n_clusters):
    blobs = make_blobs(1000, centers=4, random_state=0)[0].astype(np.float32)
    model = MaxMarginClustering(n_clusters, kernel=kernel, random_state=0).fit(blobs[:150])
    require_equal(model, blobs)


def test_what_has_no_graph_is_refused_by_name():
    bags = MultiInstanceSVC(random_state=0).fit([X[:3], X[3:6]], [0, 1])
    with pytest.raises(TypeError, match="MultiInstanceSVC cannot be converted"):
        to_onnx(bags, X[:1])
    K = TWO[:50] @ TWO[:50].T
    own = SemiSupervisedSVC(kernel="precomputed", random_state=0).fit(K, hide_labels(TWO_Y[:50], 0.5, random_state=0))
    with pytest.raises(TypeError, match="kernel='precomputed' cannot"):
        to_onnx(own, K[:1])
