"""The tables of the zoo: small tables, the record that is added to each, and the record that it may replace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from privet.schema import Attribute, Categorical, Numeric, Schema

Record = tuple[Any, ...]
"""Attribute values in schema order, then the label."""

CROWD = 300  # records in a node: enough that rules which stop where noise is large do not stop
RIVALS = 16, 30  # records that make one attribute pure; records of each class that make it useless
# How many records of each kind; the bits of a kind are the values of three attributes (first or last) and the label.
# Replacing one record of this table costs a greedy forest most. Found by search: no table made by hand did as well.
SEARCHED = (0, 55, 0, 0, 60, 0, 62, 15, 0, 0, 0, 30, 30, 0, 62, 0)
ENTERS, LEAVES = 0b0011, 0b1000
SOME = 6  # records of each value
SIZES = range(2, 14)
FEW = 2  # transcripts of a fit: enough for a difference that no draw can hide


@dataclass(frozen=True)
class Animal:
    """A table, the record that is added and, under replace-one, the record that it replaces.

    ``ways`` limits the number of transcripts to try, where few are enough. ``containers``: try the table in every
    container.
    """

    name: str
    table: tuple[Record, ...]
    newcomer: Record
    instead: Record
    ways: int | None = None
    containers: bool = False


def margins(schema: Schema) -> Iterator[Animal]:
    """Two classes in one node, with equal or very different counts."""
    ours, theirs = record(schema, 0), record(schema, 0, label=1)
    yield Animal("margin 0 to 1", (ours, theirs), ours, theirs)
    yield Animal("margin 1 to 0", (ours, ours, theirs), theirs, ours)
    yield Animal("margin 4 to 5", (ours,) * 5 + (theirs,), ours, theirs)
    yield Animal("margin 4 to 3", (ours,) * 5 + (theirs,), theirs, ours)
    yield Animal("one class only", (ours,) * 3, theirs, ours)
    yield Animal("one class more", (ours,) * 3, ours, theirs)


def shapes(schema: Schema) -> Iterator[Animal]:
    here, there = record(schema, 0), record(schema, 1, label=1)
    yield Animal("an empty table", (), here, there)
    yield Animal("a single record", (here,), there, here)
    yield Animal("an empty node", (here, here, record(schema, 0, label=1)), there, here)
    mixed = record(schema, {1: 1})  # partly like either half; with few records each one matters
    yield Animal("a mixed record among three", (here, there, there), mixed, there)
    yield Animal("duplicated records", (here,) * 3 + (there,) * 3, here, there)
    for size in (5, 6, 7):  # no number of shards divides all three
        yield Animal(f"a shard boundary among {size}", ((there, here) * 4)[:size], here, there)


def odd_values(schema: Schema) -> Iterator[Animal]:
    """Values that the schema does not declare. They must be read by public rules and change no other record's code."""
    here = record(schema, 0)
    there = record(schema, 1, label=1)
    # Some of every listed value, so that a change of all codes is easy to see.
    table = tuple(record(schema, value, label=value) for value in range(variety(schema))) * SOME

    def animal(name: str, newcomer: Record) -> Animal:
        return Animal(name, table, newcomer, there, containers=True)

    unhashable = ["no", "such", "value"]
    yield animal("an unknown label", (*here[:-1], "no such label"))
    yield animal("a missing label", (*here[:-1], None))
    yield animal("an unhashable label", (*here[:-1], unhashable))
    if schema.predicts_number:
        yield animal("a label beyond the bounds", (*here[:-1], _beyond(schema.number)))
    for i, attribute in enumerate(schema.attributes):
        odd: dict[str, Any] = {"a missing value": None, "an unhashable value": unhashable}
        if isinstance(attribute, Numeric):
            odd |= {"a value at a bound": attribute.high, "a value beyond a bound": _beyond(attribute)}
            odd |= {"text": "no number"}
        else:
            odd |= {"an unknown category": "no such category"}
        for name, value in odd.items():
            yield animal(f"{name} in {attribute.name}", (*here[:i], value, *here[i + 1 :]))


