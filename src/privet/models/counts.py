"""Released counts for display: never negative, adding up from child to parent, and hidden where noise hides them.

All of it is arithmetic on released numbers and the public noise scale, so it costs no budget. The intervals cover the
noise only, not that the records are a sample. See docs/guide/report.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.kinds import ChargeKind
from privet.models.intervals import noise_reach
from privet.models.tree import Floats, Tree

Bools = npt.NDArray[np.bool_]

LAPLACE = "discrete Laplace"  # as certificates name the mechanism; a test compares it with the kernel's
SCALES = {LAPLACE: 1.0, "discrete Gaussian": math.sqrt(0.5)}  # of Laplace noise with the same standard deviation
COARSE = 20  # larger bounds are rounded up to tens: "fewer than 90" is as exact as it needs to be
MOST = 1e15  # records: no table has more, and doubles hold all whole numbers up to here
ALIKE = 1e-6  # relative tolerance for "a node's counts are the sum of its children's"


def noise_scale(certificate: Mapping[str, Any]) -> float | None:
    """The noise scale of the class counts, the largest of several; None if the certificate has none.

    For Gaussian noise it is that of Laplace noise with the same standard deviation, whose intervals are a little wider.

    >>> charge = {"kind": "class counts", "mechanism": "discrete Laplace", "scale": "5/2"}
    >>> noise_scale({"charges": [charge]}), noise_scale({})
    (2.5, None)
    """
    charges = [c for c in certificate.get("charges", ()) if c.get("kind") == ChargeKind.CLASS_COUNTS]
    known = [c for c in charges if c.get("mechanism") in SCALES and c.get("scale")]
    return max((SCALES[c["mechanism"]] * float(Fraction(c["scale"])) for c in known), default=None)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of records for display, with its 95 % interval."""

    value: float
    """Never negative."""
    low: float
    high: float
    known: bool
    """Whether the noise scale, and so the interval, is known."""

    @property
    def hidden(self) -> bool:
        """Whether noise alone could have made it: the interval contains 0."""
        return self.low <= 0 if self.known else self.value <= 0

    @property
    def below(self) -> int | None:
        """The upper bound of a hidden count, rounded up; 0 stands for about 0. None if the count is not hidden."""
        if not self.hidden:
            return None
        if not self.known or self.high < 1:
            return 0
        bound = math.floor(self.high) + 1
        return bound if bound <= COARSE else _rounded_up(bound)

    def words(self, comma: str = "") -> str:
        """The number, or its bound where noise hides it; ``comma`` separates thousands.

        >>> [Count(1917, 1886, 1948, True).words(","), Count(25, 0, 87, True).words(), Count(0, 0, 0, True).words()]
        ['1,917', 'fewer than 90', 'about 0']
        """
        return count_words(self.value, self.below, comma)

    @property
    def short(self) -> str:
        """The same for a narrow column."""
        return self.words(",").replace("fewer than", "<").replace("about", "≈")

    @property
    def interval(self) -> str:
        """The interval in words; empty if it is unknown or the count is hidden."""
        return f"{self.low:,.0f} to {self.high:,.0f}" if self.known and not self.hidden else ""


def count_words(value: float, below: float | None, comma: str = "") -> str:
    """A number that noise may hide, in words."""
    if below is None:
        return f"{value:,.0f}".replace(",", comma)
    return "about 0" if below <= 0 else f"fewer than {below:,.0f}".replace(",", comma)


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """The displayed counts of a node: one for each class, and their sum."""

    classes: tuple[Count, ...]
    total: Count

    def share(self, label: int) -> float | None:
        """The share of a label among the records; None if there are none."""
        return self.classes[label].value / self.total.value if self.total.value > 0 else None


class Estimates(NamedTuple):
    """Estimated class counts of each node from all released counts."""

    counts: Floats  # (node, class), NaN where unknown; may be negative
    draws: Floats  # (node,) draws of noise in each count; 0 where unknown


def estimates(tree: Tree, reached: Bools | None = None) -> Estimates:
    """Fit, by least squares, the counts nearest to all released ones that add up from child to parent.

    Where only leaves have released counts, these stay and a node above has their sum. A node with released counts of
    its own averages them with its children's sum, weighted by their noise, and passes the change down to its children
    (Hay et al., VLDB 2010, for trees of any shape). Branches outside ``reached`` hold no record and are not added up.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import Multiway
    >>> schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
    >>> counts, draws = np.array([[100.0, 30.0], [60, 10], [28, 8]]), np.ones(3)
    >>> tree = Tree.build(schema, [Multiway(0), None, None], [1, -1, -1], [0, 0, 0], counts=counts, draws=draws)
    >>> estimates(tree).counts
    array([[96., 26.],
           [64., 14.],
           [32., 12.]])
    """
    counts, draws = tree.counts.clip(-MOST, MOST), tree.draws.astype(np.float64)
    bought = np.asarray(~np.isnan(counts).any(axis=1))
    weights = np.where(draws > 0, draws, 1.0)
    draws[~bought] = 0.0
    own = bought & ~_adds_up(tree, counts)
    sums: dict[int, tuple[Any, Floats, float]] = {}
    for node in reversed(np.flatnonzero(~tree.is_leaf).tolist()):  # children come after their parents
        family = tree.children(node)
        children: Any = slice(family.start, family.stop)  # much faster than a list
        if reached is not None and not reached[children].all():
            children = [child for child in family if reached[child]]
        total, weight = counts[children].sum(axis=0), float(weights[children].sum())
        if not weight or np.isnan(total).any():  # no child can be reached, or some are unknown
            continue
        sums[node] = children, total, weight
        if own[node]:
            mine = weights[node]
            counts[node] = (counts[node] * weight + total * mine) / (weight + mine)
            weights[node] = mine * weight / (weight + mine)
        else:
            counts[node], weights[node] = total, weight
            draws[node] = weight if (draws[children] > 0).all() else 0.0
    spread = weights.copy()
    for node, (children, total, weight) in reversed(sums.items()):
        if spread[node] < weight:  # else nothing is known beyond the sum of the children
            part = weights[children] / weight
            counts[children] += part[:, None] * (counts[node] - total)
            spread[children] += part**2 * (spread[node] - weight)
    return Estimates(counts, np.where(draws > 0, spread, 0.0))


