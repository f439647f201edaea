"""Classical rivals on the same solver core and behind the same interface, for comparison."""

from wellsvm.baselines._cpmmc import CPMMC
from wellsvm.baselines._gmmc import GMMC
from wellsvm.baselines._iterative_svr import IterativeSVR
from wellsvm.baselines._kernel_k_means import KernelKMeans
from wellsvm.baselines.multi_instance import MISVM, MIKernelSVC, miSVM

__all__ = ["CPMMC", "GMMC", "MISVM", "IterativeSVR", "KernelKMeans", "MIKernelSVC", "miSVM"]
