"""Weights mu of the label vectors on the simplex, for the restricted master Eq. (9)."""

from __future__ import annotations

import os
import numpy as np

from wellsvm._typing import FloatArray

POWER = float(os.environ.get("POWER", "1"))

def update_mixture(mu: FloatArray, squared_norms: FloatArray) -> FloatArray:
    """mu_t proportional to mu_t ||u_t||."""
    weights = mu * np.sqrt(squared_norms)**POWER
    total = weights.sum()
    return weights / total if total > 0 else mu
