"""Simplify a tree for display: drop branches that no record can reach, merge leaves that predict the same.

The model keeps all of it. Only released numbers and public facts are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.models.counts import estimates, not_negative
from privet.models.intervals import Z, noise_variance
from privet.models.number_tree import NumberTree
from privet.models.tree import Floats, Tree
from privet.schema import Numeric
from privet.structure.splits import Multiway

Bools = npt.NDArray[np.bool_]
Fan = tuple[int, list[tuple[int, Bools]]]
"""The attribute of a node, and the codes that lead to each child."""

SAME = 0.005  # shares that differ by less are printed alike, whatever the noise; of numbers, a part of their range


class Branch(NamedTuple):
    """An edge from a node to a child: the test's answers that lead there, several where leaves were merged."""

    child: int
    answers: tuple[int, ...]


class Share(NamedTuple):
    """The share of a label in a leaf, or its number, and its noise variance; ``range`` is that of all leaves."""

    value: float
    variance: float
    range: float = 1.0

    def tells_apart(self, other: Share) -> bool:
        """Whether two shares differ by more than the noise does in 95 of 100 cases."""
        noise = Z * math.sqrt(self.variance + other.variance)
        return abs(self.value - other.value) > max(noise, SAME * self.range)


@dataclass
class Sketch:
    """A tree while it is simplified. Nodes keep their numbers in the model."""

    tree: Tree
    scale: float | None
    counts: Floats  # (node, class) estimates; the sum for a merged node
    draws: Floats  # (node,) draws of noise in them, 0 where unknown
    support: list[float]  # records of each node, 0 where unknown
    label: list[int]
    outcome: Floats  # (node, column) class probabilities, or the number
    deviation: Floats  # (node,) the noise in a number; 0 for classes
    leaves: list[int]  # how many leaves of the model a node stands for if it is a leaf here
    mixed: set[int]  # nodes that stand for leaves with different labels
    branches: dict[int, list[Branch]]
    root: int = 0
    unreached: int = 0  # branches that no record can take

    @classmethod
    def of(cls, tree: Tree, scale: float | None, *, whole: bool) -> Sketch:
        """Start from a tree, without its unreachable branches unless ``whole``."""
        found = np.ones(len(tree), dtype=np.bool_) if whole else reached(tree)
        counts, draws = estimates(tree, found)
        support = np.maximum(np.nan_to_num(counts.sum(axis=1)), 0.0).tolist()
        noise = tree.deviation.copy() if isinstance(tree, NumberTree) else np.zeros(len(tree))
        predicted = tree.label.tolist(), tree.outcome.copy(), noise
        sketch = cls(tree, scale, counts, draws, support, *predicted, [1] * len(tree), set(), {})
        sketch.root = sketch._connect(found, whole)
        return sketch

    def _connect(self, found: Bools, whole: bool) -> int:
        """Fill in the branches, and return the root. A test with a single remaining answer is skipped."""
        shown = list(range(len(self.tree)))
        for node in reversed(shown.copy()):
            if not found[node]:
                continue
            children = self.tree.children(node)
            left = [Branch(shown[child], (number,)) for number, child in enumerate(children) if found[child]]
            self.unreached += len(children) - len(left)
            if len(left) == 1 and not whole:
                shown[node] = left[0].child
            elif left:
                self.branches[node] = left
        return shown[0]

    # -- merging ---------------------------------------------------------------------------------------------------

    def merge(self) -> None:
        """Merge sibling leaves with the same label and shares that the noise does not tell apart."""
        for node in sorted(self.branches, reverse=True):  # children come after their parents
            for alike in self._alike(node):
                if len(alike) == len(self.branches[node]):
                    self.collapse(node)
                else:
                    self._join(node, alike)

    def _alike(self, node: int) -> list[list[Branch]]:
        """Groups of sibling leaves to merge; bins of a number only if adjacent."""
        test = self.tree.test(node)
        attribute = None if test is None else self.tree.schema.attributes[test.attribute]
        cuts = len(attribute.cuts) if isinstance(attribute, Numeric) and isinstance(test, Multiway) else None
        leaves = [branch for branch in self.branches[node] if branch.child not in self.branches]
        if cuts is None:
            leaves.sort(key=lambda branch: -self.support[branch.child])  # the largest are the most accurate
        found: list[list[Branch]] = []
        for leaf in leaves:
            near = found if cuts is None else [group for group in found[-1:] if _adjacent(group[-1], leaf, cuts)]
            group = next((group for group in near if self._agrees(group, leaf)), None)
            if group is None:
                found.append([leaf])
            else:
                group.append(leaf)
        return [sorted(group, key=lambda branch: branch.answers) for group in found if len(group) > 1]

    def _agrees(self, group: Sequence[Branch], leaf: Branch) -> bool:
        """Whether a leaf predicts the same as a group of leaves."""
        if self.label[group[0].child] != self.label[leaf.child]:
            return False
        return not self._share([branch.child for branch in group]).tells_apart(self._share([leaf.child]))

    def _share(self, nodes: Sequence[int]) -> Share:
        label = self.label[nodes[0]]
        if self.tree.schema.predicts_number:
            value, deviation = self._mean(nodes)
            leaves = self.tree.outcome[self.tree.is_leaf]
            return Share(float(value[0]), deviation**2, float(np.ptp(leaves)))
        if np.isnan(self.counts[nodes]).any():
            return Share(float(self.outcome[nodes, label].mean()), 0.0)
        counts = not_negative(self.counts[nodes].sum(axis=0))
        total = float(counts.sum())
        if total <= 0:
            return Share(0.5, math.inf)  # no records, so no difference either
        share = float(counts[label]) / total
        if self.scale is None or (self.draws[nodes] <= 0).any():
            return Share(share, 0.0)
        noise = noise_variance(self.scale) * float(self.draws[nodes].sum())
        return Share(share, noise * ((1 - share) ** 2 + (len(counts) - 1) * share**2) / total**2)

    def _join(self, node: int, alike: Sequence[Branch]) -> None:
        """Merge some branches of a node; the first leaf stands for all."""
        first, children = alike[0].child, [branch.child for branch in alike]
        known = (self.draws[children] > 0).all()
        self._pool(first, children)
        self.counts[first] = self.counts[children].sum(axis=0)
        self.support[first] = max(float(np.nan_to_num(self.counts[first].sum())), 0.0)
        self.draws[first] = self.draws[children].sum() if known else 0.0
        joined = Branch(first, tuple(number for branch in alike for number in branch.answers))
        self.branches[node] = [
            joined if branch == alike[0] else branch for branch in self.branches[node] if branch not in alike[1:]
        ]

    # -- folding ---------------------------------------------------------------------------------------------------

    def fold_small(self, least: float) -> None:
        """Fold branches whose leaves all have fewer than ``least`` records."""
        for node in sorted(self.branches, reverse=True):
            children = self.children(node)
            if self._is_twig(node) and all(self.support[child] < least for child in children):
                self.collapse(node)

    def fold_to(self, most: int) -> None:
        """Fold the smallest nodes above leaves until at most ``most`` leaves remain."""
        parent = {branch.child: node for node, branches in self.branches.items() for branch in branches}
        shown = len(parent) + 1 - len(self.branches)
        twigs = [(self.support[node], -node) for node in self.branches if self._is_twig(node)]
        heapify(twigs)
        while shown > most:
            node = -heappop(twigs)[1]
            shown -= len(self.branches[node]) - 1
            self.collapse(node)
            above = parent.get(node)
            if above is not None and self._is_twig(above):
                heappush(twigs, (self.support[above], -above))

    def collapse(self, node: int) -> None:
        """Turn a node whose children are leaves into a leaf."""
        self._pool(node, self.children(node))
        del self.branches[node]

    def children(self, node: int) -> list[int]:
        return [branch.child for branch in self.branches.get(node, ())]

    def order(self) -> Iterator[tuple[int, int]]:
        """(node, depth) of the remaining nodes, in reading order."""
        stack = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            stack.extend((child, depth + 1) for child in reversed(self.children(node)))

    def ends(self) -> list[int]:
        """The remaining leaves, in reading order."""
        return [node for node, _ in self.order() if node not in self.branches]

    def notes(self, full: int) -> Iterator[str]:
        """Sentences about what is not shown, and why; ``full`` is the number of leaves before folding."""
        gone = self.unreached
        if gone:
            many = (
                "1 branch that no record can take is" if gone == 1 else f"{gone} branches that no record can take are"
            )
            it = "it" if gone == 1 else "them"
            yield f"{many} not shown: the conditions on the way to {it} contradict each other."
        shown = len(self.ends())
        all_leaves = sum(self.leaves[node] for node in self.ends())
        if full < all_leaves:
            yield (
                f"Leaves whose predictions do not differ beyond noise are shown as one: {full} "
                f"{'stands' if full == 1 else 'stand'} for {all_leaves}."
            )
        if shown < full:
            yield f"Small branches are folded: {shown} of {full} leaves {'is' if shown == 1 else 'are'} left."

    def _is_twig(self, node: int) -> bool:
        return not any(child in self.branches for child in self.children(node))

    def _pool(self, node: int, children: Sequence[int]) -> None:
        """Give a node the pooled label and outcome of some leaves, weighted by their records."""
        pooled, noise = self._mean(children)
        labels = {self.label[child] for child in children}
        if len(labels) > 1 or self.mixed.intersection(children):
            self.mixed.add(node)
        self.label[node] = labels.pop() if len(labels) == 1 else int(pooled.argmax())
        self.outcome[node], self.deviation[node] = pooled, noise
        self.leaves[node] = sum(self.leaves[child] for child in children)

    def _mean(self, nodes: Sequence[int]) -> tuple[Floats, float]:
        """The mean outcome of some leaves, weighted by their records, and its noise."""
        records = np.array([self.support[node] for node in nodes])
        weights = records if records.any() else np.array([self.leaves[node] for node in nodes], dtype=float)
        weights = weights / weights.sum()
        return weights @ self.outcome[nodes], float(np.linalg.norm(weights * self.deviation[nodes]))


