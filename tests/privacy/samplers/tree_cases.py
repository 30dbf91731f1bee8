"""Small public spaces of trees, each with a table and an epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from privet import Categorical, Ledger, Numeric, Schema
from privet.engines.joint_counts import JointCounts
from privet.engines.memory import MemoryEngine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.privacy.samplers.tree_space import TreeSpace
from privet.structure.splits import Tests
from privet.tables.encoding import Codes

Node = Any
"""A tree by hand: a label, or (test, first child, second child)."""


@dataclass(frozen=True, eq=False)
class Case:
    """A public space, a table and an epsilon."""

    schema: Schema
    features: np.ndarray  # (attribute, record)
    labels: np.ndarray
    leaf_prior: tuple[float, ...]
    epsilon: float
    favours: tuple[float, ...] | None = None  # weights of the tests
    class_weights: tuple[int, ...] | None = None  # in quarters

    @property
    def tests(self) -> Tests:
        return Tests.binary(self.schema)

    @property
    def space(self) -> TreeSpace:
        return TreeSpace(
            tests=self.tests,
            n_classes=self.schema.n_classes,
            leaf_prior=self.leaf_prior,
            test_prior=np.ones(len(self.tests)) if self.favours is None else np.array(self.favours),
            class_weights=self.class_weights or (1,) * self.schema.n_classes,
            weight_unit=4 if self.class_weights else 1,
        )

    @property
    def joint(self) -> JointCounts:
        cells = np.zeros(self.labels.size, dtype=np.int32)
        return JointCounts(self.features, self.labels, cells, self.tests, self.schema.n_classes)

    @property
    def sampler(self) -> _Sampler:
        return _Sampler(self.joint, self.space, self.space.answers(self.schema), self.unit_epsilon)

    @property
    def unit_epsilon(self) -> float:
        """What a unit of class weight counts."""
        return self.epsilon / self.space.weight_unit

    @cached_property
    def grid(self) -> np.ndarray:
        """(test, record): the children of every record that there could be: "open" is read off, not worked out."""
        columns = np.meshgrid(*map(np.arange, self.schema.arities), indexing="ij")
        return np.array([test.branch(columns[test.attribute].ravel()) for test in self.tests])

    def could_be(self, path: dict[int, int]) -> np.ndarray:
        """Which of these records give the answers of a path."""
        return np.all([self.grid[t] == child for t, child in path.items()] or [self.grid[0] >= 0], axis=0)

    def open_tests(self, path: dict[int, int]) -> list[int]:
        """The tests of positive prior of which both answers are possible."""
        inside = self.grid[:, self.could_be(path)]
        wanted = self.space.test_prior > 0
        return [t for t in range(len(inside)) if wanted[t] and len(set(inside[t].tolist())) == 2]

    def data(self, ledger: Ledger) -> PrivateDataset:
        return PrivateDataset(MemoryEngine(self.schema, Codes(self.features, self.labels)), ledger)


def records(schema: Schema, n: int, seed: int, *, one_class: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Records whose class depends on the first attributes, with some noise."""
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)
    labels = (features[: 1 + seed % 2].sum(axis=0) + (rng.random(n) < 0.3)) % schema.n_classes
    return features, np.zeros_like(labels) if one_class else labels.astype(np.uint8)


def binary(attributes: int, classes: int = 2) -> Schema:
    names = tuple(range(classes))
    return Schema(tuple(Categorical(f"b{a}", (0, 1)) for a in range(attributes)), Categorical("class", names))


THREE_WAY = Schema((Categorical("t", ("a", "b", "c")), Categorical("b", (0, 1))), Categorical("class", (0, 1, 2)))
WITH_MISSING = Schema(
    (Numeric("x", 0, 3, bins=2, missing="?"), Categorical("b", (0, 1))), Categorical("class", ("no", "yes"))
)


def case(schema: Schema, n: int, leaf_prior: tuple[float, ...], epsilon: float, seed: int = 1, **more: Any) -> Case:
    features, labels = records(schema, n, seed, one_class=more.pop("one_class", False))
    return Case(schema, features, labels, leaf_prior, epsilon, **more)


CUTS = Schema((Numeric("x", 0, 4, bins=4), Categorical("b", (0, 1))), Categorical("class", ("no", "yes")))
ONE_NUMBER = Schema((Numeric("x", 0, 5, bins=5),), Categorical("class", ("no", "yes", "maybe")))
ONE_LIST = Schema((Categorical("t", ("a", "b", "c", "d")),), Categorical("class", (0, 1)))
LIST_AND_CUTS = Schema(
    (Categorical("t", ("a", "b", "c")), Numeric("x", 0, 3, bins=3, missing="?")), Categorical("class", (0, 1))
)

