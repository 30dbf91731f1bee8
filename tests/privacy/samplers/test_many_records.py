"""The whole tree counts as many records as there may be: 32 bits where they reach, 64 where not, the same weights."""

from __future__ import annotations

from decimal import MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from privet import Categorical, Schema
from privet.engines import joint_counts
from privet.engines.joint_counts import JointCounts
from privet.privacy.samplers import tree_sampler
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.privacy.samplers.tree_space import TreeSpace
from privet.privacy.scores import MAX_RECORDS
from privet.structure.splits import Tests

RECORDS = 64


def schema_of(attributes: int, classes: int) -> Schema:
    names = tuple(range(classes))
    return Schema(tuple(Categorical(f"b{a}", (0, 1)) for a in range(attributes)), Categorical("class", names))


def space_of(schema: Schema, depth: int, unit: int) -> TreeSpace:
    tests = Tests.binary(schema)
    return TreeSpace(tests, schema.n_classes, (0.3,) * depth, np.ones(len(tests)), (unit,) * schema.n_classes, unit)


def records(schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(schema.n_classes)
    features = rng.integers(0, 2, (len(schema.attributes), RECORDS)).astype(np.uint8)
    return features, ((features[0] + (rng.random(RECORDS) < 0.4)) % schema.n_classes).astype(np.uint8)


class Crowd:
    """The joint counts of a table in which each record stands many times, and one more is alone; never held."""

    def __init__(self, schema: Schema, times: int, more: int) -> None:
        features, labels = records(schema)
        arrays = features, labels, np.zeros(RECORDS, dtype=np.int32)
        self._all = JointCounts(*arrays, Tests.binary(schema), schema.n_classes)
        alone = np.where(np.arange(RECORDS) == 0, 0, -1).astype(np.int32)
        self._one = JointCounts(features, labels, alone, Tests.binary(schema), schema.n_classes)
        self._times, self._more, self.met = times, more, self._all.met
        # Both must count the same side of a test; where the single record's own choice differs, it is turned over.
        self._turned = np.flatnonzero(self._one.met != self._all.met)
        self.class_counts = times * self._all.class_counts + more * self._one.class_counts
        self.singles = times * self._all.singles + more * self._turn(self._one.singles)

    def _turn(self, counts: np.ndarray) -> np.ndarray:
        turned = counts.copy()
        turned[:, self._turned] = self._one.class_counts[:, None] - counts[:, self._turned]
        return turned

    def pairs(self, prefixes: np.ndarray) -> np.ndarray:
        one = self._turn(self._one.singles)  # (class, test): 0 or 1, so that a set is met where all of it is
        inside = np.ones((len(prefixes), one.shape[0]), dtype=np.int64)
        for p, prefix in enumerate(prefixes):
            for test in prefix:
                inside[p] *= one[:, test]
        alone = inside[:, None, :, None] * one.T[None, :, :, None] * one[None, None]
        return self._times * self._all.pairs(prefixes).astype(np.int64) + self._more * alone


def by_hand(schema: Schema, space: TreeSpace, epsilon: float, times: int, more: int) -> dict[Any, np.ndarray]:
    """Log probabilities of the choices at every node, by the recursion of the proof page in integers and decimals."""
    features, labels = records(schema)
    tests, unit, n_classes = list(space.tests), space.weight_unit, schema.n_classes
    sides = np.array([test.branch(features[test.attribute]) for test in tests])
    found: dict[Any, np.ndarray] = {}
    many = np.full(RECORDS, times, dtype=object)
    many[0] += more

    def weight(path: tuple[tuple[int, int], ...]) -> Decimal:
        here = np.ones(RECORDS, dtype=bool)
        for test, side in path:
            here &= sides[test] == side
        hits = [int(many[here & (labels == label)].sum()) * unit for label in range(n_classes)]
        stop = Decimal(1) if len(path) == space.depth else Decimal(space.leaf_prior[len(path)])
        terms = [stop / n_classes * (Decimal(epsilon) * (h - sum(hits))).exp() for h in hits]
        if stop < 1:
            free = [t for t in range(len(tests)) if t not in dict(path)]
            for t in range(len(tests)):
                both = [weight((*path, (t, side))) for side in (0, 1)] if t in free else [Decimal(0)] * 2
                terms.append((1 - stop) * both[0] * both[1] / len(free))
        total = sum(terms, Decimal(0))
        found[path] = np.array([float((term / total).ln()) if term else -np.inf for term in terms])
        return total

    with localcontext(prec=40, Emin=MIN_EMIN):
        weight(())
    return found


def by_sampler(joint: Any, schema: Schema, space: TreeSpace, epsilon: float) -> dict[Any, np.ndarray]:
    sampler, found = _Sampler(joint, space, space.answers(schema), epsilon), {}

    def visit(path: tuple[tuple[int, int], ...]) -> None:
        logs = sampler._log_weights({t: side == int(joint.met[t]) for t, side in path})
        found[path] = logs - logs.max() - np.log(np.exp(logs - logs.max()).sum())
        if len(path) < space.depth:
            for t, side in product(set(range(len(space.tests))) - set(dict(path)), (0, 1)):
                visit((*path, (t, side)))

    visit(())
    return found


def apart(one: dict[Any, np.ndarray], other: dict[Any, np.ndarray]) -> float:
    assert set(one) == set(other)
    pairs = [(one[path], other[path]) for path in one]
    assert all((np.isfinite(a) == np.isfinite(b)).all() for a, b in pairs)
    return max(float(np.abs(a[np.isfinite(a)] - b[np.isfinite(a)]).max()) for a, b in pairs)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("unit", [1, 16])
@pytest.mark.parametrize("total", [2**20, 2**27 - 64, 2**27, 2**31, MAX_RECORDS - 64])
def test_weights_of_as_many_records_as_there_may_be(total: int, unit: int, classes: int) -> None:
    """One record more than 2**27, in sixteenths, overflowed 32 bits and turned a log weight from -9 to -1e8."""
    schema = schema_of(3, classes)
    space, times, more = space_of(schema, 2, unit), total // RECORDS, 9
    epsilon = 0.7 / unit
    found = by_sampler(Crowd(schema, times, more), schema, space, epsilon)
    expected = by_hand(schema, space, epsilon, times, more)
    assert apart(found, expected) <= float(space.rounding(Fraction(7, 10)))
    assert apart(found, by_hand(schema, space, epsilon, times, more + 1)) > 0.1, "the test would not see one record"


@pytest.mark.parametrize(("depth", "classes"), [(1, 2), (2, 3), (3, 2), (3, 3)])
def test_the_width_of_the_counts_does_not_show(depth: int, classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit: the width follows the number of records, and nothing that is released may."""
    schema = schema_of(4, classes)
    features, labels = records(schema)
    joint = JointCounts(features, labels, np.zeros(RECORDS, dtype=np.int32), Tests.binary(schema), classes)
    space = space_of(schema, depth, 4)
    narrow = by_sampler(joint, schema, space, 0.1)
    pairs = joint.pairs(np.array([[0], [1]]))
    monkeypatch.setattr(tree_sampler, "NARROW", -1)
    half_wide = by_sampler(joint, schema, space, 0.1)  # counts fit, weighted ones would not
    monkeypatch.setattr(joint_counts, "NARROW", -1)
    wide = by_sampler(joint, schema, space, 0.1)
    assert all((narrow[path] == wide[path]).all() and (narrow[path] == half_wide[path]).all() for path in narrow)
    again = joint.pairs(np.array([[0], [1]]))
    assert (pairs.dtype, again.dtype) == (np.int32, np.int64)
    assert (pairs == again).all()
