"""Where the data live: rows in memory or in blocks elsewhere, a kernel matrix, or rows of one computed when needed."""

from wellsvm.rows.base import Rows
from wellsvm.rows.gram import GramRows
from wellsvm.rows.linear import CentredRows, LinearRows

__all__ = ["CentredRows", "GramRows", "LinearRows", "Rows"]
