"""What labels are allowed: the sets B of the paper. Pure combinatorics, no kernels and no SVM.

`LabelSet` is what an own set derives from, and `check_label_set` tries whether it keeps the contract.
"""

from wellsvm.labels.balanced import BalancedLabels
from wellsvm.labels.base import LabelSet
from wellsvm.labels.candidates import candidate_sets
from wellsvm.labels.checking import check_label_set
from wellsvm.labels.clusters import ClusterLabels
from wellsvm.labels.joined import JoinedLabels
from wellsvm.labels.keys import KeyInstances
from wellsvm.labels.linked import LinkedLabels, Links
from wellsvm.labels.noisy import NoisyLabels
from wellsvm.labels.proportions import ProportionLabels

__all__ = [
    "BalancedLabels",
    "ClusterLabels",
    "JoinedLabels",
    "KeyInstances",
    "LabelSet",
    "LinkedLabels",
    "Links",
    "NoisyLabels",
    "ProportionLabels",
    "candidate_sets",
    "check_label_set",
]
