"""Access to exact counts, and draws that no proof covers, for published methods that leak. NOT PRIVATE.

Opening an engine puts epsilon = infinity on the ledger, which refuses that unless it allows non-private work. The draws
are here so that all noise has one source, and so that an auditor can run the leaking code too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.engines.opening import gathered
from privet.privacy.counting import Partition
from privet.privacy.dataset import PrivateDataset
from privet.privacy.noise import current_source

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ONE_BY_ONE = 500  # rows; single draws of 0.1 ms add up, so for more rows coins decide for all at once
SURE = 1e4  # an exponent so far ahead leaves the others no chance


def open_engine(data: PrivateDataset, what: str, why: str, *, whole: str = "") -> tuple[Any, Any]:
    """The engine and the cells behind a data set; refused unless its ledger allows it.

    ``whole`` names the part of a method that reads single records, or counts thousands of times: it gets all records in
    memory. If they stay on a cluster it is refused, before anything is recorded.
    """
    engine = gathered(data._engine, whole) if whole else data._engine
    data.charge_nonprivate(what, why)
    return engine, data._cells


def bootstrap(engine: MemoryEngine, cells: Partition) -> MemoryEngine:
    """As many records as the partition has, drawn from it with replacement."""
    inside = np.flatnonzero(engine.places(cells) >= 0)
    return engine.take(inside[current_source().coins(max(inside.size, 1), inside.size)])


def draw_rows(exponents: Floats) -> npt.NDArray[np.intp]:
    """For each row an index, with probability proportional to exp(exponent)."""
    behind = np.maximum(exponents - exponents.max(axis=1, keepdims=True), -SURE)
    source = current_source()
    if len(behind) <= ONE_BY_ONE:
        return np.array([source.exponential(row, 1.0) for row in behind], dtype=np.intp)
    chances = np.cumsum(np.exp(behind), axis=1)
    thrown = source.coins(2**53, len(behind)) / 2**53
    return np.asarray((chances <= thrown[:, None] * chances[:, -1:]).sum(axis=1))


def draw_allowed(exponents: Floats, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """One of the allowed candidates of each row."""
    chosen = [np.flatnonzero(row)[draw_rows(exponents[i : i + 1, row])[0]] for i, row in enumerate(allowed)]
    return np.array(chosen, dtype=np.intp)


def add_noise(values: Ints, scale: float) -> Ints:
    """Integers plus discrete Laplace noise of that scale."""
    return current_source().laplace(values, scale)
