"""
Two moons: the boundary with and without unlabeled rows
=======================================================

There are six labeled rows and 194 unlabeled ones. The supervised SVM sees only the six labeled rows.
:class:`wellsvm.SemiSupervisedSVC`, with the same kernel and the same ``C``, also sees where the other rows lie, and
moves its boundary to where there are few of them.
"""

# %%
# Four draws of moons and labels
# ------------------------------
# These are the first four draws, without any selection. With ``C_unlabeled=0``, unlabeled rows have no weight, which
# gives the supervised SVM. For both models, the RBF kernel is a few times narrower than the default, as the moons
# require.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from sklearn.inspection import DecisionBoundaryDisplay

from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import make_two_moons

ORANGE, BLUE = "#d55e00", "#0072b2"
CLASSES = ListedColormap([ORANGE, BLUE])
VALUES = LinearSegmentedColormap.from_list("values", [ORANGE, "white", BLUE])

SUPERVISED = SemiSupervisedSVC(kernel="rbf", gamma=3.0, C_unlabeled=0, unlabeled=-1, random_state=0)
WITH_ALL_ROWS = SemiSupervisedSVC(kernel="rbf", gamma=3.0, unlabeled=-1, random_state=0)


def draw(ax, model, moons):
    """Draw the decision function in color, the boundary, all rows, and the labeled ones larger."""
    options = {"ax": ax, "response_method": "decision_function", "grid_resolution": 80, "eps": 0.5}
    most = np.abs(model.decision_function(moons.X)).max()
    DecisionBoundaryDisplay.from_estimator(
        model, moons.X, **options, cmap=VALUES, alpha=0.6, levels=np.linspace(-1.2 * most, 1.2 * most, 21),
        extend="both",
    )  # fmt: skip
    DecisionBoundaryDisplay.from_estimator(
        model, moons.X, **options, plot_method="contour", levels=[0], colors="black", linewidths=1.2
    )
    ax.scatter(*moons.X.T, s=7, color="#555555", linewidth=0)
    ax.scatter(
        *moons.X[moons.labeled].T, c=moons.y[moons.labeled], cmap=CLASSES, s=80, edgecolor="black", linewidth=1.2
    )
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="", title=f"accuracy {model.score(moons.X, moons.y):.2f}")


figure, axes = plt.subplots(2, 4, figsize=(11, 5), layout="constrained")
for seed, column in enumerate(axes.T):
    moons = make_two_moons(n_samples=200, n_labeled=6, noise=0.12, random_state=seed)
    for ax, model in zip(column, (SUPERVISED, WITH_ALL_ROWS)):
        draw(ax, model.fit(moons.X, moons.y_partial), moons)
for ax, name in zip(axes[:, 0], ("labeled rows only", "all rows")):
    ax.set_ylabel(name, fontsize="large")
plt.show()

# %%
# Forty draws
# -----------
# Four draws prove little. Here are forty for each number of labels, each with both models. A point above the line is a
# draw in which the unlabeled rows helped.

COUNTS = (4, 8, 16)


def accuracies(n_labeled, seed):
    """Both accuracies on one draw."""
    moons = make_two_moons(n_samples=200, n_labeled=n_labeled, noise=0.12, random_state=seed)
    return [model.fit(moons.X, moons.y_partial).score(moons.X, moons.y) for model in (SUPERVISED, WITH_ALL_ROWS)]


figure, axes = plt.subplots(1, 3, figsize=(11, 4.3), layout="constrained", sharex=True, sharey=True)
for ax, n_labeled in zip(axes, COUNTS):
    scores = np.array([accuracies(n_labeled, seed) for seed in range(40)])
    better, worse = np.sum(scores[:, 1] > scores[:, 0]), np.sum(scores[:, 1] < scores[:, 0])
    supervised, all_rows = scores.mean(axis=0)
    print(f"{n_labeled:>2} labels: labeled rows only {supervised:.3f}, all rows {all_rows:.3f} on average")
    ax.plot([0.45, 1.01], [0.45, 1.01], color="#666666", linewidth=1, linestyle="--", zorder=1)
    ax.scatter(*scores.T, s=36, color=BLUE, alpha=0.6, edgecolor="white", linewidth=0.5, zorder=2)
    ax.set(xlim=(0.45, 1.01), ylim=(0.45, 1.01), aspect="equal", xlabel="accuracy, labeled rows only")
    ax.set_title(f"{n_labeled} labels: better {better}, worse {worse}", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#e5e5e5")
    ax.set_axisbelow(True)
axes[0].set_ylabel("accuracy, all rows")
plt.show()

# %% Unlabeled rows help on average, but not every time. With two labels per moon, another boundary with a wide gap may
# fit the labels too, and then the unlabeled rows confirm the mistake. With more labels this happens less often, and
# there is less to gain. If there are enough labels for folds, :class:`wellsvm.SemiSupervisedSVCCV` chooses
# ``C_unlabeled`` by cross-validation, with 0 among the candidates.
