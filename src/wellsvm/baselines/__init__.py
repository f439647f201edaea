"""Classical rivals on the same solver core and behind the same interface, for comparison."""

from wellsvm.baselines.multi_instance import MISVM, MIKernelSVC, miSVM

__all__ = ["MISVM", "MIKernelSVC", "miSVM"]
