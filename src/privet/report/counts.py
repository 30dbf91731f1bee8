"""The released counts of a tree, each with the interval in which the true count lies in 95 of 100 cases.

Only the noise is meant, whose size is public. That records are a sample of something larger is no part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privet.privacy.certificate import Certificate, Charge
from privet.privacy.mechanisms import LAPLACE
from privet.scoring.intervals import Estimate, noise_reach
from privet.trees.tree import Tree

MOST = float("inf")


def noise_scale(certificate: Certificate) -> float | None:
    """The scale of the noise in class counts, the largest if there are several; None if the certificate knows none."""
    scales = [charge.scale for charge in certificate.charges if _counts_classes(charge) and charge.scale is not None]
    return float(max(scales)) if scales else None


def _counts_classes(charge: Charge) -> bool:
    return charge.mechanism == LAPLACE and "class counts" in charge.what


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """What a node released: a count for each class and their sum, as intervals where the noise is known."""

    classes: tuple[Estimate, ...]
    total: Estimate
    known: bool
    """Whether the noise is known, and so the intervals."""

    @property
    def hidden(self) -> bool:
        """Whether the node may be empty: the noise alone could have made its count."""
        return self.total.low <= 0 if self.known else self.total.value <= 0


def node_counts(tree: Tree, node: int, scale: float | None) -> NodeCounts | None:
    """The counts of a node, or None if it has none."""
    released, draws = tree.counts[node], int(tree.draws[node])
    if np.isnan(released).any():
        return None
    known = scale is not None and draws > 0
    of_class, of_all = (_reach(scale, draws), _reach(scale, draws * len(released))) if known else (0, 0)
    return NodeCounts(
        tuple(_interval(float(count), of_class) for count in released),
        _interval(float(released.sum()), of_all),
        known,
    )


def _interval(count: float, reach: int) -> Estimate:
    """No true count is below 0. If noise has pushed the whole interval below, 0 is what is left."""
    low, high = Estimate(count, count - reach, count + reach).within(0.0, MOST).low, max(count + reach, 0.0)
    return Estimate(count, low, high)


@lru_cache(maxsize=1024)  # a tree has few different numbers of draws
def _reach(scale: float | None, draws: int) -> int:
    return 0 if scale is None else noise_reach(scale, draws)


def leaves_of(tree: Tree) -> Iterable[int]:
    """The leaves in order of reading."""
    return (node for node, _ in tree.walk() if tree.is_leaf[node])