CASES = {
    "cuts": case(CUTS, 40, (0.0, 0.5), 0.3, favours=(1, 2, 3, 4)),
    "cuts, depth 3": case(CUTS, 40, (0.1, 0.5, 0.4), 0.3),
    "one number, depth 4": case(ONE_NUMBER, 60, (0.0, 0.0, 0.0, 0.4), 0.3, favours=(1, 2, 0.3, 4)),
    "one list, depth 3": case(ONE_LIST, 60, (0.1, 0.5, 0.4), 0.3, favours=(1, 2, 0.3, 4)),
    "one list, depth 4": case(ONE_LIST, 60, (0.1, 0.5, 0.0, 0.3), 0.3),
    "one list, a value forbidden": case(ONE_LIST, 60, (0.1, 0.0, 0.4), 0.3, favours=(1, 2, 0, 4)),
    "list and cuts": case(LIST_AND_CUTS, 60, (0.1, 0.5), 0.3, favours=(1, 2, 1, 4, 1, 0.1), class_weights=(4, 1)),
    "list and cuts, large epsilon": case(LIST_AND_CUTS, 60, (0.1, 0.5), 80.0, favours=(1, 2, 1, 4, 1, 0.1)),
    "depth 0": case(binary(3), 20, (), 0.5),
    "depth 0, four classes": case(binary(2, 4), 20, (), 0.5),
    "depth 1": case(binary(4), 30, (0.5,), 0.3),
    "depth 1, root always splits": case(binary(4), 30, (0.0,), 0.3),
    "depth 2": case(binary(4), 40, (0.0, 0.5), 0.3),
    "depth 2, other prior at each depth": case(binary(4), 40, (0.2, 0.9), 0.3, seed=2),
    "depth 2, never an early leaf": case(binary(4), 40, (0.0, 0.0), 0.3, seed=2),
    "depth 2, three classes": case(THREE_WAY, 40, (0.1, 0.5), 0.4),
    "depth 2, four classes": case(binary(3, 4), 50, (0.0, 0.4), 0.4),
    "depth 3": case(binary(3), 60, (0.0, 0.5, 0.3), 0.2),
    "depth 3, other prior at each depth": case(binary(3), 60, (0.1, 0.7, 0.25), 0.2, seed=4, favours=(1, 2, 3)),
    "missing values": case(WITH_MISSING, 40, (0.0, 0.5), 0.4),
    "missing values, depth 3": case(WITH_MISSING, 40, (0.3, 0.5, 0.5), 0.4),
    "forbidden test": case(binary(4), 40, (0.0, 0.5), 0.3, favours=(1, 0, 1, 1)),
    "only as many tests as levels": case(binary(4), 40, (0.0, 0.5, 0.5), 0.3, favours=(0, 1, 1, 5)),
    "favoured tests": case(binary(4), 40, (0.0, 0.5), 0.3, favours=(1, 10, 0.5, 1e-3)),
    "hardly anything else": case(binary(3), 40, (0.0, 0.5, 0.5), 0.3, favours=(1, 2e-9, 3e-9)),
    "class weights": case(binary(4), 40, (0.0, 0.5), 0.9, class_weights=(4, 1)),
    "class weights, one 0": case(binary(3, 3), 40, (0.0, 0.5, 0.0), 0.9, class_weights=(4, 0, 3)),
    "empty": case(binary(3), 0, (0.1, 0.5), 1.0),
    "empty, depth 3": case(binary(3), 0, (0.1, 0.5, 0.5), 1.0),
    "one record": case(binary(3), 1, (0.1, 0.5), 1.0),
    "one class": case(binary(3), 50, (0.0, 0.5, 0.5), 0.5, one_class=True),
    "tiny epsilon": case(binary(4), 50, (0.0, 0.5), 1e-6),
    "large epsilon": case(binary(4), 50, (0.0, 0.5), 60.0),  # weights beyond a double's range
    "huge epsilon": case(binary(3), 50, (0.0, 0.5, 0.5), 2000.0),
    "huge epsilon, class weights": case(binary(3), 50, (0.3, 0.5), 4000.0, class_weights=(3, 4)),
}
OTHERS = THREE_WAY, WITH_MISSING, CUTS, ONE_NUMBER, ONE_LIST, LIST_AND_CUTS
# Too many trees to list; for what can be said of every region.
DEEPER = case(binary(5), 60, (0.1, 0.5, 0.3, 0.7), 0.2, favours=(1, 2, 3, 4, 0.5))


def all_paths(case: Case) -> list[dict[int, int]]:
    """Paths to nodes of the space that somebody could take, as the child taken at each test."""
    found: list[dict[int, int]] = [{}]
    level: list[dict[int, int]] = [{}]
    for _ in case.leaf_prior:
        level = [
            {**path, t: child}
            for path in level
            for t in range(max(path, default=-1) + 1, len(case.tests))
            for child in (0, 1)
            if case.could_be({**path, t: child}).any()
        ]
        found += level
    return found


@st.composite
def spaces(draw: st.DrawFn) -> Case:
    """Small spaces with awkward priors, and small tables."""
    schema = draw(st.sampled_from([binary(4), binary(5), binary(3, 3), *OTHERS]))
    n_tests = len(Tests.binary(schema))
    depth = draw(st.integers(0, 3))
    n = draw(st.integers(0, 30))
    prior = st.sampled_from([0.0, 1.0, 1.0, 1 / 3, 0.7, 1e-5])
    favours = draw(st.lists(prior, min_size=n_tests, max_size=n_tests).filter(lambda f: sum(w > 0 for w in f) >= depth))
    column = st.lists(st.integers(0, 99), min_size=n, max_size=n)
    features = np.array([draw(column) for _ in schema.arities], dtype=np.int64).reshape(len(schema.arities), n)
    features %= np.array(schema.arities)[:, None]
    return Case(
        schema,
        features.astype(np.uint8),
        (np.array(draw(column), dtype=np.int64) % schema.n_classes).astype(np.uint8),
        tuple(draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1 / 3]), min_size=depth, max_size=depth))),
        draw(st.sampled_from([0.01, 0.1, 1 / 3, 0.77, 3.0, 100.0])),
        tuple(favours) if any(favours) else None,
        draw(st.sampled_from([None, (4, 3, 1)[: schema.n_classes]])),
    )