def between(schema: Schema) -> Iterator[Animal]:
    """Sorted numbers, and a new one between them, which splits a range of the data in two."""
    for i, attribute in enumerate(schema.attributes):
        if not isinstance(attribute, Numeric) or len(attribute.cuts) < 3:
            continue
        last = len(attribute.cuts)

        def at(number: int, label: int, i: int = i, attribute: Numeric = attribute) -> Record:
            clean = record(schema, 0, label=label)
            return (*clean[:i], in_bin(attribute, number), *clean[i + 1 :])

        table = (at(0, 0), at(last // 2 + 1, 0), at(last // 2 + 1, 0), at(last, 1))
        for number in (last // 4 + 1, last - 1):
            yield Animal(f"{attribute.name} in bin {number}, between others", table, at(number, 1), at(0, 0))


def sizes(schema: Schema) -> Iterator[Animal]:
    """Sizes that differ by one record, of every value and label: for code that treats larger tables differently."""
    kinds = [
        record(schema, value, label=label)
        for label in range(len(labels_of(schema)))
        for value in range(variety(schema))
    ]
    for size in SIZES:
        table = tuple((kinds * size)[: size - 1])
        newcomer = kinds[size % len(kinds)]
        instead = kinds[(size + 1) % len(kinds)]
        yield Animal(f"{size - 1} against {size} of every kind", table, newcomer, instead, ways=FEW, containers=True)


def crowds(schema: Schema, thresholds: tuple[int, ...]) -> Iterator[Animal]:
    ours, theirs = record(schema, 0), record(schema, 0, label=1)
    two_nodes = (ours, record(schema, 1, label=1)) * CROWD
    yield Animal("a crowd in two nodes", two_nodes, theirs, record(schema, 1, label=1))
    for size in thresholds:
        # All in one node, however a tree is cut, and of both classes: only their number can matter.
        table = (ours,) * (size - 1 - size // 2) + (theirs,) * (size // 2)
        yield Animal(f"{size - 1} against {size} records", table, ours, record(schema, 1, label=1))


def class_counts(schema: Schema, thresholds: tuple[int, ...]) -> Iterator[Animal]:
    """The size of one class crosses a threshold, in one node. The first class is alone in the table, others are not.

    Under replace-one another class crosses it the other way. Values alternate, so each occurs with each label.
    """
    for label, named in enumerate(labels_of(schema)):
        for number in thresholds:
            value = (number + label) % variety(schema)
            newcomer, instead = record(schema, value, label=label), record(schema, value, label=label + 1)
            company = [record(schema, value, label=other) for other in range(len(labels_of(schema)))]
            table = (newcomer,) * (number - 1) if label == 0 else tuple(company) * (number - 1)
            name = f"{number - 1} against {number} of class {named}"
            yield Animal(name, table, newcomer, instead, ways=FEW)


def others(schema: Schema) -> Iterator[Animal]:
    """Labels after the second, and values between the first and the last, where they decide between attributes."""
    values = range(2, variety(schema))
    for label, name in list(enumerate(labels_of(schema)))[2:]:
        yield from rivals(schema, labels=(label, 0), suffix=f", class {name} against the first")
        yield from rivals(schema, labels=(1, label), suffix=f", the second class against {name}")
    for value in values:
        yield from rivals(schema, values=(value, 0), suffix=f", value {value} against the first")
        yield from rivals(schema, values=(1, value), suffix=f", the last against value {value}")


def rivals(
    schema: Schema, *, labels: tuple[int, int] = (0, 1), values: tuple[int, int] = (0, 1), suffix: str = ""
) -> Iterator[Animal]:
    """The second attribute equals the label, the first is worse. Choosing the first is rare, with the largest loss."""
    useful = [i for i, attribute in enumerate(schema.attributes) if attribute.arity > 1]
    if len(useful) < 2:
        return
    worse, better = useful[:2]
    pure, mixed = RIVALS

    def rival(a: int, b: int, label: int) -> Record:
        return record(schema, {worse: values[a], better: values[b]}, label=labels[label])

    table = (rival(0, 0, 0),) * pure + (rival(1, 0, 0), rival(1, 1, 1)) * mixed + (rival(1, 0, 0),) * 2
    for_better, for_worse = rival(0, 1, 1), rival(0, 1, 0)
    yield Animal(f"the worse attribute falls behind{suffix}", table, for_better, for_worse)
    yield Animal(f"the worse attribute catches up{suffix}", table, for_worse, rival(1, 1, 1))


def searched(schema: Schema) -> Iterator[Animal]:
    """The removed and the added record have effects that add up: at every level they move the counts the same way."""
    useful = [i for i, attribute in enumerate(schema.attributes) if attribute.arity > 1]
    if len(useful) < 3:
        return

    def kind(bits: int) -> Record:
        a, b, c = useful[:3]
        return record(schema, {a: bits >> 3 & 1, b: bits >> 2 & 1, c: bits >> 1 & 1}, label=bits & 1)

    table = tuple(kind(bits) for bits, times in enumerate(SEARCHED) for _ in range(times))
    yield Animal("both records push the same way", table, kind(ENTERS), kind(LEAVES))
    yield Animal("both push the other way", table, kind(LEAVES), kind(ENTERS))


def record(schema: Schema, values: int | dict[int, int], label: int = 0) -> Record:
    """A clean record: a label, and of each attribute the first value (0, the default), the last (1) or one between."""
    chosen = values if isinstance(values, dict) else dict.fromkeys(range(len(schema.attributes)), values)
    cells = [_cell(attribute, chosen.get(i, 0)) for i, attribute in enumerate(schema.attributes)]
    known = labels_of(schema)
    return (*cells, known[label % len(known)])


def labels_of(schema: Schema) -> tuple[Any, ...]:
    """The classes; of a number the ends, where a record moves sums and choices most, and the middle."""
    number = schema.label
    return (number.low, number.high, number.middle) if isinstance(number, Numeric) else number.values


def variety(schema: Schema) -> int:
    """How many values ``record`` accepts: those of the attribute with the most, at least two."""
    return max(2, *(_values(attribute) for attribute in schema.attributes))


def _values(attribute: Attribute) -> int:
    return attribute.arity if isinstance(attribute, Categorical) else len(attribute.cuts) + 1


def _cell(attribute: Attribute, which: int) -> Any:
    size = _values(attribute)
    number = {0: 0, 1: size - 1}.get(which, (which - 1) % size)
    return attribute.values[number] if isinstance(attribute, Categorical) else in_bin(attribute, number)


def _beyond(attribute: Numeric) -> float:
    return attribute.high + 1e6 * (attribute.high - attribute.low)


def in_bin(attribute: Numeric, number: int) -> float:
    """The midpoint of a bin, counted from 0."""
    edges = [attribute.low, *attribute.cuts.tolist(), attribute.high]
    return (edges[number] + edges[number + 1]) / 2
