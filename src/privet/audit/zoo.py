"""The zoo: small neighbouring tables that have broken private learners before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privet.schema import Categorical, Numeric, Schema

Record = tuple[Any, ...]
"""Attribute values in schema order, then the label."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables. ``extra`` is the place of the record that only the longer one has."""

    name: str
    schema: Schema
    table: tuple[Record, ...]
    neighbour: tuple[Record, ...]

    @property
    def relation(self) -> str:
        return "replace-one" if len(self.table) == len(self.neighbour) else "add-remove"

    @property
    def extra(self) -> int | None:
        """Where the record stands that only the longer table has; None under replace-one."""
        shorter, longer = sorted((self.table, self.neighbour), key=len)
        if len(shorter) == len(longer):
            return None
        return next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))

    def columns(self, records: tuple[Record, ...]) -> dict[str, list[Any]]:
        names = (*self.schema.names, self.schema.label.name)
        return {name: [record[i] for record in records] for i, name in enumerate(names)}


def tiny_schema() -> Schema:
    """A categorical and a numeric attribute, one of them with a missing branch, and two labels."""
    return Schema(
        (Categorical("colour", ("red", "blue")), Numeric("size", 0, 10, thresholds=(5.0,), missing="?")),
        Categorical("class", ("no", "yes")),
        name="tiny",
    )


def zoo(
    schema: Schema | None = None, *, relation: str = "add-remove", thresholds: tuple[int, ...] = (20,)
) -> list[Pair]:
    """Neighbouring pairs for any small schema; ``thresholds`` are sizes at which a recipe is known to decide."""
    schema = schema or tiny_schema()
    first, second = _record(schema, 0, 0), _record(schema, 1, 1)
    other_label = _record(schema, 0, 1)
    animals: list[tuple[str, tuple[Record, ...], Record]] = [
        ("an empty table", (), first),
        ("margin 0", (first, other_label), first),
        ("margin 1", (first, first, other_label), other_label),
        ("margin 4", (first,) * 5 + (other_label,), other_label),
        ("an empty node", (first, first, other_label), second),
        ("one class only", (first, first), second),
        ("duplicated records", (first,) * 3 + (second,) * 3, first),
        ("a shard boundary", (second, first, second, first, second, first), first),
        ("an unknown label", (first, second), (*first[:-1], "no such label")),
        *_odd_values(schema, first, second),
    ]
    for size in thresholds:
        half = (first,) * (size // 2)
        animals.append((f"{size - 1} against {size} records", half + (second,) * (size - 1 - len(half)), second))
    pairs = []
    for name, table, newcomer in animals:
        longer = (newcomer, *table)  # in front: whoever counts rows by position moves all the others
        if relation == "add-remove":
            pairs.append(Pair(name, schema, table, longer))
        else:
            instead = second if newcomer != second else first
            pairs.append(Pair(name, schema, (instead, *table), longer))
    return pairs


def _record(schema: Schema, value: int, label: int) -> Record:
    cells: list[Any] = []
    for attribute in schema.attributes:
        if isinstance(attribute, Categorical):
            cells.append(attribute.values[value % attribute.arity])
        else:
            cells.append(attribute.low + (attribute.high - attribute.low) * (0.1 if value == 0 else 0.9))
    return (*cells, schema.label.values[label % schema.n_classes])


def _odd_values(schema: Schema, first: Record, second: Record) -> list[tuple[str, tuple[Record, ...], Record]]:
    found: list[tuple[str, tuple[Record, ...], Record]] = []
    for i, attribute in enumerate(schema.attributes):
        odd: dict[str, Any] = {"a missing value": None}
        if isinstance(attribute, Numeric):
            odd |= {"a value at a bound": attribute.high, "a value beyond a bound": attribute.high * 1e6 + 1}
        else:
            odd |= {"an unknown category": "no such category"}
        for name, value in odd.items():
            newcomer = (*first[:i], value, *first[i + 1 :])
            found.append((f"{name} in {attribute.name}", (first, second, second), newcomer))
    return found
