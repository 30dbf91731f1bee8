"""The engine protocol: how the kernel gets exact numbers from where the records are.

A partition of the records is a *public program*: refine by tests, go down trees, keep one cell, toss coins.
It holds no record, so it can be sent anywhere, and an engine replays it on its records. A question names a partition
and what to count in it; an engine answers many questions in one pass. In a private fit only the kernel asks
(``dataset.py``, ``level.py``, ``samplers/``), and it hands the exact numbers to a mechanism. Code that is marked NOT
PRIVATE asks too (``recipes/unsound``, the references), and so do checks and experiments on public tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema, Unit
from privet.structure.comparisons import LABEL
from privet.structure.evidence import Evidence
from privet.structure.fit_losses import LOG_LOSS, FitLoss
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests
from privet.structure.terms import Term

Ints = npt.NDArray[np.int64]
Coins = Callable[[int, int], Ints]
"""``coins(sides, size)``: one throw for each record."""


# ---- partitions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Refine:
    """Split each cell by its test, children in order; a cell whose row has attribute -1 leaves the partition."""

    tests: Tests


@dataclass(frozen=True, eq=False, slots=True)
class Descend:
    """Send each cell down its tree; the leaves of all trees, in order, are the new cells."""

    routes: Routes


@dataclass(frozen=True, slots=True)
class Only:
    """Keep one cell."""

    cell: int


@dataclass(frozen=True, slots=True)
class Shards:
    """Split a single cell by coins. The engine threw them before and keeps them with its records, under this number."""

    coins: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """Split each cell by a public table: the child of each code of an attribute (-1: of the label), -1 to leave."""

    attribute: int
    children: tuple[int, ...]
    parts: int


Step = Refine | Descend | Only | Shards | Lookup


@dataclass(frozen=True, slots=True)
class Partition:
    """A public partition of (some of) the records: the steps that lead to it. Compared by identity of the steps."""

    steps: tuple[Step, ...] = ()
    size: int = 1

    def then(self, step: Step, size: int) -> Partition:
        return Partition((*self.steps, step), size)


ROOT = Partition()
"""All records in one cell."""


def refine(cells: Partition, schema: Schema, tests: Sequence[Test | None]) -> Partition:
    """Split each cell by its test; a cell without a test is left out."""
    table = Tests.of(schema, tests)
    return cells.then(Refine(table), int(table.arity.sum()))


def descend(cells: Partition, routes: Routes) -> Partition:
    """Send each cell down its public tree."""
    return cells.then(Descend(routes), len(routes.leaves))


def only(cells: Partition, cell: int) -> Partition:
    """One cell of a partition, as a partition of its own."""
    return cells.then(Only(cell), 1)


def look_up(cells: Partition, schema: Schema, attribute: int, children: Sequence[int]) -> Partition:
    """Split each cell by the code of an attribute, or of the label: ``children[code]`` is the part, -1 for none."""
    table = tuple(int(child) for child in children)
    if len(table) != (schema.n_classes if attribute == LABEL else schema.arities[attribute]) or min(table) < -1:
        raise ParameterError("a table of codes must have a part for each code, or -1")
    parts = max(table) + 1
    return cells.then(Lookup(attribute, table, parts), cells.size * parts)


# ---- questions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """(cell, bin, class) counts. A tuple of attributes has a bin for every combination of their codes, the last code
    running fastest; the bins of all ``tuples`` follow one another. The empty tuple has one bin: the class counts.
    """

    cells: Partition
    tuples: tuple[tuple[int, ...], ...] = ((),)

    def offsets(self, schema: Schema) -> Ints:
        """Where the bins of each tuple begin, and where the last ends."""
        sizes = [int(np.prod([schema.arities[a] for a in names], dtype=np.int64)) for names in self.tuples]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class LevelSum:
    """(cell,) sums of a numeric attribute's quantised values."""

    cells: Partition
    attribute: int


@dataclass(frozen=True, slots=True)
class LossSums:
    """(cell, weight) sums of the log-loss of what public trees say, in steps: each record's is from 0 to ``most``."""

    cells: Partition
    evidence: Evidence


@dataclass(frozen=True, eq=False)
class FitSums:
    """What one step of a convex fit needs: (bin, column, limb) sums of residuals at a public point.

    Every record has a bin in each of ``terms`` and scores ``offset`` plus what ``tables`` say of its bins. With one
    column that is the score of the second of two classes, with more there is one for each class. ``loss`` makes
    probabilities of scores less the margin of the record's own class. Its residual is the probability of a class less
    whether it is the record's own, times the public weight of that class, rounded to a multiple of 2**-50. Asked are
    the sums by bin, in the ``free`` first terms; the others are part of the score only. A sum is ``limb 0 * 2**30 +
    limb 1``: it can have more than 64 bits. Sums of chunks are added limb by limb.
    """

    cells: Partition
    terms: tuple[Term, ...]
    tables: tuple[npt.NDArray[np.float64], ...]
    offset: npt.NDArray[np.float64]
    class_weights: npt.NDArray[np.float64]
    free: int
    loss: FitLoss = LOG_LOSS

    @property
    def columns(self) -> int:
        return len(self.offset)


