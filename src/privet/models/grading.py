"""Class probabilities of leaves whose label was drawn, from class counts with noise of a known scale.

The label was drawn with most of epsilon and the counts were bought with little. So where a leaf's own counts are mostly
noise, the probability of its label is the accuracy of all leaves together; where even that is mostly noise, it is
halfway between chance and certainty. All of it is arithmetic on released numbers, so it costs no budget.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.models.leaf_counts import TIE, add_up, shrink
from privet.structure.routes import Routes

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.integer[Any]]

PRIOR_STRENGTH = 3.0  # standard deviations of the noise in a count: the weight of the prior, in records


def grade(routes: Routes, counts: Floats, labels: Index, scale: float) -> Floats:
    """(node, class) probabilities of a tree whose leaves were drawn with ``labels``.

    ``counts`` of leaves have Laplace noise of ``scale``. A leaf's prior is its parent's probabilities, with the label
    raised to at least the hit rate of all leaves. The label is the most probable class.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import Multiway, Tests
    >>> schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
    >>> routes = Routes(schema, Tests.of(schema, [Multiway(0), None, None]), [1, -1, -1], [0])
    >>> counts = np.array([[0, 0], [900, 100], [310, 690]])
    >>> [grade(routes, counts, np.array([0, 0, 1]), scale)[1:, 1].round(2).tolist() for scale in (1, 1e9)]
    [[0.1, 0.69], [0.25, 0.75]]
    """
    proba = shrink(routes, add_up(routes, counts), scale, PRIOR_STRENGTH)
    leaves, classes = routes.leaves, counts.shape[1]
    own, label, rows = counts[leaves], labels[leaves], np.arange(leaves.size)
    prior = proba[np.maximum(routes.parent[leaves], 0)]  # the parent of a single leaf is the leaf itself: all records
    right = np.maximum(prior[rows, label], hit_rate(own, label, scale))
    prior[rows, label] = 0.0
    prior *= ((1 - right) / np.maximum(prior.sum(axis=1), TIE))[:, None]  # with one class there are no others
    prior[rows, label] = right
    mixed = np.maximum(own, 0.0) + beside(classes, scale) * prior
    proba[leaves] = mixed / mixed.sum(axis=1, keepdims=True)
    return likeliest(proba, np.where(routes.is_leaf, labels, proba.argmax(axis=1)))


def beside(counts: int, scale: float) -> float:
    """The weight of the prior, in records, beside so many noisy counts."""
    return 1 + PRIOR_STRENGTH * scale * math.sqrt(2 * counts)


def hit_rate(counts: Floats, label: Index, scale: float) -> float:
    """Estimate the share of records that have the label of their leaf; at least chance.

    >>> counts, label = np.array([[90.0, 10.0], [20.0, 80.0]]), np.array([0, 1])
    >>> [round(hit_rate(counts, label, scale), 2) for scale in (0.1, 1e9)]
    [0.85, 0.75]
    """
    chance = 1 / counts.shape[1]
    records = max(float(counts.sum()), 1.0)
    hits = min(max(float(counts[np.arange(label.size), label].sum()), 0.0), records)
    pseudo = beside(label.size, scale)
    return max((hits + pseudo * (1 + chance) / 2) / (records + pseudo), chance)


def likeliest(proba: Floats, label: Index) -> Floats:
    """Raise the label's probability, where needed, until it is the most probable class.

    >>> likeliest(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1])).round(3)
    array([[0.9, 0.1],
           [0.5, 0.5]])
    """
    others, rows = proba.copy(), np.arange(len(label))
    others[rows, label] = 0.0
    raised = proba.copy()
    raised[rows, label] = np.maximum(proba[rows, label], others.max(axis=1) * (1 + TIE))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
