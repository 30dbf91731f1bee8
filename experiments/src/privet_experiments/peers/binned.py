"""What peers share that read a table as bins: the code of a few lines, for an environment of their own."""

from __future__ import annotations

DELTA = 1e-6
BINNED = f"""
DELTA, BINS = {DELTA}, 16
low, high = bounds
sizes = np.where(nominal, high - low + 1, BINS).astype(np.int64)
def binned(X):
    share = (X - low) / np.maximum(high - low, 1e-300)
    return np.where(nominal, X - low, np.minimum(share * BINS, BINS - 1)).astype(np.int64)
"""
