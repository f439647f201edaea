"""
Watch a fit converge
====================

A fit collects label vectors, each a complete guess of the missing labels, and weighs them against each other by one
convex program. What happened on the way is kept in ``history_``; the displays of :mod:`wellsvm.plotting` draw it.
"""

# %%
# A fit, row by row
# -----------------
# A thousand generated documents with 40 labels. ``verbose=1`` prints a line for every label vector: the objective, an
# upper bound of the relaxation that falls as label vectors are added; the duality gap; and by how much the next label
# vector violates its constraint. ``init="svm"`` is the paper's plain start; with a ``tol`` ten times finer than the
# default there is more to see.

import matplotlib.pyplot as plt
import numpy as np

from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import make_sparse_text
from wellsvm.model_selection import hide_labels
from wellsvm.plotting import ConvergenceDisplay, LabelingsDisplay

X, y = make_sparse_text(1000, n_features=3000, nnz_per_row=50, random_state=0)
y_partial = hide_labels((y > 0).astype(int), n_labeled=40, random_state=0)
model = SemiSupervisedSVC(init="svm", tol=1e-4, unlabeled=-1, random_state=0, verbose=1).fit(X, y_partial)
print(f"\n{model.status_} after {model.n_iter_} label vectors")

# %%
# The same in a picture
# ---------------------
# The gap is that of the problem restricted to the label vectors at hand: large on the way, at most ``tol`` at the end.
# The violation is still large there. Label vectors that are not in use could be added, but the last ones have hardly
# lowered the objective any more, and so the run ends: ``status_`` says so, and ``oracle_violation_`` by how much.

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
# One line per label vector, the heaviest on top, and one column per row on which they differ; all others are left out.
# The solution is their mixture. Refinement then settles on one labelling, ``transduction_``.

display = LabelingsDisplay.from_estimator(model)
display.figure_.set_size_inches(9, 3.6)
plt.show()

# %%
# Where to start
# --------------
# Three first label vectors for the same problem. The default, ``init="refined"``, begins with a labelling that is good
# already and needs few more; the plain predictions of the supervised SVM and the best of 20 random labellings by kernel
# alignment need more. Once refined, at the end of the fit, all three are close.

looks = {"refined": ("#0072b2", "o"), "svm": ("#d55e00", "s"), "alignment": ("#009e73", "^")}
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for init, (colour, marker) in looks.items():
    model.set_params(init=init, verbose=0).fit(X, y_partial)
    objective = [record.objective for record in model.history_]
    ax.plot(np.arange(1, len(objective) + 1), objective, color=colour, marker=marker, linewidth=2, label=init)
    print(f"init={init!r}: relaxation {model.objective_:.2f}, refined labelling {model.refined_objective_:.2f}")
ax.set(xlabel="label vectors generated", ylabel="objective of the relaxation")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(color="#e5e5e5")
ax.set_axisbelow(True)
ax.legend(title="init", frameon=False)
plt.show()

# %%
# :func:`wellsvm.report` writes all this, with margins and parameters, to one HTML page.
