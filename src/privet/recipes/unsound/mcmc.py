"""Bai et al.'s two searches for a block of levels, as published: exhaustive, and by a Markov chain. NOT PRIVATE.

Both read exact counts from an engine and stop nodes by them, so their results are not differentially private. Nor would
a chain be that is cut off after some steps. They are here to reproduce the paper, and to measure how far its chain is
from the distribution it should have.

The paper leaves some points open. A node that meets the stopping rule is a leaf also inside a block (a full tree of 20
layers would not fit into memory). To "randomly replace one inner node", a node is drawn uniformly, and so is one of the
other attributes that are free above it. Where that attribute was used below, the old one takes its place. If the new
attribute has fewer children, surplus ones are dropped; if it has more, they are grown at random. Where all attributes
have the same number of values and no rule stops a node, this proposal is symmetric and the chain tends to the published
distribution. Elsewhere the Hastings ratio is missing, as in the paper, and the chain tends to another distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import islice, product
from math import exp
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.privacy.counting import bin_counts, only, refine
from privet.privacy.scores import Gini
from privet.structure.splits import Multiway
from privet.tables.encoding import Codes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NONE = -1


class Dice(Protocol):
    """The random generator of a search; numpy's generators fit."""

    def integers(self, low: int, /) -> Any: ...
    def random(self) -> float: ...


Asked = tuple[Any, ...]
"""What a subtree asks, as plain tuples: ``(attribute, (what each child asks, ...))``, or ``()`` for a leaf."""

LEAF: Asked = ()
Path = tuple[int, ...]
"""The children that were taken on the way to a node."""


class OpenLeaf(NamedTuple):
    """A leaf at the full depth of a block, which the next block may grow."""

    path: Path
    cells: Any
    used: frozenset[int]


class Found(NamedTuple):
    """The result of a search in a block."""

    asked: Asked
    open: tuple[OpenLeaf, ...]


@dataclass(frozen=True, slots=True)
class ExactStop:
    """The published stopping rule. It reads true counts: the step from 19 to 20 records can change the tree."""

    min_records: int = 20
    pure: bool = True

    def stops(self, counts: Ints) -> npt.NDArray[np.bool_]:
        """Which of the (cell, class) counts make a leaf."""
        stopped = counts.sum(axis=1) < self.min_records
        return np.asarray(stopped | ((counts > 0).sum(axis=1) <= 1) if self.pure else stopped)


