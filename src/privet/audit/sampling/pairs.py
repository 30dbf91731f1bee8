"""Neighbouring tables for any library: records ``X`` and labels ``y``, and the same without one record.

Which tables are compared matters more than how: a fault shows on few of them. These are patterns of labels times the
record that is dropped, the smallest or largest number, a label or a category that only one record has, an extreme
number, a label that was never declared, a record replaced, and units of several rows. Give pairs of your own beside
them: you know what your code decides by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from privet.audit.zoo import Pair
from privet.errors import ParameterError

Table = tuple[Any, Any]
"""Records and their labels."""
PROBES = 8  # distinct records of a pair that fitted models are asked about
EXTREME = 1e6  # times the width of the declared range: beyond it clipping or its absence shows


@dataclass(frozen=True, eq=False)
class TablePair:
    """Two tables. ``unit``: the rows in which they differ belong to one unit, and the promise is about units."""

    name: str
    ours: Table
    theirs: Table
    unit: bool = False

    @cached_property
    def differences(self) -> tuple[int, int]:
        """How many rows only the first table has, and only the second."""
        ours, theirs = (Counter(rows_of(table)) for table in (self.ours, self.theirs))
        return (ours - theirs).total(), (theirs - ours).total()

    @property
    def relation(self) -> str:
        """``add-remove``, ``replace-one``, or for more rows how many."""
        if self.unit:
            return "one unit"
        match sorted(self.differences):
            case [0, 0]:
                return "the same records"
            case [0, 1]:
                return "add-remove"
            case [1, 1]:
                return "replace-one"
            case [fewer, more]:
                return f"{more} rows" if fewer == 0 else f"{more} rows replaced"
        raise AssertionError

    def steps(self, neighbours: str) -> int:
        """How many times a promise about ``neighbours`` applies between the tables."""
        less, more = sorted(self.differences)
        if self.unit or (less, more) == (0, 0):
            return 1
        if neighbours == "add-remove":
            return less + more
        if less != more:
            problem = f"replace-one says nothing about the pair {self.name!r}, whose tables differ in size"
            raise ParameterError(f"{problem}; leave such pairs out, or set neighbours to add-remove")
        return more

    def probes(self) -> Any:
        """Some distinct records of both tables, for questions to fitted models."""
        seen: dict[str, None] = {}
        chosen: list[int] = []
        for i, row in enumerate(rows_of((self.ours[0], None))):
            if row not in seen and len(chosen) < PROBES:
                seen[row] = None
                chosen.append(i)
        return take(self.ours[0], chosen) if chosen else None


def rows_of(table: Table) -> list[str]:
    """Every row as text that equal rows share."""
    X, y = table
    labels = [None] * size_of(X) if y is None else list(y)
    if isinstance(X, Mapping):
        rows: Any = zip(*X.values(), strict=True)
    else:
        rows = X.to_numpy().tolist() if hasattr(X, "to_numpy") else X
    return [f"{_plain(row)} {label}" for row, label in zip(rows, labels, strict=True)]


def _plain(row: Any) -> Any:
    if isinstance(row, np.generic):  # of records that are one number each
        return row.item()
    return [_plain(cell) if isinstance(cell, np.generic) else cell for cell in row] if hasattr(row, "__iter__") else row


def size_of(X: Any) -> int:
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) else len(X)


def take(X: Any, rows: Sequence[int]) -> Any:
    """Some rows of records: arrays, data frames, lists of rows, or columns by name."""
    if isinstance(X, Mapping):
        return {name: take(column, rows) for name, column in X.items()}
    if hasattr(X, "iloc"):
        taken = X.iloc[list(rows)]
        return taken.reset_index(drop=True)
    if isinstance(X, np.ndarray):
        return X[list(rows)]
    return [X[i] for i in rows]


def as_pairs(pairs: Any) -> list[TablePair]:
    """Pairs as users write them: ``((X, y), (X2, y2))``, a name before it if they like, or TablePair, or the zoo's."""
    found = []
    for number, pair in enumerate(pairs, 1):
        if isinstance(pair, TablePair):
            found.append(pair)
        elif isinstance(pair, Pair):
            found.append(from_zoo(pair))
        else:
            found.append(_from_tuple(pair, f"pair {number}"))
    if not found:
        raise ParameterError(parameter="pairs", problem="is empty", fix="give at least one pair of tables")
    repeated = [name for name, times in Counter(pair.name for pair in found).items() if times > 1]
    if repeated:
        raise ParameterError(parameter="pairs", problem=f"has two of the name {repeated[0]!r}", fix="rename one")
    return found


