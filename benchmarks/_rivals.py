"""What the benchmarks share: a table, its schema, and a rival in an environment of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from privet_experiments.peers.environments import ask_rivals

ATTRIBUTES, VALUES = 14, 20


def table(records: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.integers(0, VALUES, (records, ATTRIBUTES), dtype=np.uint8)
    rule = (X[:, 3] > 9) ^ ((X[:, 7] > 4) & (X[:, 1] < 12))
    return X, (rule ^ (random.random(records) < 0.1)).astype(np.uint8)


def schema():
    from privet import Categorical, Numeric, Schema

    cuts = tuple(v + 0.5 for v in range(VALUES - 1))
    names = [f"a{i}" for i in range(ATTRIBUTES)]
    attributes = tuple(Numeric(name, 0, VALUES - 1, integer=True, thresholds=cuts) for name in names)
    return Schema(attributes, Categorical("class", (0, 1)))


def ask_diffprivlib(script: str, X: np.ndarray, y: np.ndarray) -> Any:
    """What a script prints as JSON that is given the paths of X and y."""
    return ask_rivals("diffprivlib", script, X=X, y=y)
