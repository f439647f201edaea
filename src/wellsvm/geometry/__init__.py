"""Where the data live: products with K, rows, coordinate descent. No labels' rules, no cutting plane."""

from wellsvm.geometry.base import Descent, Geometry
from wellsvm.geometry.gram import GramGeometry
from wellsvm.geometry.linear import LinearGeometry

__all__ = ["Descent", "Geometry", "GramGeometry", "LinearGeometry"]