def _from_tuple(pair: Any, name: str) -> TablePair:
    try:
        named = isinstance(pair[0], str)
        name, ours, theirs = pair if named else (name, *pair)
        (X, y), (other_X, other_y) = ours, theirs
    except (TypeError, ValueError, IndexError, KeyError):
        fix = "write ((X, y), (X2, y2)), or (name, (X, y), (X2, y2))"
        raise ParameterError(parameter="pairs", problem=f"has an entry that is no pair ({name})", fix=fix) from None
    return TablePair(name, (X, y), (other_X, other_y))


def from_zoo(pair: Pair) -> TablePair:
    """A pair of the exact auditor's zoo: columns by name, and labels."""
    label = pair.schema.label.name
    sides = []
    for records in (pair.neighbour, pair.table):
        columns = pair.columns(records)
        labels = columns.pop(label)
        sides.append((columns, labels))
    return TablePair(pair.name, sides[0], sides[1], unit=pair.schema.unit is not None)


def table_pairs(
    records: int = 40,
    *,
    low: float = 0.0,
    high: float = 1.0,
    columns: int = 1,
    labels: tuple[Any, Any] = (0, 1),
    categories: Sequence[str] = (),
    odd: bool = True,
    units: Sequence[int] = (),
) -> list[TablePair]:
    """Pairs for a classifier of numbers from ``low`` to ``high``, and with ``categories`` of one text column too.

    ``odd`` adds an extreme number, an undeclared label and a category that one record has alone: a library that refuses
    them shows by its refusal that they are there. ``units`` adds pairs that differ in so many rows.

    >>> [pair.name for pair in table_pairs(odd=False)][:2]
    ['equal labels, without the first', 'equal labels, without the middle one']
    """
    spread = np.linspace(low, high, records, endpoint=False) + (high - low) / (2 * records)
    middle = np.full((records, columns), (low + high) / 2)
    patterns = _patterns(records)

    def table(X: Any, pattern: Any, job: Any = None) -> Table:
        y = np.asarray(labels)[pattern]
        if not categories:
            return X, y
        pd: Any = import_module("pandas")

        names = np.resize(np.asarray(categories, dtype=object), records) if job is None else job
        return pd.DataFrame({"category": names} | {f"x{i}": X[:, i] for i in range(columns)}), y

    places = {"first": 0, "middle one": records // 2, "last": records - 1}
    found = []
    for name, pattern in patterns.items():
        whole = table(middle, pattern)
        found += [without(f"{name}, without the {place}", whole, [at]) for place, at in places.items()]
    numbered = np.tile(spread[:, None], (1, columns))
    mixed = table(numbered, patterns["alternating labels"])
    found += [without(f"spread numbers, without the {place}", mixed, [at]) for place, at in places.items()]
    lone_label = table(numbered, (np.arange(records) == records // 2).astype(int))
    found.append(without("the only record of a label leaves", lone_label, [records // 2]))
    found.append(relabelled("alternating labels, one changed", mixed, records // 2, labels))
    found += [without(f"a unit of {k} rows leaves", mixed, list(range(k))) for k in units]
    if odd:
        far = numbered.copy()
        far[records // 2] = high + EXTREME * (high - low)
        found.append(without("an extreme number leaves", table(far, patterns["alternating labels"]), [records // 2]))
        X, y = mixed
        strange = [*y.tolist()[:-1], "undeclared" if isinstance(labels[0], str) else max(labels) + 1]
        found.append(without("an undeclared label leaves", (X, np.array(strange)), [records - 1]))
    if odd and categories:
        names = np.resize(np.asarray(categories, dtype=object), records)
        names[records // 2] = "alone"
        lone = table(numbered, patterns["random labels"], names)
        found.append(without("a category of one record leaves", lone, [records // 2]))
    return found


def _patterns(records: int) -> dict[str, Any]:
    i = np.arange(records)
    return {
        "equal labels": 0 * i,
        "alternating labels": i % 2,
        "labels in ten blocks": i * 10 // records % 2,
        "labels in two halves": i * 2 // records,
        "random labels": np.random.default_rng(0).integers(0, 2, records),
    }


def without(name: str, table: Table, rows: Sequence[int]) -> TablePair:
    """A table, and the same without some rows."""
    X, y = table
    keep = [i for i in range(size_of(X)) if i not in set(rows)]
    return TablePair(name, table, (take(X, keep), take(y, keep)))


def relabelled(name: str, table: Table, row: int, labels: Sequence[Any]) -> TablePair:
    """A table, and the same with another label in one row: replace-one."""
    X, y = table
    changed = np.array(y, copy=True)
    changed[row] = next(label for label in labels if label != y[row])
    return TablePair(name, table, (X, changed))