@dataclass(frozen=True, eq=False, slots=True)
class ShownCounts:
    """The displayed counts of some nodes, as columns: forests have hundreds of thousands of nodes.

    Counts add up from child to parent, and intervals agree: a node has no fewer records than any of its children, and a
    child no more than its parent.
    """

    row: Mapping[int, int]
    value: Floats  # (row, class), all records last; NaN where unknown
    low: Floats
    high: Floats
    known: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        order: Sequence[int],
        children: Callable[[int], Sequence[int]],
        found: Estimates,
        scale: float | None,
    ) -> ShownCounts:
        """Compute the counts of the nodes in ``order``, parents before children."""
        row = {node: place for place, node in enumerate(order)}
        families = [(row[node], [row[child] for child in children(node)]) for node in order]
        counts, draws = found.counts[list(order)], found.draws[list(order)]
        value = _with_sum(_values(families, counts))
        known = draws > 0 if scale is not None else np.zeros(len(order), dtype=np.bool_)
        reach = np.array([_reaches(scale, draws, counts.shape[1]) for draws in np.where(known, draws, 0.0).tolist()])
        counted = _with_sum(counts)
        # No true count is negative: an interval that noise has pushed below 0 becomes 0.
        low, high = np.minimum(np.maximum(counted - reach, 0.0), value), np.maximum(counted + reach, value)
        high[np.isnan(counted)] = np.nan
        for place, below in reversed(families):
            for child in below:
                if known[place] and known[child]:
                    np.maximum(low[place], low[child], out=low[place])
        for place, below in families:
            for child in below:
                if known[place] and known[child]:
                    np.minimum(high[child], high[place], out=high[child])
        return cls(row, value, low, high, known)

    def __getitem__(self, node: int) -> NodeCounts | None:
        """The counts of a node; None where nothing is known."""
        place = self.row[node]
        columns = self.value[place].tolist(), self.low[place].tolist(), self.high[place].tolist()
        if math.isnan(columns[0][-1]):
            return None
        known = bool(self.known[place])
        *classes, total = (Count(value, low, high, known) for value, low, high in zip(*columns, strict=True))
        return NodeCounts(tuple(classes), total)


def not_negative(counts: Floats) -> Floats:
    """Project class counts onto the nearest non-negative ones with the same sum (0 if that is negative).

    >>> not_negative(np.array([70.0, -4.0, 6.0])), not_negative(np.array([25.0, -63.0]))
    (array([68.,  0.,  4.]), array([0., 0.]))
    """
    total = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0)
    largest = -np.sort(-counts, axis=-1)
    excess = (np.cumsum(largest, axis=-1) - total) / np.arange(1, counts.shape[-1] + 1)
    kept = np.maximum((largest > excess).sum(axis=-1, keepdims=True), 1)  # the number of classes that stay above 0
    return np.where(total > 0, np.maximum(counts - np.take_along_axis(excess, kept - 1, axis=-1), 0.0), 0.0 * total)


def _values(families: Sequence[tuple[int, Sequence[int]]], counts: Floats) -> Floats:
    """The values of nodes: non-negative in leaves, and sums of their children above.

    Where a child is unknown, a node has at least the sum of the others.
    """
    values = not_negative(counts)
    for place, below in reversed(families):
        if below:
            total = values[below].sum(axis=0)
            values[place] = np.maximum(values[place], np.nansum(values[below], axis=0)) if np.isnan(total[0]) else total
    return values


def _with_sum(counts: Floats) -> Floats:
    return np.hstack([counts, counts.sum(axis=1, keepdims=True)])


@lru_cache(maxsize=1024)  # a tree has few different numbers of draws
def _reaches(scale: float | None, draws: float, classes: int) -> tuple[int, ...]:
    """The reach of the noise in the count of each class, and in their sum."""
    if scale is None or draws <= 0:
        return (0,) * (classes + 1)
    return (noise_reach(scale, draws),) * classes + (noise_reach(scale, draws * classes),)


def _adds_up(tree: Tree, counts: Floats) -> Bools:
    """(node,) whether a node's counts are the sum of its children's."""
    total = np.zeros_like(counts)
    np.add.at(total, tree.routes.parent[1:], counts[1:])
    return np.asarray((np.abs(counts - total) <= ALIKE * (1 + np.abs(total))).all(axis=1) & ~tree.is_leaf)


def _rounded_up(bound: int) -> int:
    """Round up to two significant digits, and at least to tens."""
    step = max(10, 10 ** (len(str(bound)) - 2))
    return -(-bound // step) * step
