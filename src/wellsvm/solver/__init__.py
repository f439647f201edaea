"""The SVM for given labels and weights: dual variables, coordinate descent, the restricted master."""

from wellsvm.solver import gram_cd, linear_cd  # each registers its state for the rows it solves on
from wellsvm.solver.master import Aim, Candidate, Solution, State, begin, fit_svm, solve_master, solve_svm

__all__ = [
    "Aim",
    "Candidate",
    "Solution",
    "State",
    "begin",
    "fit_svm",
    "gram_cd",
    "linear_cd",
    "solve_master",
    "solve_svm",
]
