"""The walk of a fit: how many files a reader has to pass."""

from __future__ import annotations

import subprocess
import sys

# The method itself, from the estimator to the rows: 0.1 passed 20 files in all.
MOST_FILES, MOST_IN_ALL = 13, 19
# They turn what a fit is given into checked arguments, X and y.
READING = {"_arguments.py", "_input.py", "partial_labels.py"}
# They know the machine, and nothing of the method: free memory, native calls that Ctrl-C can come between, and sparse
# rows that another thread may have changed.
MACHINE = {"_memory.py", "threads.py", "rows/taking.py"}
# In a process of its own: what other tests have imported changes what a fit looks at.
PROGRAM = """
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import wellsvm
from wellsvm import SemiSupervisedSVC

root = str(Path(wellsvm.__file__).parent)
files = set()


def look(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(root):
        files.add(frame.f_code.co_filename[len(root) + 1 :])


X = np.random.default_rng(0).standard_normal((120, 5))
y = np.where(np.arange(120) < 20, X[:, 0] > 0, -1)
model = SemiSupervisedSVC(balance="labels", unlabeled=-1, random_state=0)
X = sparse.csr_matrix(X)
sys.setprofile(look)
model.fit(X, y)
sys.setprofile(None)
print(*sorted(files))
"""


def test_a_linear_semi_supervised_fit_with_a_given_balance_passes_few_files():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    files = done.stdout.split()
    assert "engine/recipe.py" in files
    assert set(files) >= READING, files
    assert len(set(files) - READING - MACHINE) <= MOST_FILES, files
    assert len(files) <= MOST_IN_ALL, files
