"""Ctrl-C in a long fit: honoured within half a second, and nothing goes on behind the caller's back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to one process")

LIMIT, TRIES = 0.5, 3  # a busy machine may delay one try, not all

# Fits that would take tens of seconds.
FITS = {
    "sparse rows": """
X, y = make_sparse_text(60_000, random_state=0)
y = np.where(np.arange(y.size) < 300, y, 0)
model = SemiSupervisedSVC(C_unlabeled=1.0, init="svm", tol=1e-8, max_iter=500, unlabeled=0, random_state=0)
""",
    "dense rows": """
y = np.arange(10_000) % 2
X = rng.standard_normal((10_000, 400)) + 0.1 * y[:, None]
y = np.where(np.arange(y.size) < 100, y, -1)
model = SemiSupervisedSVC(C_unlabeled=1.0, tol=1e-8, max_iter=500, unlabeled=-1, random_state=0)
""",
    "kernel": """
y = np.arange(4_000) % 2
X = rng.standard_normal((4_000, 20)) + 0.3 * y[:, None]
y = np.where(np.arange(y.size) < 100, y, -1)
model = SemiSupervisedSVC(
    kernel="rbf", C=10, C_unlabeled=1.0, tol=1e-8, max_iter=500, unlabeled=-1, random_state=0, init="alignment",
    balance=0.5, refine=False, oracle="climb"
)
""",
    "classes in two threads": """
y = np.arange(6_000) % 4
X = rng.standard_normal((6_000, 20)) + 0.3 * y[:, None]
y = np.where(np.arange(y.size) < 100, y, -1)
model = SemiSupervisedSVC(
    kernel="rbf", C=10, C_unlabeled=1.0, tol=1e-8, max_iter=500, unlabeled=-1, random_state=0, n_jobs=2
)
""",
    "folds in two threads": """
y = np.arange(6_000) % 2
X = rng.standard_normal((6_000, 20)) + 0.3 * y[:, None]
y = np.where(np.arange(y.size) < 100, y, -1)
model = SemiSupervisedSVCCV(kernel="rbf", C=10, tol=1e-8, max_iter=500, unlabeled=-1, random_state=0, n_jobs=2)
""",
}

PROGRAM = """
import time, warnings
import numpy as np
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.datasets import make_sparse_text
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
{fit}
print("started", flush=True)
try:
    model.fit(X, y)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
    time.sleep(0.5)
    used = time.process_time()
    time.sleep(0.5)
    print(time.process_time() - used, [name for name in vars(model) if name.endswith("_")], flush=True)
"""


def interrupt(fit):
    """Run a fit and send Ctrl-C: seconds until it ended, CPU seconds spent in half a second later, what it left."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(fit=FITS[fit])], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline().strip() == "started", process.stderr.read()
        time.sleep(1.5)
        sent = time.monotonic()  # one clock for all processes
        process.send_signal(signal.SIGINT)
        answer = process.stdout.readline().split()
        assert answer[:1] == ["interrupted"], f"{answer}: {process.stderr.read()}"
        used, left = process.stdout.readline().split(" ", 1)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, f"exit code {process.returncode}: {errors}"
        return float(answer[1]) - sent, float(used), left.strip()
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS)
def test_ctrl_c_ends_a_long_fit_within_half_a_second_and_for_good(fit):
    waited = []
    for _ in range(TRIES):
        seconds, used, left = interrupt(fit)
        assert left == "[]" or left == "['n_features_in_']", "a model half fitted"
        assert used < 0.1, "threads go on computing after the interrupt"
        waited.append(seconds)
        if seconds < LIMIT:
            return
    pytest.fail(f"Ctrl-C took {min(waited):.2f} s at best, wanted {LIMIT} s")
