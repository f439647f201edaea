"""What a search does with all rows between two SVMs, in plain NumPy, as cpp/prices.hpp has it."""

from __future__ import annotations

import numpy as np

from wellsvm.native.checks import require, require_array

__all__ = ["carry", "distances_to_cut", "shares_of_prices"]


def distances_to_cut(f: np.ndarray, y: np.ndarray, rising: np.ndarray) -> None:
    """Turn f into its distance to the cut: halfway between the least f of the ``rising`` rows that are labeled 1 and
    the largest of those labeled -1; 0 where there are none of either."""
    require_array("f", f, 1, np.float64, writeable=True)
    require_array("y", y, 1, np.int8)
    require_array("rising", rising, 1, np.bool_)
    require(len(f) == len(y) == len(rising), "f, y and rising must have one entry per row")
    least = f[rising & (y > 0)].min(initial=np.inf)
    most = f[rising & (y < 0)].max(initial=-np.inf)
    f -= 0.5 * (least + most) if np.isfinite(least - most) else 0.0
    np.abs(f, out=f)


def shares_of_prices(distances: np.ndarray, rising: np.ndarray, sure: float, least: float, price: float) -> None:
    """Turn distances into shares of the rows' prices: whole from ``sure`` on, in proportion below, but no less than
    ``least``, and of all this ``price``. Rows that do not rise have all of theirs."""
    require_array("distances", distances, 1, np.float64, writeable=True)
    require_array("rising", rising, 1, np.bool_)
    require(len(distances) == len(rising), "distances and rising must have one entry per row")
    distances /= sure
    np.clip(distances, least, 1.0, out=distances)
    distances *= price
    distances[~rising] = 1.0


def carry(
    alpha: np.ndarray,
    cap: np.ndarray,
    ridge: np.ndarray,
    to_cap: np.ndarray,
    to_ridge: np.ndarray,
    rise: bool,
    carried: np.ndarray,
) -> None:
    """Write dual variables to begin with at other prices: where its slack stays, a row's follows its price; without
    ``rise`` none follows it up."""
    parts = {"alpha": alpha, "cap": cap, "ridge": ridge, "to_cap": to_cap, "to_ridge": to_ridge, "carried": carried}
    for name, part in parts.items():
        require_array(name, part, 1, np.float64, writeable=name == "carried")
        require(len(part) == len(alpha), "alpha, caps, ridges and carried must have one entry per row")
    before, after = np.where(ridge > 0, (to_ridge, ridge), (cap, to_cap))
    ratio = np.divide(after, before, out=np.ones_like(before), where=before > 0)
    np.minimum(alpha * (ratio if rise else np.minimum(ratio, 1.0)), to_cap, out=carried)
