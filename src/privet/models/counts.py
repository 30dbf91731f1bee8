"""Released counts as people see them: never below 0, adding up from child to parent, and hidden where noise hides them.

All of it is arithmetic on released numbers and on the public size of their noise, so it costs no budget. That records
are a sample of something larger is no part of the intervals. See docs/guide/report.md.
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
COARSE = 20  # from here on a bound is rounded up to tens: nobody reads more into "fewer than 90" than it says
MOST = 1e15  # records: no table has more, and doubles are whole numbers up to here
ALIKE = 1e-6  # relative: a node's counts are the sum of its children's, up to rounding


def noise_scale(certificate: Mapping[str, Any]) -> float | None:
    """The scale of the noise in class counts, the largest if there are several; None if the certificate knows none.

    >>> charge = {"kind": "class counts", "mechanism": "discrete Laplace", "scale": "5/2"}
    >>> noise_scale({"charges": [charge]}), noise_scale({})
    (2.5, None)
    """
    charges = [c for c in certificate.get("charges", ()) if c.get("kind") == ChargeKind.CLASS_COUNTS]
    scales = [float(Fraction(c["scale"])) for c in charges if c.get("mechanism") == LAPLACE and c.get("scale")]
    return max(scales, default=None)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of records as people see it, and the interval in which the true one lies in 95 of 100 cases."""

    value: float
    """Never negative."""
    low: float
    high: float
    known: bool
    """Whether the noise is known, and so the interval."""

    @property
    def hidden(self) -> bool:
        """Whether noise alone could have made it: 0 is in the interval."""
        return self.low <= 0 if self.known else self.value <= 0

    @property
    def below(self) -> int | None:
        """Where noise hides the number: what it is below, rounded up. 0 stands for about 0."""
        if not self.hidden:
            return None
        if not self.known or self.high < 1:
            return 0
        bound = math.floor(self.high) + 1
        return bound if bound <= COARSE else _rounded_up(bound)

    def words(self, comma: str = "") -> str:
        """The number, or as much of it as noise does not hide; ``comma`` parts the thousands.

        >>> [Count(1917, 1886, 1948, True).words(","), Count(25, 0, 87, True).words(), Count(0, 0, 0, True).words()]
        ['1,917', 'fewer than 90', 'about 0']
        """
        return count_words(self.value, self.below, comma)

    @property
    def short(self) -> str:
        """The words for a narrow column."""
        return self.words(",").replace("fewer than", "<").replace("about", "≈")

    @property
    def interval(self) -> str:
        """Empty where there is none to add to the words."""
        return f"{self.low:,.0f} to {self.high:,.0f}" if self.known and not self.hidden else ""


def count_words(value: float, below: float | None, comma: str = "") -> str:
    """A number that noise may hide, in words."""
    if below is None:
        return f"{value:,.0f}".replace(",", comma)
    return "about 0" if below <= 0 else f"fewer than {below:,.0f}".replace(",", comma)


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """What is shown of a node: a count for each class and, as their sum, all of its records."""

    classes: tuple[Count, ...]
    total: Count

    def share(self, label: int) -> float | None:
        """The part of the records that have a label; None if there are none."""
        return self.classes[label].value / self.total.value if self.total.value > 0 else None


class Estimates(NamedTuple):
    """What is known of the counts of each node when all that was released is taken together."""

    counts: Floats  # (node, class), NaN where nothing is known; noise may have made them negative
    draws: Floats  # (node,) how many draws of noise are in each of them; 0 where that is not known


def estimates(tree: Tree, reached: Bools | None = None) -> Estimates:
    """Least squares: the numbers nearest to all released counts that add up from child to parent.

    Where counts were bought in leaves only, those stay as they are, and a node above has their sum. Where a node has
    bought counts of its own, they and the sum of its children's are averaged by how noisy they are, and what that
    changes is handed down to its children (Hay et al., VLDB 2010, for trees of any shape). A branch outside ``reached``
    holds no record, so what was released there is not added up.

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
        if not weight or np.isnan(total).any():  # nobody can get there, or not all children are known
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
        if spread[node] < weight:  # else nothing is known of the node but what its children say
            part = weights[children] / weight
            counts[children] += part[:, None] * (counts[node] - total)
            spread[children] += part**2 * (spread[node] - weight)
    return Estimates(counts, np.where(draws > 0, spread, 0.0))


@dataclass(frozen=True, eq=False, slots=True)
class ShownCounts:
    """The counts of nodes that are shown together. As columns: forests have hundreds of thousands of nodes.

    Numbers add up from child to parent. Nor do intervals contradict each other: a node has no fewer records than any of
    its children, and a child no more than its parent.
    """

    row: Mapping[int, int]
    value: Floats  # (row, class), all records last; NaN where nothing is known
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
        """Of the nodes of ``order``, which has parents before their children."""
        row = {node: place for place, node in enumerate(order)}
        families = [(row[node], [row[child] for child in children(node)]) for node in order]
        counts, draws = found.counts[list(order)], found.draws[list(order)]
        value = _with_sum(_values(families, counts))
        known = draws > 0 if scale is not None else np.zeros(len(order), dtype=np.bool_)
        reach = np.array([_reaches(scale, draws, counts.shape[1]) for draws in np.where(known, draws, 0.0).tolist()])
        counted = _with_sum(counts)
        # No true count is below 0. If noise has pushed the whole interval below, 0 is what is left.
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
        """None where nothing is known of a node."""
        place = self.row[node]
        columns = self.value[place].tolist(), self.low[place].tolist(), self.high[place].tolist()
        if math.isnan(columns[0][-1]):
            return None
        known = bool(self.known[place])
        *classes, total = (Count(value, low, high, known) for value, low, high in zip(*columns, strict=True))
        return NodeCounts(tuple(classes), total)


def not_negative(counts: Floats) -> Floats:
    """The numbers nearest to class counts that have the same sum (0 if that is negative) and are not negative.

    >>> not_negative(np.array([70.0, -4.0, 6.0])), not_negative(np.array([25.0, -63.0]))
    (array([68.,  0.,  4.]), array([0., 0.]))
    """
    total = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0)
    largest = -np.sort(-counts, axis=-1)
    excess = (np.cumsum(largest, axis=-1) - total) / np.arange(1, counts.shape[-1] + 1)
    kept = np.maximum((largest > excess).sum(axis=-1, keepdims=True), 1)  # so many stay above 0
    return np.where(total > 0, np.maximum(counts - np.take_along_axis(excess, kept - 1, axis=-1), 0.0), 0.0 * total)


def _values(families: Sequence[tuple[int, Sequence[int]]], counts: Floats) -> Floats:
    """The numbers of the nodes: not negative in leaves, and sums of their children's above them.

    Where a child's numbers are not known, a node has at least those of the rest.
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
    """How far noise moves the count of each class, and of all records."""
    if scale is None or draws <= 0:
        return (0,) * (classes + 1)
    return (noise_reach(scale, draws),) * classes + (noise_reach(scale, draws * classes),)


def _adds_up(tree: Tree, counts: Floats) -> Bools:
    """(node,) whether the counts of a node are those of its children together."""
    total = np.zeros_like(counts)
    np.add.at(total, tree.routes.parent[1:], counts[1:])
    return np.asarray((np.abs(counts - total) <= ALIKE * (1 + np.abs(total))).all(axis=1) & ~tree.is_leaf)


def _rounded_up(bound: int) -> int:
    """To two digits that matter, and to tens at least."""
    step = max(10, 10 ** (len(str(bound)) - 2))
    return -(-bound // step) * step
