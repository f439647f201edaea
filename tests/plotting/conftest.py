"""What all tests of plots share: figures are closed after each, and one model of the two moons."""

from __future__ import annotations

import pytest

from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import make_two_moons


@pytest.fixture(autouse=True)
def _close_figures():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def moons():
    return make_two_moons(n_samples=120, n_labeled=6, random_state=0)


@pytest.fixture(scope="module")
def model(moons):
    model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, oracle="climb", tol=1e-4, random_state=0)
    return model.fit(moons.X, moons.y_partial)
