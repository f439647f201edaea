"""
Watch a fit converge
====================

A fit collects label vectors, each a complete guess of the missing labels, and finds their weights by one convex
program. The steps are recorded in ``history_``, and the displays of :mod:`wellsvm.plotting` draw them.
"""

# %%
# A fit, line by line
# -------------------
# There are a thousand generated documents with 40 labels. ``verbose=1`` prints a line for every label vector: the
# objective, which is an upper bound of the relaxation and falls as label vectors are added; the duality gap; and the
# amount by which the next label vector violates its constraint. With ``init="svm"``, the paper's start, and a ``tol``
# ten times smaller than the default, there is more to see; a lower penalty on unlabeled rows keeps the fit quick.

import matplotlib.pyplot as plt
import numpy as np

from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import make_sparse_text
from wellsvm.model_selection import hide_labels
from wellsvm.plotting import ConvergenceDisplay, LabelingsDisplay

X, y = make_sparse_text(1000, n_features=3000, nnz_per_row=50, random_state=0)
y_partial = hide_labels((y > 0).astype(int), n_labeled=40, random_state=0)
model = SemiSupervisedSVC(C_unlabeled=0.1, init="svm", tol=1e-4, unlabeled=-1, random_state=0, verbose=1)
model.fit(X, y_partial)
print(f"\n{model.status_} after {model.n_iter_} label vectors")

# %%
# The same as a figure
# --------------------
# The gap is that of the problem restricted to the label vectors found so far: large at first, and at most ``tol`` at
# the end. The violation is still large at the end. More label vectors could be added, but the last ones hardly lowered
# the objective, so the fit stops. ``status_`` says so, and ``oracle_violation_`` holds the remaining violation.

display = ConvergenceDisplay.from_estimator(model, color="#0072b2", linewidth=2)
display.figure_.set_size_inches(7, 4.6)
for ax in display.axes_:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#e5e5e5")
    ax.set_axisbelow(True)
plt.show()

# %%
# What the label vectors disagree on
# ----------------------------------
# The figure has one line per label vector, with the largest weight on top, and one column for each row of X on which
# they differ; all other rows are left out. The solution is a mixture of them. Refinement then settles on one labeling,
# ``transduction_``.

display = LabelingsDisplay.from_estimator(model)
display.figure_.set_size_inches(9, 3.6)
plt.show()

# %%
# Where to start
# --------------
# Here are three different starts for the same problem. The default, ``init="refined"``, starts with a good labeling and
# needs few others. The predictions of the supervised SVM ("svm") and the best of 20 random labelings by kernel
# alignment ("alignment") need more. After refinement, at the end of the fit, all three are close.

looks = {"refined": ("#0072b2", "o"), "svm": ("#d55e00", "s"), "alignment": ("#009e73", "^")}
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for init, (colour, marker) in looks.items():
    model.set_params(init=init, verbose=0).fit(X, y_partial)
    objective = [record.objective for record in model.history_]
    ax.plot(np.arange(1, len(objective) + 1), objective, color=colour, marker=marker, linewidth=2, label=init)
    print(f"init={init!r}: relaxation {model.objective_:.2f}, refined labeling {model.refined_objective_:.2f}")
ax.set(xlabel="label vectors generated", ylabel="objective of the relaxation")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(color="#e5e5e5")
ax.set_axisbelow(True)
ax.legend(title="init", frameon=False)
plt.show()

# %%
# :func:`wellsvm.report` writes all this, with margins and parameters, to one HTML page.
