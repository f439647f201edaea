"""
Classify documents from a handful of labels
===========================================

There are two classes of documents, given as sparse tf-idf rows, and a few of them are labeled. Documents of a class
share words that may not occur in any labeled document; the unlabeled rows show which words go together. The documents
are generated, so nothing is downloaded; see :doc:`/choices` for tables on real documents.
"""

# %%
# Documents
# ---------
# :func:`wellsvm.datasets.make_sparse_text` generates them with the word frequencies of real text; half of the words in
# a document depend on its class.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import make_sparse_text
from wellsvm.model_selection import hide_labels

X, y = make_sparse_text(1800, n_features=5000, nnz_per_row=60, class_sep=0.5, random_state=0)
y = (y > 0).astype(int)
print(f"{X.shape[0]} documents, each with {X.nnz / X.shape[0]:.0f} of {X.shape[1]} words; {y.mean():.2f} are positive")

# %%
# Five methods, the same labels
# -----------------------------
# The supervised SVM (``C_unlabeled=0``); scikit-learn's self-training and label spreading; and
# :class:`wellsvm.SemiSupervisedSVC`, once with its default balance, which is estimated, and once with the true share.
# Nothing is tuned, except for self-training: with its defaults it ends up with a single class here, so it gets balanced
# class weights and a higher threshold.
#
# A third of the documents is kept for testing and not used for training, not even without labels. The rows to label are
# drawn at random, so with few labels their class shares are mostly chance. There are five draws for each number of
# labels.

METHODS = {
    "SVM, labeled rows only": SemiSupervisedSVC(C_unlabeled=0, unlabeled=-1, random_state=0),
    "self-training": SelfTrainingClassifier(LogisticRegression(class_weight="balanced"), threshold=0.9),
    "label spreading": LabelSpreading(kernel="knn", n_neighbors=10),
    "wellsvm": SemiSupervisedSVC(unlabeled=-1, random_state=0),
    "wellsvm, share known": SemiSupervisedSVC(balance=y.mean(), unlabeled=-1, random_state=0),
}
COUNTS, DRAWS = (20, 50, 200), 5


def draw(n_labeled, seed):
    """A random split: training rows with few labels, test rows."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    return X_train, hide_labels(y_train, n_labeled=n_labeled, stratify=False, random_state=seed), X_test, y_test


def accuracy(model, n_labeled, seed):
    """Accuracy of a model on the test rows of one draw."""
    X_train, y_partial, X_test, y_test = draw(n_labeled, seed)
    with warnings.catch_warnings():
        # Label spreading divides by zero for documents that no labeled one reaches; they get some class.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="sklearn")
        return model.fit(X_train, y_partial).score(X_test, y_test)


scores = np.array([[[accuracy(m, n, s) for s in range(DRAWS)] for n in COUNTS] for m in METHODS.values()])
for name, row in zip(METHODS, scores.mean(axis=2)):
    print(f"{name:<23}", "  ".join(f"{n} labels: {value:.3f}" for n, value in zip(COUNTS, row)))

# %% Lines are means, and dots are single draws.

COLOURS = ("#d55e00", "#999999", "#009e73", "#0072b2", "#56b4e9")
figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for k, (name, values, colour, marker) in enumerate(zip(METHODS, scores, COLOURS, "sDv^o")):
    x = np.array(COUNTS) * 1.03 ** (k - 2)
    ax.scatter(np.repeat(x, DRAWS), values, s=14, color=colour, alpha=0.4, linewidth=0)
    ax.plot(x, values.mean(axis=1), color=colour, marker=marker, linewidth=2, label=name)
ax.set_xscale("log")
ax.set_xticks(COUNTS, [str(n) for n in COUNTS])
ax.set_xticks([], minor=True)
ax.set(xlabel="labeled documents (of 1200)", ylabel="accuracy on test documents")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(color="#e5e5e5")
ax.set_axisbelow(True)
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# How much should an unlabeled row count?
# ---------------------------------------
# ``C_unlabeled`` is the penalty on the loss of an unlabeled row; that of a labeled row is ``C=2``. 0 gives the
# supervised SVM. There is one thin line per draw:

PRICES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
models = [SemiSupervisedSVC(C_unlabeled=price, unlabeled=-1, random_state=0) for price in (0, *PRICES)]
by_price = np.array([[accuracy(model, 50, seed) for model in models] for seed in range(DRAWS)])

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(PRICES, by_price[:, 1:].T, color="#0072b2", linewidth=1, alpha=0.35)
ax.plot(PRICES, by_price[:, 1:].mean(axis=0), color="#0072b2", marker="o", linewidth=2.5, label="mean of five draws")
ax.axhline(by_price[:, 0].mean(), color="#d55e00", linestyle="--", label="labeled rows only, mean")
ax.set(xscale="log", xlabel="C_unlabeled", ylabel="accuracy on test documents", title="50 labels")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(color="#e5e5e5")
ax.set_axisbelow(True)
ax.legend(frameon=False)
plt.show()

# %% If the penalty is too low, the unlabeled rows are wasted; above some value, the mean changes little here. On the
# real text in :doc:`/choices`, 0.3 was better than 0.1, and 1 was not. Draws differ more than penalties do, so a value
# chosen from a single draw means little; :class:`wellsvm.SemiSupervisedSVCCV` chooses by cross-validation.
