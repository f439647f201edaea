"""Classical methods for comparison, with the same solvers and the same interface."""

from wellsvm.baselines._annealing import AnnealedS3VM
from wellsvm.baselines._branch_and_bound import BranchAndBoundS3VM
from wellsvm.baselines._cccp import CCCPSVM
from wellsvm.baselines._citation_knn import CitationKNN
from wellsvm.baselines._continuation import ContinuationS3VM
from wellsvm.baselines._cpmmc import CPMMC
from wellsvm.baselines._diverse_density import EMDD, DiverseDensity
from wellsvm.baselines._gmmc import GMMC
from wellsvm.baselines._gradient import GradientS3VM
from wellsvm.baselines._iterative_svr import IterativeSVR
from wellsvm.baselines._kernel_k_means import KernelKMeans
from wellsvm.baselines._laplacian import LaplacianSVM
from wellsvm.baselines._newton import MultiSwitchTSVM, NewtonS3VM
from wellsvm.baselines._s4vm import S4VM
from wellsvm.baselines._tsvm import TSVM
from wellsvm.baselines._weak import AlternatingProportionSVC, AveragedCandidatesSVC, ElkanNotoSVC, MeanMap
from wellsvm.baselines.multi_instance import MISVM, MIKernelSVC, miSVM

__all__ = [
    "CCCPSVM",
    "CPMMC",
    "EMDD",
    "GMMC",
    "MISVM",
    "S4VM",
    "TSVM",
    "AlternatingProportionSVC",
    "AnnealedS3VM",
    "AveragedCandidatesSVC",
    "BranchAndBoundS3VM",
    "CitationKNN",
    "ContinuationS3VM",
    "DiverseDensity",
    "ElkanNotoSVC",
    "GradientS3VM",
    "IterativeSVR",
    "KernelKMeans",
    "LaplacianSVM",
    "MIKernelSVC",
    "MeanMap",
    "MultiSwitchTSVM",
    "NewtonS3VM",
    "miSVM",
]
