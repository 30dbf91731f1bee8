"""Candidates: the tests of a node, their prior weights, and which of them the path leaves open. Public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema
from privet.structure.open_tests import open_tests
from privet.structure.splits import Kind, Test, Tests

Bools = npt.NDArray[np.bool_]

TestKind = Literal["binary", "multiway", "mixed"]
TEST_KINDS = {"binary": Tests.binary, "multiway": Tests.multiway, "mixed": Tests.mixed}


@dataclass(frozen=True, eq=False)
class Domains:
    """``possible[cell, bin]``: whether the tests on the path to the cell leave that bin of an attribute open.

    Candidates need nothing else. A narrowed numeric domain, a category that was split off and an attribute that a
    multiway test has used up all look the same here.
    """

    schema: Schema
    possible: Bools

    @classmethod
    def whole(cls, schema: Schema, cells: int = 1) -> Domains:
        return cls(schema, np.ones((cells, schema.total_bins), dtype=bool))

    def split(self, tests: Sequence[Test | None]) -> Domains:
        """The domains of the children, in the order of ``Level.split``."""
        rows = []
        for row, test in zip(self.possible, tests, strict=True):
            if test is None:
                continue
            bins = self.bins(test.attribute)
            branch = np.asarray(test.branch(np.arange(bins.stop - bins.start)))
            for child in range(test.arity(self.schema)):
                narrowed = row.copy()
                narrowed[bins] &= branch == child
                rows.append(narrowed)
        return Domains(self.schema, np.array(rows, dtype=bool).reshape(-1, self.schema.total_bins))

    def allowed(self, tests: Tests) -> Bools:
        """(cell, test): whether every child of the test is possible in the cell."""
        return open_tests(self.schema, self.possible, tests)

    def bins(self, attribute: int) -> slice:
        return slice(int(self.schema.offsets[attribute]), int(self.schema.offsets[attribute + 1]))


@dataclass(frozen=True, eq=False)
class Candidates:
    """A public list of tests and its base measure: uniform over tests, or the same mass for each attribute."""

    tests: Tests
    measure: Literal["tests", "attributes"] = "tests"

    @classmethod
    def of(cls, schema: Schema, kind: TestKind, measure: Literal["tests", "attributes"] = "tests") -> Candidates:
        if kind not in TEST_KINDS:
            raise ParameterError(
                parameter="tests", problem=f"must be one of {', '.join(map(repr, TEST_KINDS))}, not {kind!r}"
            )
        return cls(TEST_KINDS[kind](schema), measure)

    def some(self, attributes: int | None, random: np.random.Generator) -> Candidates:
        """The tests of so many attributes, drawn at random and without looking at a record; all for None."""
        known = np.unique(self.tests.attribute)
        if attributes is None or attributes >= len(known):
            return self
        chosen = random.choice(known, attributes, replace=False)
        return replace(self, tests=self.tests.take(np.flatnonzero(np.isin(self.tests.attribute, chosen))))

    @property
    def point_attributes(self) -> list[int]:
        """The attributes that have thresholds."""
        return [int(a) for a in np.unique(self.tests.attribute[self.tests.kind == Kind.THRESHOLD])]

    def most_tests_on_a_path(self, schema: Schema) -> int:
        """The largest possible depth of a tree of these tests: each test removes at least one bin of an attribute."""
        attributes = np.unique(self.tests.attribute)
        multiway = {int(a) for a in self.tests.attribute[self.tests.kind == Kind.MULTIWAY]}
        return sum(1 if int(a) in multiway else schema.arities[a] - 1 for a in attributes)

    def allowed(self, domains: Domains) -> Bools:
        return domains.allowed(self.tests)

    def log_prior(self, allowed: Bools) -> npt.NDArray[np.float64] | None:
        """Log of the base measure on the allowed tests of each cell; None where it is uniform."""
        if self.measure == "tests":
            return None
        prior = np.zeros(allowed.shape)
        for attribute in np.unique(self.tests.attribute):
            mine = self.tests.of_attribute(attribute)
            prior[:, mine] = -np.log(np.maximum(allowed[:, mine].sum(axis=1, keepdims=True), 1))
        return prior
