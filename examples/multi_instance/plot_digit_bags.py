"""
Find a digit when only whole pictures are labeled
=================================================

Each picture is a mosaic of twelve handwritten digits. For training, only one thing is known about each mosaic: whether
it contains a certain digit. From this, :class:`wellsvm.MultiInstanceSVC` learns to classify new mosaics and to locate
the digit.
"""

# %%
# Mosaics as bags
# ---------------
# :func:`wellsvm.datasets.make_digit_bags` draws 140 mosaics from scikit-learn's handwritten digits and uses no image
# twice. Half of the mosaics contain the target one to three times; the others do not contain it.
# :func:`wellsvm.images.images_to_bags` cuts every mosaic into its 3 x 4 regions. Each region is an instance, that is, a
# row of pixels.

import matplotlib.pyplot as plt
import numpy as np

from wellsvm import MultiInstanceSVC
from wellsvm.baselines import MISVM
from wellsvm.datasets import make_digit_bags
from wellsvm.images import images_to_bags, plot_regions
from wellsvm.metrics import roi_success_rate

N_TRAIN, N_BAGS, ROWS, COLUMNS, SIDE = 40, 140, 3, 4, 10


def draw_mosaics(target):
    """Mosaics in black on white, which of them hold the target, and which of their regions are it."""
    data = make_digit_bags(target, N_BAGS, ROWS * COLUMNS, random_state=0)
    digits = 1 - np.pad(data.X.reshape(-1, 8, 8) / 16, [(0, 0), (1, 1), (1, 1)])
    tiles = digits.reshape(N_BAGS, ROWS, COLUMNS, SIDE, SIDE)
    mosaics = tiles.swapaxes(2, 3).reshape(N_BAGS, ROWS * SIDE, COLUMNS * SIDE)
    return mosaics, data.y > 0, data.roi.reshape(N_BAGS, -1) > 0


mosaics, relevant, is_target = draw_mosaics(target=3)
bags, boxes = images_to_bags(mosaics, "patches", grid=(ROWS, COLUMNS), patch_size=SIDE)
print(bags)

# %%
# Learn from labels of mosaics
# ----------------------------
# Forty mosaics are used for training. The key instances, one per positive mosaic, are the classifier's own guess of
# where the 3 is; it is never given this information.

train, test = slice(0, N_TRAIN), slice(N_TRAIN, N_BAGS)
model = MultiInstanceSVC(random_state=0).fit(bags[train], relevant[train])

positive = np.flatnonzero(relevant[train])
right = is_target[positive, model.key_instances_[positive]]
print(f"key instances of the training mosaics that are a 3: {right.sum()} of {right.size}")

# %%
# Look at new mosaics
# -------------------
# These are the first ten test mosaics. Regions with a low score are pale, and regions with a positive score are
# outlined.

figure, axes = plt.subplots(2, 5, figsize=(11, 4.4), layout="constrained")
figure.get_layout_engine().set(wspace=0.06, hspace=0.08)
for mosaic, ax in zip(range(N_TRAIN, N_BAGS), axes.flat):
    scores = model.decision_function_instances(bags[mosaic])
    plot_regions(mosaics[mosaic], boxes[mosaic], scores, ax, annotate=False, vmax=1)
    hits, n_targets = np.count_nonzero(is_target[mosaic] & (scores > 0)), np.count_nonzero(is_target[mosaic])
    false_alarms = np.count_nonzero(~is_target[mosaic] & (scores > 0))
    title = f"{hits} of {n_targets} found" if n_targets else "holds no 3"
    title += f", {false_alarms} wrong" if false_alarms else ""
    ax.set_title(title, color="tab:red" if false_alarms or hits < n_targets else "black")
figure.suptitle("Where is the 3? New mosaics, with errors in red", fontsize="x-large")
plt.show()

# %%
# All ten digits, and MI-SVM
# --------------------------
# A single digit proves little, so every digit is the target once, with the same parameters and no tuning. The
# comparison is with MI-SVM (:class:`wellsvm.baselines.MISVM`), the classical alternation between key instances and
# classifier. A located region is a success if the mosaic is relevant and the region shows the target. The success rate
# combines the share of successes among the relevant and among the located mosaics.

METHODS = {"MultiInstanceSVC": MultiInstanceSVC(random_state=0), "MI-SVM": MISVM(random_state=0)}


def success_rates(target):
    """Success rate of every method on the test mosaics."""
    mosaics, relevant, is_target = draw_mosaics(target)
    bags, _ = images_to_bags(mosaics, "patches", grid=(ROWS, COLUMNS), patch_size=SIDE)
    located = [method.fit(bags[train], relevant[train]).locate(bags[test]) for method in METHODS.values()]
    return [roi_success_rate(relevant[test], found, is_target[test]).success_rate for found in located]


rates = np.array([success_rates(target) for target in range(10)])
for name, column in zip(METHODS, rates.T):
    print(f"{name:<17} mean success rate {column.mean():.3f}, from {column.min():.3f} to {column.max():.3f}")

# %% The two methods are close: about fifty test mosaics are relevant, so a single one changes the rate by about 0.02.
# The digit matters far more than the method.

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for column, (name, colour, marker) in enumerate(zip(METHODS, ("#0072b2", "#d55e00"), "os")):
    ax.scatter(np.arange(10) + 0.16 * column - 0.08, rates[:, column], s=55, color=colour, marker=marker, label=name)
ax.set(xticks=range(10), xlabel="digit to be found", ylabel="success rate on test mosaics", ylim=(0, 1.02))
ax.spines[["top", "right"]].set_visible(False)
ax.grid(axis="y", color="#e5e5e5")
ax.set_axisbelow(True)
ax.legend(loc="lower left", frameon=False)
plt.show()
