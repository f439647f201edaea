"""Bad input to what came with bags that know their context, boxes of images, and clusters of given sizes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from wellsvm import MaxMarginClustering, MultiInstanceSVC, MultiInstanceSVCCV
from wellsvm.images import image_bags

FOUR, _ = make_blobs([50, 40, 35, 30], centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
Y = np.arange(12) % 2
IMAGES = np.random.default_rng(0).random((12, 32, 32, 3))
IMAGES[Y == 1, 12:20, 12:20] = 1, 0, 0
BAGS = image_bags(IMAGES)


def cluster(n_clusters=4, **parameters):
    return MaxMarginClustering(n_clusters, **parameters).fit(FOUR)


def classify(**parameters):
    return MultiInstanceSVC(**parameters).fit(BAGS, Y)


def search(**parameters):
    return MultiInstanceSVCCV(**parameters).fit(BAGS, Y)


BAD = {
    "a size per cluster": (lambda: cluster(balance=[0.2, 0.3, 0.5]), "balance must be a finite number"),
    "a size per named cluster": (lambda: cluster(balance={0: 0.2, 1: 0.8}), "balance must be a finite number"),
    "sizes in an array": (lambda: cluster(balance=np.array([0.1, 0.2])), "balance must be a finite number"),
    "sizes of four in a word": (lambda: cluster(balance="equal"), "balance must be a finite number"),
    "clusters None": (lambda: cluster(None), "n_clusters must be a whole number"),
    "several numbers of clusters": (lambda: cluster([2, 3]), "n_clusters must be a whole number"),
    "clusters NaN": (lambda: cluster(np.nan), "n_clusters must be a whole number"),
    "clusters below 0": (lambda: cluster(-2), "n_clusters must be a whole number"),
    "context None": (lambda: classify(context=None), "context must be a finite number"),
    "context a list": (lambda: classify(context=[1.0]), "context must be a finite number"),
    "context complex": (lambda: classify(context=1 + 1j), "context must be a finite number"),
    "contexts with None": (lambda: search(contexts=[None]), "contexts must be a finite number"),
    "contexts as numbers in words": (lambda: search(contexts=["1"]), "contexts must be a finite number"),
    "contexts as a set": (lambda: search(contexts={0, 1}), "contexts must be a sequence"),
    "no positive class": (lambda: classify(positive_class=[]), "positive_class must be a class"),
    "both classes positive": (lambda: classify(positive_class=(0, 1)), "positive_class must be a class"),
    "positive class NaN": (lambda: classify(positive_class=np.nan), "positive_class=nan is not among"),
    "no box": (lambda: classify().locate(BAGS, k=0), "k must be a whole number of at least 1"),
    "half a box": (lambda: classify().locate(BAGS, k=1.5), "k must be a whole number"),
    "a flag for boxes": (lambda: classify().locate(BAGS, k=True), "k must be a whole number"),
    "all boxes": (lambda: classify().locate(BAGS, k="all"), "k must be a whole number"),
    "boxes with groups": (lambda: classify().locate(BAGS, groups=np.arange(3)), "groups is for flat instances"),
    "boxes of other features": (
        lambda: classify().locate(image_bags(IMAGES, "grid", grid=4)), "X has 6 features, .* expecting 15"),
    "boxes before a fit": (lambda: MultiInstanceSVC().locate(BAGS), "not fitted yet"),
    "no images": (lambda: image_bags([]), "list of bags is empty"),
    "an image of one row": (lambda: image_bags([np.zeros(5)]), r"image 0: image has shape \(5,\)"),
    "unknown regions": (lambda: image_bags(IMAGES, "regions"), "generator must be one of"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_an_error_that_says_what_is_wrong(case):
    act, match = BAD[case]
    with pytest.raises((ValueError, TypeError), match=match):
        act()
