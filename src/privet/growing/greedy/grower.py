"""The loop that grows greedy trees, one level at a time: ask, decide, release leaves, choose tests, split."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.candidates import Candidates, Domains
from privet.growing.greedy.choosing import Chooser
from privet.growing.greedy.questions import NO_TEST, Questions
from privet.growing.greedy.stopping import LevelFacts, StoppingRule
from privet.growing.schedules import Schedule, asks_size, level_weight
from privet.models.leaf_counts import Floats, tree_of_counts
from privet.models.tree import Tree
from privet.progress import Progress
from privet.structure.splits import Test

MAX_LEAVES = 65_536  # a public cap: multiway trees can explode


@dataclass(frozen=True, slots=True)
class Plan:
    """The epsilon of each query at each depth; None where the query is not made.

    A path that ends in a leaf at depth k pays ``node[0..k]``, ``choice[0..k-1]`` and ``leaf[k]``.
    """

    node: tuple[Fraction | None, ...]
    choice: tuple[Fraction | None, ...]
    leaf: tuple[Fraction, ...]

    @property
    def depth(self) -> int:
        return len(self.leaf) - 1

    @classmethod
    def shares(
        cls,
        total: Fraction,
        depth: int,
        *,
        node: Fraction | int = 0,
        choice: Fraction | int = 1,
        leaf: Fraction | int = 1,
        ask_last: bool = True,
        schedule: Schedule = "equal",
    ) -> Plan:
        """A plan by weights: a path of full depth spends it all.

        ``node`` is the weight of each node's first query (at full depth, where each node is a leaf, only with
        ``ask_last``). ``choice`` is the weight of choosing a test, ``leaf`` that of a leaf's counts. The ``schedule``
        weighs the levels; with "leaves" a leaf gets all that is left on its path, however early it comes.
        """
        asked = depth + 1 if ask_last else depth
        weights = [level_weight(schedule, d) for d in range(depth + 1)]
        # Where leaves ask nothing, what a node answers first is all that is known of it, so it is always asked.
        first = [d < asked and (asks_size(schedule, d, depth) or not leaf) for d in range(depth + 1)]
        nodes = [node * weight if asks else Fraction(0) for weight, asks in zip(weights, first, strict=True)]
        choices = [choice * weights[d] for d in range(depth)]
        unit = total / (sum(nodes) + sum(choices) + Fraction(leaf))
        left = [total - unit * (sum(nodes[: d + 1]) + sum(choices[:d])) for d in range(depth + 1)]
        return cls(
            node=tuple(unit * weight or None for weight in nodes),
            choice=(*(unit * weight or None for weight in choices), None),
            leaf=tuple(left) if leaf and schedule == "leaves" else (unit * leaf,) * (depth + 1),
        )


@dataclass(frozen=True)
class Growth:
    """The components of a greedy tree learner. Each paper combines its own."""

    plan: Plan
    candidates: Candidates
    chooser: Chooser
    stop: StoppingRule | None = None
    node_question: Literal["size", "classes"] = "size"
    max_leaves: int = MAX_LEAVES
    not_at_root: tuple[int, ...] = ()
    """Attributes that other trees of a forest have at their roots; ignored where nothing else is left."""


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and the node sizes that were released while it grew; NaN where none was released."""

    tree: Tree
    sizes: Floats


def grow(level: Questions, growth: Growth, progress: Progress | None = None) -> Grown:
    """Grow one tree from a level of a single cell, within the plan's budget."""
    schema, plan = level.schema, growth.plan
    # The tree so far, level by level.
    all_tests, all_counts, all_sizes = list[Test | None](), list[Floats](), list[Floats]()
    domains, leaves_done = Domains.whole(schema), 0
    for depth in range(plan.depth + 1):
        cells = np.arange(level.size)
        if depth < plan.depth:
            level.will_choose()
        released = _ask_nodes(level, growth, depth)
        allowed = growth.candidates.allowed(domains)
        if depth == 0 and not np.isin(growth.candidates.tests.attribute[allowed[0]], growth.not_at_root).all():
            allowed &= ~np.isin(growth.candidates.tests.attribute, growth.not_at_root)
        arity = np.where(allowed, growth.candidates.tests.arity, 0).max(axis=1, initial=0)
        splits = (arity > 1) & (depth < plan.depth)
        question = plan.node[depth] or plan.leaf[depth]
        noise = level.noise_scale(question)
        if growth.stop is not None:
            splits &= ~growth.stop.stops(LevelFacts(released, arity, schema.n_classes, noise))
        splits &= _within_cap(arity, splits, growth.max_leaves - leaves_done)

        counts = np.full((level.size, schema.n_classes), np.nan)
        if released is not None and released.ndim == 2:
            counts = released.astype(np.float64)
        leaves = cells[~splits]
        if leaves.size and not (released is not None and released.ndim == 2):
            counts[leaves] = level.class_counts_all(plan.leaf[depth], leaves, what="leaf class counts")
        tests: list[Test | None] = [None] * level.size
        inner = cells[splits]
        if inner.size:
            chosen = growth.chooser.choose(level, inner, growth.candidates, allowed[inner], plan.choice[depth])
            for cell, index in zip(inner, chosen, strict=True):
                tests[cell] = None if index == NO_TEST else growth.candidates.tests[int(index)]
        sizes = np.full(level.size, np.nan)
        if released is not None:
            sizes = (released if released.ndim == 1 else released.sum(axis=1)).astype(np.float64)
        all_tests += tests
        all_counts.append(counts)
        all_sizes.append(sizes)
        leaves_done += sum(test is None for test in tests)
        if progress is not None:
            progress(depth + 1, plan.depth + 1)
        if all(test is None for test in tests):
            break
        level, domains = level.split(tests), domains.split(tests)
    return Grown(tree_of_counts(schema, all_tests, np.concatenate(all_counts)), np.concatenate(all_sizes))


def _ask_nodes(level: Questions, growth: Growth, depth: int) -> npt.NDArray[np.int64] | None:
    epsilon = growth.plan.node[depth]
    if epsilon is None:
        return None
    if growth.node_question == "size":
        return level.count_all(epsilon, what="node sizes")
    return level.class_counts_all(epsilon, what="node class counts")


def _within_cap(arity: npt.NDArray[np.intp], splits: npt.NDArray[np.bool_], room: int) -> npt.NDArray[np.bool_]:
    """Which splits fit under the cap if every cell took its largest test; earlier cells go first. Public facts only."""
    added = np.cumsum(np.where(splits, arity - 1, 0))
    return np.asarray(len(arity) + added <= room)
