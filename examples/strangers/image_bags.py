"""Labels for whole images: is there a 3 in it, and where? Each image is cut into nine patches, a bag of them."""

import numpy as np
from sklearn.datasets import load_digits

from wellsvm import Bags, MultiInstanceSVC
from wellsvm.metrics import roi_success_rate

rng = np.random.default_rng(0)
digits = load_digits()
others = np.flatnonzero(~np.isin(digits.target, [3, 8, 9]))
threes = np.flatnonzero(digits.target == 3)


def image(positive):
    """Nine digits in a square, 24 x 24 pixels; where the 3 is, or -1."""
    rows, place = rng.choice(others, 9), -1
    if positive:
        place = rng.integers(9)
        rows[place] = rng.choice(threes)
    return np.block([[digits.images[rows[3 * i + j]] for j in range(3)] for i in range(3)]), place


labels = np.arange(90) % 2
images, places = zip(*(image(label) for label in labels))


def patches(picture):
    """The nine patches of a picture, a row each."""
    return picture.reshape(3, 8, 3, 8).swapaxes(1, 2).reshape(9, 64) / 16


bags = Bags.from_list([patches(picture) for picture in images])
model = MultiInstanceSVC(random_state=0).fit(bags[:60], labels[:60])
accuracy, found = model.score(bags[60:], labels[60:]), model.locate(bags[60:])
truth = [np.arange(9) == place for place in places[60:]]
print(f"accuracy on new images {accuracy:.2f}")
print(roi_success_rate(labels[60:] > 0, found, truth))
assert accuracy > 0.8
