"""Embeddings, five classes, six labels each: dense float32 rows, probabilities, and the rows to label next."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from wellsvm import SemiSupervisedSVC

rng = np.random.default_rng(0)
n, d, topics = 1500, 96, np.array(["billing", "delivery", "quality", "return", "other"])
centres = rng.normal(size=(5, d))
target = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.12, 0.08])
X = normalize(centres[target] + 2.2 * rng.normal(size=(n, d))).astype(np.float32)
X_train, X_test, y_train, y_test = train_test_split(X, topics[target], random_state=0)

y_partial = np.full(len(y_train), None, dtype=object)
for topic in topics:  # six of each class, as people collect labels
    rows = rng.choice(np.flatnonzero(y_train == topic), 6, replace=False)
    y_partial[rows] = topic
known = np.array([label is not None for label in y_partial])

model = SemiSupervisedSVC(probability=True, random_state=0).fit(X_train, y_partial)
plain = LogisticRegression(C=10).fit(X_train[known], y_train[known])
ours, rival = model.score(X_test, y_test), plain.score(X_test, y_test)
print(f"logistic regression on 30 labels {rival:.3f}, with {np.sum(~known)} unlabeled rows {ours:.3f}")
sure = model.predict_proba(X_train).max(axis=1)
print("label these next:", np.flatnonzero(~known)[np.argsort(sure[~known])[:5]])
assert ours > rival
