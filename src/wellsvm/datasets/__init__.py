"""Data sets: generators, scikit-learn's embedded sets with hidden labels, a loader for a data folder."""

from wellsvm.datasets._folder import available, load
from wellsvm.datasets._text import make_sparse_text
from wellsvm.datasets._toy import (
    load_clustering,
    load_semi_supervised,
    make_digit_bags,
    make_two_moons,
)

__all__ = [
    "available",
    "load",
    "load_clustering",
    "load_semi_supervised",
    "make_digit_bags",
    "make_sparse_text",
    "make_two_moons",
]