def _adjacent(one: Branch, other: Branch, cuts: int) -> bool:
    """Whether two bins of a number with so many cuts are neighbours; missing is no bin."""
    return one.answers[-1] + 1 == other.answers[0] <= cuts


# -- reachability: it follows from the tests alone, so it is public ----------------------------------------------------


def walk_admitted(fan: Callable[[int], Fan | None], root: int = 0) -> Iterator[tuple[int, dict[int, Bools]]]:
    """Each node that a record can reach, in reading order, with the codes that its path admits of each attribute.

    The mapping lists attributes in the order of their first test, and changes as the walk goes on.
    """
    admitted: dict[int, Bools] = {}
    stack: list[tuple[int | None, int, Bools | None]] = [(root, -1, None)]
    while stack:
        node, attribute, codes = stack.pop()
        if codes is not None:
            admitted[attribute] = codes
        elif attribute >= 0:
            del admitted[attribute]
        if node is None:  # leaving a test: restore the codes from above it
            continue
        yield node, admitted
        asked = fan(node)
        if asked is None:
            continue
        a, children = asked
        above = admitted.get(a)
        stack.append((None, a, above))
        for child, leads in reversed(children):
            both = leads if above is None else leads & above
            if both.any():
                stack.append((child, a, both))


def reached(tree: Tree) -> Bools:
    """(node,) whether a record can get there, or the conditions of the path contradict each other.

    >>> from privet.schema import Categorical, Numeric, Schema
    >>> from privet.structure.splits import Threshold
    >>> schema = Schema((Numeric("age", 0, 90, bins=3),), Categorical("ill", ("no", "yes")))
    >>> tests = [Threshold(0, 0), Threshold(0, 1), None, None, None]
    >>> reached(Tree.build(schema, tests, [1, 3, -1, -1, -1], [0, 0, 1, 0, 1])).tolist()
    [True, True, True, True, False]
    """
    found = np.zeros(len(tree), dtype=np.bool_)

    def fan(node: int) -> Fan | None:
        test = tree.test(node)
        if test is None:
            return None
        goes: npt.NDArray[Any] = test.branch(np.arange(tree.schema.arities[test.attribute]))
        return test.attribute, [(child, goes == number) for number, child in enumerate(tree.children(node))]

    for node, _ in walk_admitted(fan):
        found[node] = True
    return found
