"""The zoo: small neighbouring tables that have broken private learners before."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from privet.audit.animals import (
    Record,
    between,
    class_counts,
    crowds,
    margins,
    odd_values,
    others,
    rivals,
    searched,
    shapes,
    sizes,
)
from privet.audit.containers import containers
from privet.privacy.budget import Neighbours
from privet.schema import Categorical, Numeric, Schema
from privet.tables.cells import number_of

THRESHOLDS = (20, 100)  # numbers of records at which published methods decide (cards 4 and 5)
OF_A_CLASS = (*range(1, 13), 16, 20, 25, 32, 50, 64, 100)  # and of one class: all small numbers, and some round ones

WIDE = 4  # transcripts, for pairs that are walked in full under another schema


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables. Records follow the schema's columns, with their unit last if there is one.

    ``ways`` limits the number of transcripts to try, where few are enough. ``containers``: try the pair in every
    container.
    """

    name: str
    schema: Schema
    table: tuple[Record, ...]
    neighbour: tuple[Record, ...]
    ways: int | None = None
    containers: bool = False
    _made: dict[str, tuple[Any, Any]] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def relation(self) -> str:
        same = len(self.table) == len(self.neighbour)
        return (Neighbours.REPLACE_ONE if same else Neighbours.ADD_REMOVE).value

    @property
    def place(self) -> int:
        """The position of the record that is not in both, among those with a label (the others are dropped)."""
        at = len(self.schema.names)
        kept = ([r for r in records if self._known(r[at])] for records in (self.table, self.neighbour))
        shorter, longer = sorted(kept, key=len)
        return next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))

    def _known(self, label: Any) -> bool:
        return not math.isnan(number_of(label)) if self.schema.predicts_number else label in self.schema.classes

    def columns(self, records: tuple[Record, ...]) -> dict[str, list[Any]]:
        return {name: [record[i] for record in records] for i, name in enumerate(self.schema.columns)}

    def tables(self, container: str) -> tuple[Any, Any]:
        """The table and its neighbour in a container. Cached: every audit uses them, and none writes to them."""
        if container not in self._made:
            make = containers()[container]
            sides = (make(self.schema, self.columns(side)) for side in (self.table, self.neighbour))
            self._made[container] = (next(sides), next(sides))
        return self._made[container]


def tiny_schema() -> Schema:
    """Three attributes, one of them numeric with a missing branch, and two labels.

    With three attributes a tree of depth 2 has a choice; with two it would have to use both.
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


def number_schema() -> Schema:
    """The same attributes, and a number to predict."""
    return replace(tiny_schema(), label=Numeric("amount", 0, 10))


def wide_schema() -> Schema:
    """Three labels and three values of each attribute, easily confused: texts that differ by a blank, integers that no
    float can tell apart and, among the codes, some that no signed integer holds.
    """
    return Schema(
        (
            Categorical("job", (" private", "private", "public")),
            Numeric("age", 0, 90, thresholds=(30.0, 60.0), missing="?"),
            Categorical("code", (2**63 + 5, 2**63 + 6, 2**63 + 7)),
        ),
        Categorical("class", (900000000000207008, 900000000000207009, 900000000000207010)),
        name="wide",
    )


def zoo(
    schema: Schema | None = None,
    *,
    relation: str = "add-remove",
    thresholds: tuple[int, ...] = THRESHOLDS,
    of_a_class: tuple[int, ...] = OF_A_CLASS,
) -> list[Pair]:
    """Neighbouring pairs for any small schema, by default for one with two labels and one with three.

    ``thresholds`` are numbers of records at which a recipe decides, ``of_a_class`` numbers of records of one class.

    >>> zoo()[0].name, zoo()[-1].name
    ('margin 0 to 1', '99 against 100 of class 900000000000207010 (wide)')
    """
    if schema is None:
        return list(_of_both(relation, thresholds, of_a_class))
    in_place = Neighbours.parse(relation) is Neighbours.REPLACE_ONE
    animals = (
        margins(schema),
        shapes(schema),
        odd_values(schema),
        between(schema),
        sizes(schema),
        crowds(schema, thresholds),
        rivals(schema),
        searched(schema),
        others(schema),
        class_counts(schema, of_a_class),
    )
    pairs = []
    for animal in itertools.chain(*animals):
        # In front: code that assigns records by position then moves all the others.
        longer = (animal.newcomer, *animal.table)
        other = (animal.instead, *animal.table) if in_place else animal.table
        pairs.append(Pair(animal.name, schema, other, longer, animal.ways, animal.containers))
    return pairs


@cache
def _of_both(relation: str, thresholds: tuple[int, ...], of_a_class: tuple[int, ...]) -> tuple[Pair, ...]:
    # Code that counts a class counts it under both schemas; the tiny one covers what needs many transcripts.
    tiny = zoo(tiny_schema(), relation=relation, thresholds=thresholds, of_a_class=())
    wide = zoo(wide_schema(), relation=relation, thresholds=thresholds, of_a_class=of_a_class)
    return (
        *(pair for pair in tiny if not pair.name.endswith("of every kind")),
        *(replace(pair, name=f"{pair.name} (wide)", ways=pair.ways or WIDE) for pair in wide),
    )
