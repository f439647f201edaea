"""What labels are allowed: the sets B of the paper. Pure combinatorics, no kernels and no SVM."""

from wellsvm.labels.balanced import BalancedLabels
from wellsvm.labels.base import LabelSet
from wellsvm.labels.clusters import ClusterLabels
from wellsvm.labels.keys import KeyInstances
from wellsvm.labels.linked import LinkedLabels, Links

__all__ = ["BalancedLabels", "ClusterLabels", "KeyInstances", "LabelSet", "LinkedLabels", "Links"]