class _Place(NamedTuple):
    """Where a node is in a level: the records of the level by number, the cell of each, and the node's own cell."""

    records: npt.NDArray[np.intp]
    cells: npt.NDArray[np.intp]
    cell: int

    @property
    def own(self) -> npt.NDArray[np.intp]:
        return self.records[self.cells == self.cell]


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node of a subtree, with the state of the chain."""

    attribute: int
    children: tuple[_Node, ...]
    place: _Place
    counts: Ints
    stopped: bool
    score: float
    inner: int

    @property
    def asked(self) -> Asked:
        return (self.attribute, tuple(child.asked for child in self.children)) if self.children else LEAF


@dataclass(frozen=True, eq=False)
class OpenBlock:
    """All subtrees of ``depth`` levels below one cell, whose path has used the attributes ``used``.

    A chain counts thousands of times below nodes that come and go, so it sorts the records of the cell itself.
    """

    engine: MemoryEngine
    cells: Any
    used: frozenset[int]
    depth: int
    rule: ExactStop

    def free(self, used: frozenset[int]) -> tuple[int, ...]:
        return _free(self.engine.schema.arities, used)

    @cached_property
    def codes(self) -> Codes:
        return self.engine.codes(self.cells)

    def found(self, root: _Node) -> Found:
        return Found(root.asked, tuple(self._open(root, (), self.cells, self.used)))

    def _open(self, node: _Node, path: Path, cells: Any, used: frozenset[int]) -> Iterator[OpenLeaf]:
        if node.children:
            below, used = refine(cells, self.engine.schema, [Multiway(node.attribute)]), used | {node.attribute}
            for k, child in enumerate(node.children):
                yield from self._open(child, (*path, k), only(below, k), used)
        elif not node.stopped:
            yield OpenLeaf(path, cells, used)

    # -- subtrees --------------------------------------------------------------------------------------------------

    def build(self, asked: Asked, dice: Dice) -> _Node:
        """The subtree with these attributes, grown at random where none is given and the rule allows it."""
        assert self.codes.labels is not None
        return self._build(asked, np.arange(self.codes.labels.size), self.used, self.depth, dice)

    def _build(
        self, asked: Asked, records: npt.NDArray[np.intp], used: frozenset[int], depth: int, dice: Dice
    ) -> _Node:
        arities = self.engine.schema.arities
        levels: list[_Level] = []
        level, cells = [(asked, used)], np.zeros(records.size, dtype=np.intp)
        counts = self._count(records, cells, 1)
        while True:
            stops = self.rule.stops(counts)
            stopped = [bool(stops[i]) or not self.free(used) for i, (_, used) in enumerate(level)]
            chosen, deeper = [NONE] * len(level), []
            for i, (asked, used) in enumerate(level):
                if not stopped[i] and len(levels) < depth:
                    free = self.free(used)
                    attribute, children = asked or (free[int(dice.integers(len(free)))], ())
                    chosen[i], arity = attribute, arities[attribute]
                    below = (*children, *(LEAF,) * arity)[:arity]
                    deeper += [(child, used | {chosen[i]}) for child in below]
            levels.append(_Level(chosen, records, cells, counts, stopped))
            if not deeper:
                return _assemble(levels, arities)
            level = deeper
            sizes = [0 if a == NONE else arities[a] for a in chosen]
            first, asked_of = np.cumsum(sizes) - sizes, np.array(chosen)[cells]
            inside = asked_of != NONE
            records, cells, asked_of = records[inside], cells[inside], asked_of[inside]
            cells = first[cells] + self.codes.features[asked_of, records]
            counts = self._count(records, cells, len(level))

    def _count(self, records: npt.NDArray[np.intp], cells: npt.NDArray[np.intp], size: int) -> Ints:
        """(cell, class) counts of these records."""
        assert self.codes.labels is not None
        classes = self.engine.schema.n_classes
        places = cells * classes + self.codes.labels[records]
        return np.bincount(places, minlength=size * classes).reshape(size, classes)

    def propose(self, root: _Node, dice: Dice) -> _Node:
        """The subtree with one inner node replaced; itself where no other attribute is free."""
        return self._replace(root, int(dice.integers(root.inner)), self.used, self.depth, dice)

    def _replace(self, node: _Node, number: int, used: frozenset[int], depth: int, dice: Dice) -> _Node:
        if number == 0:
            others = [a for a in self.free(used) if a != node.attribute]
            if not others:
                return node
            asked = _swap(node.asked, node.attribute, others[int(dice.integers(len(others)))])
            return self._build(asked, node.place.own, used, depth, dice)
        number -= 1
        for i, child in enumerate(node.children):
            if number < child.inner:
                new = self._replace(child, number, used | {node.attribute}, depth - 1, dice)
                children = (*node.children[:i], new, *node.children[i + 1 :])
                return _inner(node.attribute, children, node.place, node.counts)
            number -= child.inner
        raise AssertionError("a node has as many inner nodes as it says")

    # -- all of them -----------------------------------------------------------------------------------------------

    def enumerate(self) -> Enumeration:
        """Every subtree of one or two levels with its score, without building any."""
        gini, schema, free = Gini(), self.engine.schema, self.free(self.used)
        here = bin_counts(self.engine, self.cells)[0]
        tables = []
        for a in free:
            children = here[schema.offsets[a] : schema.offsets[a + 1]]
            leaf = gini.node(children)
            options = [([NONE], leaf[v : v + 1]) for v in range(len(leaf))]
            others = [b for b in free if b != a]
            if self.depth == 2 and others:
                below = bin_counts(self.engine, refine(self.cells, self.engine.schema, [Multiway(a)]))
                scores = np.add.reduceat(gini.node(below), schema.offsets[:-1], axis=1)[:, others]
                for v in np.flatnonzero(~self.rule.stops(children)).tolist():
                    options[v] = (others, scores[v])
            tables.append((a, options))
        return Enumeration(schema.arities, tables)


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All subtrees of a block: for each root, the options of each of its children, with the scores."""

    arities: Sequence[int]
    roots: list[tuple[int, list[tuple[list[int], Floats]]]]

    @property
    def scores(self) -> Floats:
        return np.concatenate(
            [np.ravel(reduce(np.add.outer, [scores for _, scores in options])) for _, options in self.roots]
        )

    def __getitem__(self, index: int) -> Asked:
        for root, options in self.roots:
            sizes = [len(attributes) for attributes, _ in options]
            total = int(np.prod(sizes))
            if index < total:
                picked = np.unravel_index(index, sizes)
                below = (attributes[int(i)] for (attributes, _), i in zip(options, picked, strict=True))
                return root, tuple(LEAF if b == NONE else (b, (LEAF,) * self.arities[b]) for b in below)
            index -= total
        raise IndexError("there is no such subtree")

    def probabilities(self, scale: float) -> Floats:
        """Proportional to exp(scale x score)."""
        scores = self.scores
        weights = np.exp(scale * (scores - scores.max()))
        return np.asarray(weights / weights.sum())


