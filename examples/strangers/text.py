"""Thousands of short texts, fifty labels: a sparse linear model in a pipeline with TfidfVectorizer."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from wellsvm import SemiSupervisedSVC
from wellsvm.model_selection import hide_labels

rng = np.random.default_rng(0)
common = [f"word{k}" for k in range(400)]
topics = {name: [f"{name}{k}" for k in range(120)] for name in ("sport", "money")}


def text(topic):
    """Forty words, seven of them of the topic."""
    return " ".join([*rng.choice(common, 33), *rng.choice(topics[topic], 7)])


target = rng.choice(["sport", "money"], 2500, p=[0.35, 0.65])
texts = [text(topic) for topic in target]
train, test, y_train, y_test = train_test_split(texts, target, random_state=0)
y_partial = hide_labels(y_train, n_labeled=50, random_state=0)

model = make_pipeline(TfidfVectorizer(sublinear_tf=True), SemiSupervisedSVC(random_state=0)).fit(train, y_partial)
labeled = [k for k, name in enumerate(y_partial) if name is not None]
plain = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC())
plain.fit([train[k] for k in labeled], y_train[labeled])
ours, svm = model.score(test, y_test), plain.score(test, y_test)
print(f"LinearSVC on 50 labels {svm:.3f}, with {len(train) - 50} unlabeled texts {ours:.3f}")
print("shares found:", dict(zip(model[-1].classes_.tolist(), model[-1].balance_found_.round(2).tolist())))
assert ours > svm
