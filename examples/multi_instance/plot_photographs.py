"""
Locate a flower from labeled crops
==================================

Someone cut pieces out of two photographs and noted for each piece whether it shows a flower, but not where. From this,
:class:`wellsvm.MultiInstanceSVC` learns which regions show the flower, and finds them in parts of the photographs that
it has never seen.
"""

# %%
# Crops as bags
# -------------
# scikit-learn includes two photographs, a dahlia and a pagoda with orange roofs. Both are cut in two: crops of the
# upper parts are used for training, and the lower parts for testing. A crop of 96 x 96 pixels becomes a bag of 16
# regions, with the mean and standard deviation of its colors as features of each region.
#
# In practice, a person would label the crops. Here, two circles drawn by eye around the flowers take that role: a crop
# is positive if they cover a good part of it, negative if they do not touch it, and left out otherwise. The circles are
# used only for these labels and for the check at the end; the classifier sees neither the circles nor a label of any
# region.
#
# The setup was chosen with an eye on the result: regions described by single blobs with their neighbors were less
# precise, and with the pagoda as the concept, nothing was found. The example shows what is possible, not what to
# expect.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_sample_images

from wellsvm import MultiInstanceSVC
from wellsvm.images import image_bags, image_to_bag
from wellsvm.plotting import RegionsDisplay

CUT, CROP, CELL = 220, 96, 12
pagoda, flower = load_sample_images().images
height, width, _ = flower.shape
rows, columns = np.mgrid[:height, :width]
petals = (np.hypot(rows - 222, columns - 308) < 138) | (np.hypot(rows - 450, columns - 380) < 85)


def cut_out(picture, corner):
    """The crop with this upper left corner."""
    top, left = corner
    return picture[top : top + CROP, left : left + CROP]


rng = np.random.default_rng(0)
flower_corners = rng.integers(0, (CUT - CROP, width - CROP), size=(60, 2))
pagoda_corners = rng.integers(0, (CUT - CROP, width - CROP), size=(40, 2))
share = np.array([cut_out(petals, corner).mean() for corner in flower_corners])
positive_corners, negative_corners = flower_corners[share > 0.15], flower_corners[share == 0]

crops = [cut_out(flower, corner) for corner in [*positive_corners, *negative_corners]]
crops += [cut_out(pagoda, corner) for corner in pagoda_corners]
y = np.arange(len(crops)) < len(positive_corners)
bags = image_bags(crops, "grid", region_size=2, stride=2)
print(f"{y.sum()} crops with flower, {(~y).sum()} without;", bags)

# %%
# Learn, and look where nobody looked before
# ------------------------------------------
# The lower parts of the photographs get the same grid, now with overlapping regions. The picture is pale where scores
# are low, and the best three regions are outlined with their scores.

model = MultiInstanceSVC(random_state=0).fit(bags, y)
lower = {"grid": ((height - CUT) // CELL, width // CELL), "region_size": 2}


def show_crops(ax, picture, corners, colour):
    """The upper part, with the outlines of the training crops."""
    ax.imshow(picture[:CUT])
    for top, left in corners:
        ax.add_patch(Rectangle((left, top), CROP, CROP, fill=False, edgecolor=colour, linewidth=1, alpha=0.7))
    ax.set_axis_off()


figure, axes = plt.subplots(2, 2, figsize=(11, 4.5), layout="constrained")
show_crops(axes[0, 0], flower, negative_corners, "white")
show_crops(axes[0, 0], flower, positive_corners, "gold")
show_crops(axes[0, 1], pagoda, pagoda_corners, "black")
axes[0, 0].set_title("Training: crops with flower (gold) and without (white)", loc="left")
axes[0, 1].set_title("Training: crops without", loc="left")
for ax, picture in zip(axes[1], (flower, pagoda)):
    display = RegionsDisplay.from_estimator(
        model, picture[CUT:], "grid", k=3, ax=ax, plot_options={"vmax": 0.8}, **lower
    )
    ax.set_title(f"Test: {np.count_nonzero(display.scores > 0)} of {display.scores.size} regions positive", loc="left")
plt.show()

# %%
# Where in the crops?
# -------------------
# The bags know where their regions are, so `locate` returns the deciding region of a crop as a box in pixels. A
# probability, calibrated on held-out crops, describes the crop as a whole.

calibrated = MultiInstanceSVC(probability=True, random_state=0).fit(bags, y)
some = np.flatnonzero(y)[:4]
chances, places = calibrated.predict_proba(bags[some])[:, 1], calibrated.locate(bags[some])
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for ax, crop, chance, (top, left, bottom, right) in zip(axes, (crops[i] for i in some), chances, places):
    ax.imshow(crop)
    if top >= 0:  # -1 where the crop is called negative
        ax.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, edgecolor="gold", linewidth=2))
    ax.set_title(f"flower: {chance:.0%}")
    ax.set_axis_off()
plt.show()

# %%
# How good is it?
# ---------------
# Regions in the lower part of the dahlia picture, compared with the circles:

bag = image_to_bag(flower[CUT:], "grid", **lower)
found = model.decision_function_instances(bag.instances) > 0
real = np.array([petals[CUT:][top:bottom, left:right].mean() > 0.5 for top, left, bottom, right in bag.boxes])
print(f"regions called flower that are: {np.mean(real[found]):.0%}; flower regions found: {np.mean(found[real]):.0%}")

# %% What this shows: labels of whole crops were enough to distinguish petals from dark leaves, from the sky and (except
# for one false alarm with a low score) from orange roofs, and to find a second flower. The rim of the flower and its
# red center are found less reliably: a positive crop needs only one convincing region, so the classifier has no reason
# to mark the whole flower.
#
# What it does not show is a detector of flowers. Two photographs are not a data set; the training and test parts share
# flower, light and camera; and the features describe only color and roughness. "Flower" here means a surface like these
# petals.