class FitCurvature(FitSums):
    """At the same point, (cell, cell) sums of the weights of both cells times p(1 - p), in the free terms.

    Only where ``row <= column``; with more than two classes, half the sum of p(1 - p) over them. In multiples of
    2**-30, each product rounded down: good enough to say where to go next, and no more is asked of it.
    """


RESIDUAL_BITS = 50  # a residual is a whole number of 2**-50: below the rounding errors of the probability itself
LOW_BITS = 30  # of the low limb; up to 2**32 records, neither limb overflows
CURVATURE_BITS = 30  # a quarter of 2**30 for each of 2**32 records still fits into 64 bits


def carried(limbs: Ints) -> Ints:
    """Limbs added up from chunks, in their one canonical form: the low limb below 2**30."""
    high, low = limbs[..., 0], limbs[..., 1]
    return np.stack([high + (low >> LOW_BITS), low & (2**LOW_BITS - 1)], axis=-1)


def whole(limbs: Ints) -> npt.NDArray[np.object_]:
    """The sums that limbs stand for, as Python's integers, in units of 2**-50."""
    parts = limbs.astype(object)
    return np.asarray(parts[..., 0] * 2**LOW_BITS + parts[..., 1])


Question = Tally | LevelSum | FitSums | LossSums


class Joint(Protocol):
    """Exact joint counts of binary tests in one cell; ``met[t]`` is the child of test t that counts as met."""

    @property
    def class_counts(self) -> Ints: ...

    @property
    def singles(self) -> Ints:
        """(class, test) records that meet a test."""

    @property
    def met(self) -> Ints: ...

    def pairs(self, prefixes: Ints) -> npt.NDArray[Any]:
        """(prefix, test, class, test) records that meet all tests of a prefix and both others, in 32 or 64 bits.

        Prefixes are sorted, of one size. Only the rows of tests beyond the last of a prefix are told.
        """


class Engine(Protocol):
    """Where the records are and how they are counted."""

    @property
    def schema(self) -> Schema: ...

    @property
    def unit(self) -> Unit | None:
        """Of which each has at most its rows here; it must be the schema's."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a certificate must say about how the records came here."""

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        """Exact answers, in one pass over the records. They are sums of integers: the order of records cannot show."""

    def shards(self, cells: Partition, count: int, coins: Coins) -> Partition:
        """Split a single cell into ``count``. Each record's throw is kept with it and never thrown again."""

    def check_joint(self, tests: Tests, depth: int) -> None:
        """Refuse what :meth:`joint` could not count, from public facts; asked before anything is charged."""

    def joint(self, cells: Partition, tests: Tests, depth: int) -> Joint:
        """Joint counts of at most ``depth`` binary tests in a partition of one cell.

        An engine without a kernel of its own returns :class:`privet.engines.joint_tables.JointTables`, which asks for
        tallies: one pass.
        """

    def with_schema(self, schema: Schema) -> Engine:
        """The same records with numbers cut as another schema says; both schemas declare the same facts."""


def asks_classes_only(questions: Sequence[Question]) -> bool:
    """Whether all that is asked is how many records of each class there are, which is known from reading them once."""
    return all(isinstance(one, Tally) and not one.cells.steps and one.tuples == ((),) for one in questions)


def class_counts(engine: Engine, cells: Partition) -> Ints:
    """(cell, class) counts."""
    return engine.answer([Tally(cells)])[0][:, 0]


def bin_counts(engine: Engine, cells: Partition) -> Ints:
    """(cell, bin, class); the bins of attribute ``a`` are ``schema.offsets[a]:schema.offsets[a + 1]``."""
    return engine.answer([Tally(cells, single_attributes(engine.schema))])[0]


def level_sums(engine: Engine, cells: Partition, attribute: int) -> Ints:
    """(cell,) sums of a numeric attribute's quantised values."""
    return engine.answer([LevelSum(cells, attribute)])[0]


def tuple_counts(engine: Engine, cells: Partition, tuples: Sequence[tuple[int, ...]]) -> list[Ints]:
    """For each tuple of attributes, (cell, code, code, ..., class) counts; all of them in one pass."""
    tally = Tally(cells, tuple(tuples))
    answer, schema = engine.answer([tally])[0], engine.schema
    shapes = [tuple(schema.arities[a] for a in names) for names in tally.tuples]
    bounds = pairwise(tally.offsets(schema).tolist())
    return [
        answer[:, start:stop].reshape(cells.size, *shape, schema.n_classes)
        for shape, (start, stop) in zip(shapes, bounds, strict=True)
    ]


def single_attributes(schema: Schema) -> tuple[tuple[int, ...], ...]:
    return tuple((a,) for a in range(len(schema.attributes)))
