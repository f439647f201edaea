"""Data sets: generators, scikit-learn's embedded sets with hidden labels, UCI sets from OpenML, a reader of files."""

from wellsvm.datasets._archive import load_npz
from wellsvm.datasets._openml import fetch_uci
from wellsvm.datasets._text import make_sparse_text
from wellsvm.datasets._toy import (
    load_clustering,
    load_semi_supervised,
    make_digit_bags,
    make_two_moons,
)

__all__ = [
    "fetch_uci",
    "load_clustering",
    "load_npz",
    "load_semi_supervised",
    "make_digit_bags",
    "make_sparse_text",
    "make_two_moons",
]
