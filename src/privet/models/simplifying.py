"""How a tree becomes smaller before it is shown: branches that nothing reaches go, leaves that say the same become one.

The model keeps all of it. Everything here is computed from released numbers and from public facts.
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
from privet.models.tree import Floats, Tree
from privet.schema import Numeric
from privet.structure.splits import Multiway

Bools = npt.NDArray[np.bool_]
Fan = tuple[int, list[tuple[int, Bools]]]
"""What a node asks for, and the codes that lead to each child."""

SAME = 0.005  # shares that differ by less are printed alike, whatever the noise


class Branch(NamedTuple):
    """What leads from a node to a child: the numbers of the test's answers, several where leaves became one."""

    child: int
    answers: tuple[int, ...]


class Share(NamedTuple):
    """The share of a label in a leaf, and the variance that noise gives it."""

    value: float
    variance: float

    def tells_apart(self, other: Share) -> bool:
        """Whether two shares differ by more than noise makes them in 95 of 100 cases."""
        noise = Z * math.sqrt(self.variance + other.variance)
        return abs(self.value - other.value) > max(noise, SAME)


@dataclass
class Sketch:
    """A tree that is being simplified. Nodes keep the numbers that they have in the model."""

    tree: Tree
    scale: float | None
    counts: Floats  # (node, class) estimates; of a node that stands for several, their sum
    draws: Floats  # (node,) draws of noise in them, 0 where that is not known
    support: list[float]  # records of each node, 0 where they are not known
    label: list[int]
    proba: Floats
    leaves: list[int]  # how many leaves of the model a node stands for, once it is a leaf itself
    mixed: set[int]  # nodes that stand for leaves of different labels
    branches: dict[int, list[Branch]]
    root: int = 0
    unreached: int = 0  # branches that no record can take

    @classmethod
    def of(cls, tree: Tree, scale: float | None, *, whole: bool) -> Sketch:
        """The tree as it is or, unless it is to be ``whole``, without the branches that no record can reach."""
        found = np.ones(len(tree), dtype=np.bool_) if whole else reached(tree)
        counts, draws = estimates(tree, found)
        support = np.maximum(np.nan_to_num(counts.sum(axis=1)), 0.0).tolist()
        text = tree.label.tolist(), tree.proba.copy()
        sketch = cls(tree, scale, counts, draws, support, *text, [1] * len(tree), set(), {})
        sketch.root = sketch._connect(found, whole)
        return sketch

    def _connect(self, found: Bools, whole: bool) -> int:
        """Fill in the branches, and return the root: a test with a single answer left is not shown."""
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

    # -- leaves that say the same ----------------------------------------------------------------------------------

    def merge(self) -> None:
        """Make one of sibling leaves that say the same: the same label, and shares that noise does not tell apart."""
        for node in sorted(self.branches, reverse=True):  # children come after their parents
            for alike in self._alike(node):
                if len(alike) == len(self.branches[node]):
                    self.collapse(node)
                else:
                    self._join(node, alike)

    def _alike(self, node: int) -> list[list[Branch]]:
        """The branches to sibling leaves that say the same; bins of a number only if no other lies between them."""
        test = self.tree.test(node)
        attribute = None if test is None else self.tree.schema.attributes[test.attribute]
        cuts = len(attribute.cuts) if isinstance(attribute, Numeric) and isinstance(test, Multiway) else None
        leaves = [branch for branch in self.branches[node] if branch.child not in self.branches]
        if cuts is None:
            leaves.sort(key=lambda branch: -self.support[branch.child])  # the largest know best
        found: list[list[Branch]] = []
        for leaf in leaves:
            near = found if cuts is None else [group for group in found[-1:] if _adjacent(group[-1], leaf, cuts)]
            group = next((group for group in near if self._says_what(group, leaf)), None)
            if group is None:
                found.append([leaf])
            else:
                group.append(leaf)
        return [sorted(group, key=lambda branch: branch.answers) for group in found if len(group) > 1]

    def _says_what(self, group: Sequence[Branch], leaf: Branch) -> bool:
        """Whether a leaf says what a group of leaves says."""
        if self.label[group[0].child] != self.label[leaf.child]:
            return False
        return not self._share([branch.child for branch in group]).tells_apart(self._share([leaf.child]))

    def _share(self, nodes: Sequence[int]) -> Share:
        label = self.label[nodes[0]]
        if np.isnan(self.counts[nodes]).any():
            return Share(float(self.proba[nodes, label].mean()), 0.0)
        counts = not_negative(self.counts[nodes].sum(axis=0))
        total = float(counts.sum())
        if total <= 0:
            return Share(0.5, math.inf)  # nothing can be told from nobody
        share = float(counts[label]) / total
        if self.scale is None or (self.draws[nodes] <= 0).any():
            return Share(share, 0.0)
        noise = noise_variance(self.scale) * float(self.draws[nodes].sum())
        return Share(share, noise * ((1 - share) ** 2 + (len(counts) - 1) * share**2) / total**2)

    def _join(self, node: int, alike: Sequence[Branch]) -> None:
        """Make one branch of some; the first of their leaves stands for all."""
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

    # -- fewer leaves ----------------------------------------------------------------------------------------------

    def fold_small(self, least: float) -> None:
        """Open no branch below which every leaf has fewer records than that."""
        for node in sorted(self.branches, reverse=True):
            children = self.children(node)
            if self._is_twig(node) and all(self.support[child] < least for child in children):
                self.collapse(node)

    def fold_to(self, most: int) -> None:
        """Fold the twigs with the fewest records until there are at most so many leaves."""
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
        """A node whose children are leaves becomes one."""
        self._pool(node, self.children(node))
        del self.branches[node]

    def children(self, node: int) -> list[int]:
        return [branch.child for branch in self.branches.get(node, ())]

    def order(self) -> Iterator[tuple[int, int]]:
        """(node, depth) of all that is left, in order of reading."""
        stack = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            stack.extend((child, depth + 1) for child in reversed(self.children(node)))

    def ends(self) -> list[int]:
        """The leaves of what is left, in order of reading."""
        return [node for node, _ in self.order() if node not in self.branches]

    def notes(self, full: int) -> Iterator[str]:
        """Sentences that say what is not shown, and why; ``full`` leaves there were before any were folded."""
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
                f"Leaves that say the same, as far as noise lets one tell, are shown as one: {full} "
                f"{'stands' if full == 1 else 'stand'} for {all_leaves}."
            )
        if shown < full:
            yield f"Small branches are folded: {shown} of {full} leaves {'is' if shown == 1 else 'are'} left."

    def _is_twig(self, node: int) -> bool:
        return not any(child in self.branches for child in self.children(node))

    def _pool(self, node: int, children: Sequence[int]) -> None:
        """What some leaves say together: each counts as much as it has records."""
        records = np.array([self.support[child] for child in children])
        weights = records if records.any() else np.array([self.leaves[child] for child in children], dtype=float)
        pooled = weights @ self.proba[children] / weights.sum()
        labels = {self.label[child] for child in children}
        if len(labels) > 1 or self.mixed.intersection(children):
            self.mixed.add(node)
        self.label[node] = labels.pop() if len(labels) == 1 else int(pooled.argmax())
        self.proba[node], self.leaves[node] = pooled, sum(self.leaves[child] for child in children)


def _adjacent(one: Branch, other: Branch, cuts: int) -> bool:
    """Whether two bins of a number with so many cuts are neighbours; missing is no bin."""
    return one.answers[-1] + 1 == other.answers[0] <= cuts


# -- what can be reached: it follows from the tests alone, so it is public ---------------------------------------------


def walk_admitted(fan: Callable[[int], Fan | None], root: int = 0) -> Iterator[tuple[int, dict[int, Bools]]]:
    """Each node that a record can reach, in order of reading, with the codes that its path admits of each attribute.

    The mapping has the attributes in the order in which they are asked for, and changes as the walk goes on.
    """
    admitted: dict[int, Bools] = {}
    stack: list[tuple[int | None, int, Bools | None]] = [(root, -1, None)]
    while stack:
        node, attribute, codes = stack.pop()
        if codes is not None:
            admitted[attribute] = codes
        elif attribute >= 0:
            del admitted[attribute]
        if node is None:  # all below a test was met: what held above it holds again
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
    """(node,) whether a record can get there. Elsewhere the conditions of the path contradict each other.

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
