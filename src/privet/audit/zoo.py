"""The zoo: small neighbouring tables that have broken private learners before."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from privet.privacy.budget import Neighbours
from privet.schema import Attribute, Categorical, Numeric, Schema

Record = tuple[Any, ...]
"""Attribute values in schema order, then the label."""

THRESHOLDS = (20, 100)  # numbers of records at which published methods decide (cards 4 and 5)
CROWD = 300  # records in a node, enough for rules that stop at the noise of a count not to stop
RIVALS = 16, 30  # records that make one attribute pure, and of each class that make it useless


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables."""

    name: str
    schema: Schema
    table: tuple[Record, ...]
    neighbour: tuple[Record, ...]

    @property
    def relation(self) -> str:
        same = len(self.table) == len(self.neighbour)
        return (Neighbours.REPLACE_ONE if same else Neighbours.ADD_REMOVE).value

    @property
    def place(self) -> int:
        """Where the record stands that is not in both, among those with a label (the others are dropped)."""
        labels = self.schema.label.values
        kept = ([r for r in records if r[-1] in labels] for records in (self.table, self.neighbour))
        shorter, longer = sorted(kept, key=len)
        return next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))

    def columns(self, records: tuple[Record, ...]) -> dict[str, list[Any]]:
        names = (*self.schema.names, self.schema.label.name)
        return {name: [record[i] for record in records] for i, name in enumerate(names)}


@dataclass(frozen=True)
class _Animal:
    """A table, the record that joins it and, under replace-one, the record whose place it takes."""

    name: str
    table: tuple[Record, ...]
    newcomer: Record
    instead: Record


def tiny_schema() -> Schema:
    """Three attributes, one of them numeric with a missing branch, and two labels.

    With three, two levels leave something to choose: of two attributes a tree of depth 2 has to use both.
    """
    return Schema(
        (
            Categorical("colour", ("red", "blue")),
            Numeric("size", 0, 10, thresholds=(5.0,), missing="?"),
            Categorical("smoker", (False, True)),
        ),
        Categorical("class", ("no", "yes")),
        name="tiny",
    )


def zoo(
    schema: Schema | None = None, *, relation: str = "add-remove", thresholds: tuple[int, ...] = THRESHOLDS
) -> list[Pair]:
    """Neighbouring pairs for any small schema; ``thresholds`` are sizes at which a recipe is known to decide.

    >>> len(zoo()), zoo()[0].name
    (28, 'margin 0 to 1')
    """
    schema = schema or tiny_schema()
    replace = Neighbours.parse(relation) is Neighbours.REPLACE_ONE
    pairs = []
    animals = _margins(schema), _shapes(schema), _odd_values(schema), _between(schema), _crowds(schema, thresholds)
    for animal in itertools.chain(*animals):
        # In front: whoever deals out records by position moves all the others.
        longer = (animal.newcomer, *animal.table)
        other = (animal.instead, *animal.table) if replace else animal.table
        pairs.append(Pair(animal.name, schema, other, longer))
    return pairs


def _margins(schema: Schema) -> Iterator[_Animal]:
    """Two classes in one node, neck and neck or far apart."""
    ours, theirs = record(schema, 0), record(schema, 0, label=1)
    yield _Animal("margin 0 to 1", (ours, theirs), ours, theirs)
    yield _Animal("margin 1 to 0", (ours, ours, theirs), theirs, ours)
    yield _Animal("margin 4 to 5", (ours,) * 5 + (theirs,), ours, theirs)
    yield _Animal("margin 4 to 3", (ours,) * 5 + (theirs,), theirs, ours)
    yield _Animal("one class only", (ours,) * 3, theirs, ours)
    yield _Animal("one class more", (ours,) * 3, ours, theirs)


def _shapes(schema: Schema) -> Iterator[_Animal]:
    here, there = record(schema, 0), record(schema, 1, label=1)
    yield _Animal("an empty table", (), here, there)
    yield _Animal("a single record", (here,), there, here)
    yield _Animal("an empty node", (here, here, record(schema, 0, label=1)), there, here)
    yield _Animal("duplicated records", (here,) * 3 + (there,) * 3, here, there)
    for size in (5, 6, 7):  # whatever the number of shards, it does not divide all of them
        yield _Animal(f"a shard boundary among {size}", ((there, here) * 4)[:size], here, there)