def exhaustive_search(block: OpenBlock, scale: float, dice: Dice) -> Found:
    """Algorithm 2: draw a subtree from the list of all, with probability proportional to exp(scale x score)."""
    listed = block.enumerate()
    steps = np.cumsum(listed.probabilities(scale))
    index = int(np.searchsorted(steps, dice.random() * steps[-1], side="right"))
    return block.found(block.build(listed[min(index, len(steps) - 1)], dice))


@dataclass(frozen=True, slots=True)
class Chain:
    """Algorithm 3: Metropolis over subtrees from a random start, until the last ``buffer`` scores hardly vary.

    As printed the loop ends at once, because the variance of an empty buffer is 0. Here the buffer fills first.
    """

    buffer: int
    step_limit: int
    variance_threshold: float

    def run(self, block: OpenBlock, scale: float, dice: Dice, watch: Callable[[float], None] | None = None) -> Found:
        state, scores = block.build(LEAF, dice), np.empty(self.buffer)
        for step in range(self.step_limit):
            scores[step % self.buffer] = state.score
            if watch is not None:
                watch(state.score)
            if step >= self.buffer and scores.var() < self.variance_threshold:
                break
            if state.inner == 0:
                break
            new = block.propose(state, dice)
            if dice.random() < exp(min(0.0, scale * (new.score - state.score))):
                state = new
        return block.found(state)


def all_asked(arities: Sequence[int], depth: int, used: frozenset[int] = frozenset()) -> Iterator[Asked]:
    """Every subtree in which each path uses ``depth`` different attributes; only for small spaces."""
    if depth == 0:
        yield LEAF
        return
    for a, arity in enumerate(arities):
        if a not in used and arity > 1:
            below = list(all_asked(arities, depth - 1, used | {a}))
            yield from ((a, children) for children in product(below, repeat=arity))


class _Level(NamedTuple):
    """A level of a subtree that is being built: what its nodes ask, its records, and what they come to."""

    chosen: list[int]
    records: npt.NDArray[np.intp]
    cells: npt.NDArray[np.intp]
    counts: Ints
    stopped: list[bool]


def _inner(attribute: int, children: tuple[_Node, ...], place: _Place, counts: Ints) -> _Node:
    score, inner = sum(child.score for child in children), 1 + sum(child.inner for child in children)
    return _Node(attribute, children, place, counts, False, score, inner)


def _assemble(levels: list[_Level], arities: Sequence[int]) -> _Node:
    """Nodes from the last level up; the children of a level follow one another in the order of their parents."""
    nodes: list[_Node] = []
    for chosen, records, cells, counts, stopped in reversed(levels):
        below, nodes = iter(nodes), []
        scores = Gini().node(counts).tolist()
        for i, attribute in enumerate(chosen):
            place = _Place(records, cells, i)
            if attribute == NONE:
                nodes.append(_Node(NONE, (), place, counts[i], stopped[i], scores[i], 0))
            else:
                nodes.append(_inner(attribute, tuple(islice(below, arities[attribute])), place, counts[i]))
    return nodes[0]


@lru_cache(maxsize=65_536)
def _free(arities: tuple[int, ...], used: frozenset[int]) -> tuple[int, ...]:
    """The attributes that a path has not used yet."""
    return tuple(a for a, arity in enumerate(arities) if arity > 1 and a not in used)


def _swap(asked: Asked, old: int, new: int) -> Asked:
    """The same subtree with two attributes swapped."""
    if not asked:
        return LEAF
    attribute, children = asked
    return {old: new, new: old}.get(attribute, attribute), tuple(_swap(child, old, new) for child in children)
