"""Candidates: which tests a node may carry, and the prior weight of each. Public, from the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.growing.greedy.domains import Bools, Domains
from privet.schema import Schema
from privet.structure.splits import Kind, Tests

TestKind = Literal["binary", "multiway", "mixed"]
TEST_KINDS = {"binary": Tests.binary, "multiway": Tests.multiway, "mixed": Tests.mixed}


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

    @property
    def point_attributes(self) -> list[int]:
        """The attributes that have thresholds to choose among."""
        return [int(a) for a in np.unique(self.tests.attribute[self.tests.kind == Kind.THRESHOLD])]

    def most_tests_on_a_path(self, schema: Schema) -> int:
        """How deep a tree of these tests can get: each test takes at least one bin off an attribute."""
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