def _odd_values(schema: Schema) -> Iterator[_Animal]:
    """What a schema does not declare; it must be read in some public way."""
    here, there = record(schema, 0), record(schema, 1, label=1)
    table = (here, there, there)
    yield _Animal("an unknown label", table, (*here[:-1], "no such label"), there)
    yield _Animal("a missing label", table, (*here[:-1], None), there)
    for i, attribute in enumerate(schema.attributes):
        odd: dict[str, Any] = {"a missing value": None}
        if isinstance(attribute, Numeric):
            beyond = attribute.high + 1e6 * (attribute.high - attribute.low)
            odd |= {"a value at a bound": attribute.high, "a value beyond a bound": beyond, "text": "no number"}
        else:
            odd |= {"an unknown category": "no such category"}
        for name, value in odd.items():
            yield _Animal(f"{name} in {attribute.name}", table, (*here[:i], value, *here[i + 1 :]), there)


def _between(schema: Schema) -> Iterator[_Animal]:
    """Numbers in a row, and one that comes between: it cuts in two what was a single range of the data."""
    for i, attribute in enumerate(schema.attributes):
        if not isinstance(attribute, Numeric) or len(attribute.cuts) < 3:
            continue
        last = len(attribute.cuts)

        def at(number: int, label: int, i: int = i, attribute: Numeric = attribute) -> Record:
            clean = record(schema, 0, label=label)
            return (*clean[:i], _in_bin(attribute, number), *clean[i + 1 :])

        table = (at(0, 0), at(last // 2 + 1, 0), at(last // 2 + 1, 0), at(last, 1))
        for number in (last // 4 + 1, last - 1):
            yield _Animal(f"{attribute.name} in bin {number}, between others", table, at(number, 1), at(0, 0))


def _crowds(schema: Schema, thresholds: tuple[int, ...]) -> Iterator[_Animal]:
    ours, theirs = record(schema, 0), record(schema, 0, label=1)
    two_nodes = (ours, record(schema, 1, label=1)) * CROWD
    yield _Animal("a crowd in two nodes", two_nodes, theirs, record(schema, 1, label=1))
    for size in thresholds:
        # All in one node, however a tree is cut, and of both classes: only their number can decide.
        table = (ours,) * (size - 1 - size // 2) + (theirs,) * (size // 2)
        yield _Animal(f"{size - 1} against {size} records", table, ours, record(schema, 1, label=1))
    useful = [i for i, attribute in enumerate(schema.attributes) if attribute.arity > 1]
    if len(useful) < 2:
        return
    # The second attribute is the label, the first is worse: a choice of it is a rare one, and loses most.
    worse, better = useful[:2]
    pure, mixed = RIVALS

    def rival(a: int, b: int, label: int) -> Record:
        return record(schema, {worse: a, better: b}, label=label)

    table = (rival(0, 0, 0),) * pure + (rival(1, 0, 0), rival(1, 1, 1)) * mixed + (rival(1, 0, 0),) * 2
    for_better, for_worse = rival(0, 1, 1), rival(0, 1, 0)
    yield _Animal("the worse attribute falls behind", table, for_better, for_worse)
    yield _Animal("the worse attribute catches up", table, for_worse, rival(1, 1, 1))


def record(schema: Schema, values: int | dict[int, int], label: int = 0) -> Record:
    """A clean record: of each attribute the first value (0, the default) or the last (1), and a label."""
    chosen = values if isinstance(values, dict) else dict.fromkeys(range(len(schema.attributes)), values)
    cells = [_cell(attribute, chosen.get(i, 0)) for i, attribute in enumerate(schema.attributes)]
    return (*cells, schema.label.values[label % schema.n_classes])


def _cell(attribute: Attribute, which: int) -> Any:
    if isinstance(attribute, Categorical):
        return attribute.values[-1 if which else 0]
    return _in_bin(attribute, len(attribute.cuts) if which else 0)


def _in_bin(attribute: Numeric, number: int) -> float:
    """The middle of a bin, counted from 0."""
    edges = [attribute.low, *attribute.cuts.tolist(), attribute.high]
    return (edges[number] + edges[number + 1]) / 2
