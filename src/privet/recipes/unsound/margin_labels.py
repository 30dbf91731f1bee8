"""Leaf labels by margin, as in Fletcher's Theorem 8.1, which does not hold. NOT PRIVATE."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.questions import Index, Ints
from privet.privacy.counting import class_counts, descend
from privet.privacy.dataset import PrivateDataset
from privet.privacy.noise import current_source
from privet.recipes.unsound.nonprivate import ONE_BY_ONE, draw_rows, open_engine
from privet.structure.routes import Routes


def margin_labels(data: PrivateDataset, routes: Routes, epsilon: Fraction, why: str, *, smooth: bool = True) -> Index:
    """Leaf labels of disjoint trees as in Fletcher's Theorem 8.1: a 0/1 score with a margin-dependent sensitivity.

    Not ``smooth``, the sensitivity is 1 everywhere: the law of ``forests.buy_leaf_labels(..., by_winning=True)``, which
    is sound and draws leaf by leaf.
    """
    engine, cells = open_engine(data, "smooth-forest as published", why)
    data.ledger.charge(epsilon, "leaf labels, as published")
    parts = engine.shards(cells, len(routes), current_source().coins)
    counts = class_counts(engine, descend(parts, routes))
    each = float(epsilon / data.ledger.steps)
    if len(counts) <= ONE_BY_ONE:
        return _draw(counts, each, smooth)
    # Most leaves of deep trees are empty, and every label of such a leaf is as likely.
    labels = current_source().coins(counts.shape[1], len(counts)).astype(np.intp)
    seen = np.flatnonzero(counts.any(axis=1))
    labels[seen] = _draw(counts[seen], each, smooth)
    return labels


def _draw(counts: Ints, epsilon: float, smooth: bool) -> Index:
    """A label for each row of counts."""
    wins = counts == counts.max(axis=1, keepdims=True)
    sensitivity = smooth_sensitivity(margins(counts), epsilon) if smooth else np.ones(len(counts))
    with np.errstate(divide="ignore", over="ignore"):
        sharpness = np.minimum(epsilon / (2 * sensitivity), np.finfo(float).max)
    return draw_rows(np.where(wins, sharpness[:, None], 0.0))


def margins(counts: Ints) -> Ints:
    """The lead of the largest class over the next, per row."""
    top = np.sort(counts, axis=1)
    return np.asarray(top[:, -1] - top[:, -2] if counts.shape[1] > 1 else top[:, -1])


def smooth_sensitivity(margin: npt.NDArray[Any], epsilon: float) -> npt.NDArray[np.float64]:
    """Theorem 8.1's "smooth sensitivity" (Table 8.2). It is not one.

    >>> smooth_sensitivity(np.array([0, 1, 10]), 0.1).round(5)
    array([1.     , 0.90484, 0.36788])
    """
    return np.asarray(np.exp(-np.asarray(margin, dtype=np.float64) * epsilon))
