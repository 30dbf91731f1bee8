"""Public hierarchies that divide the codes of an attribute again and again, down to single ones.

A node of a hierarchy is a range of codes that is cut in two. Numbers are cut in the middle of their public bins, after
missing values are split off. Categories are cut in the middle of their list, or by a public taxonomy. No record is
used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privet.errors import SchemaError
from privet.growing.greedy.candidates import Bools, Candidates, Domains
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Tests, Threshold

Taxonomy = Sequence[Any]
"""Nested lists of an attribute's values, each list a group: ``[["nurse", "doctor"], ["cook", "clerk"]]``."""


@dataclass(frozen=True, eq=False)
class Hierarchies:
    """The hierarchies of a schema's attributes, by taxonomies where given.

    >>> ward = Categorical("ward", ("A1", "A2", "A3", "B1"))
    >>> schema = Schema((ward,), Categorical("ill", ("no", "yes")))
    >>> Hierarchies(schema).cut(0, 0, 3), Hierarchies(schema, {"ward": [["A1", "A2", "A3"], ["B1"]]}).cut(0, 0, 3)
    (1, 2)
    """

    schema: Schema
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known: dict[int, dict[tuple[int, int], int]] = {}
        for name, taxonomy in self.taxonomies.items():
            a = self.schema.index(name)
            attribute = self.schema.attributes[a]
            if not isinstance(attribute, Categorical):
                raise SchemaError(f"{name!r} is numeric: its ranges are halved, and a taxonomy is for categories")
            leaves = tuple(_leaves(taxonomy))
            if leaves != attribute.values:
                raise SchemaError(
                    f"the taxonomy of {name!r} must name each of its values once, in the order in which the schema "
                    "lists them; write the schema's list in the taxonomy's order"
                )
            known[a] = dict(_taxonomy_cuts(taxonomy, 0))
        object.__setattr__(self, "_known", known)

    def cut(self, attribute: int, low: int, high: int) -> int | None:
        """The last code of the left part of the codes from ``low`` to ``high``; None for a single code."""
        if low >= high:
            return None
        known: dict[tuple[int, int], int] = self._known.get(attribute, {})  # type: ignore[attr-defined]
        declared = self.schema.attributes[attribute]
        if isinstance(declared, Numeric) and declared.missing is not None and high == declared.arity - 1:
            return high - 1
        return known.get((low, high), (low + high) // 2)

    def nodes(self, attribute: int) -> Iterator[tuple[int, int, int]]:
        """(low, high, cut) of every range that is cut, from the whole range down."""
        todo = [(0, self.schema.arities[attribute] - 1)]
        while todo:
            low, high = todo.pop(0)
            cut = self.cut(attribute, low, high)
            if cut is not None:
                yield low, high, cut
                todo += [(low, cut), (cut + 1, high)]


@dataclass(frozen=True, eq=False)
class Specialisations(Candidates):
    """The candidates of top-down generalisation: for each attribute, the next cut of a cell's range."""

    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()

    @classmethod
    def of_hierarchies(cls, hierarchies: Hierarchies) -> Specialisations:
        schema = hierarchies.schema
        rows = [(a, *node) for a in range(len(schema.attributes)) for node in hierarchies.nodes(a)]
        tests = Tests.of(schema, (Threshold(a, cut) for a, _, _, cut in rows))
        return cls(tests, low=tuple(row[1] for row in rows), high=tuple(row[2] for row in rows))

    def allowed(self, domains: Domains) -> Bools:
        """(cell, test) whether the cell has exactly the range that the test cuts."""
        schema, allowed = domains.schema, np.zeros((len(domains.possible), len(self.tests)), dtype=bool)
        lows, highs = np.array(self.low), np.array(self.high)
        for a in range(len(schema.attributes)):
            possible = domains.possible[:, domains.bins(a)]
            first = possible.argmax(axis=1)
            last = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
            mine = self.tests.of_attribute(a)
            allowed[:, mine] = (first[:, None] == lows[mine]) & (last[:, None] == highs[mine])
        return allowed


def _leaves(taxonomy: Any) -> Iterator[Any]:
    if isinstance(taxonomy, str) or not isinstance(taxonomy, Sequence):
        yield taxonomy
        return
    for part in taxonomy:
        yield from _leaves(part)


def _taxonomy_cuts(taxonomy: Any, start: int) -> Iterator[tuple[tuple[int, int], int]]:
    """(range, cut) of every group; a group of several parts is halved between its parts."""
    if isinstance(taxonomy, str) or not isinstance(taxonomy, Sequence):
        return
    parts = list(taxonomy)
    ends = start + np.cumsum([len(list(_leaves(part))) for part in parts]) - 1
    begins = [start, *(ends[:-1] + 1)]
    todo = [(0, len(parts) - 1)]
    while todo:
        first, last = todo.pop()
        if first < last:
            middle = (first + last) // 2
            yield (int(begins[first]), int(ends[last])), int(ends[middle])
            todo += [(first, middle), (middle + 1, last)]
    for part, begin in zip(parts, begins, strict=True):
        yield from _taxonomy_cuts(part, int(begin))
