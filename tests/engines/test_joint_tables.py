"""Joint counts from tallies against counting by hand, on one engine and on records that live in several places."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import Categorical, ExactTreeClassifier, Ledger, Numeric, ParameterError, Schema
from privet.engines import joint_tables, memory
from privet.engines.joint_counts import JointCounts
from privet.engines.joint_tables import JointTables, check_joint_tables, table_counts, tables_pay
from privet.engines.memory import MemoryEngine
from privet.growing.prelude import Prelude
from privet.privacy.counting import ROOT, Ints, Question, only, refine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.privacy.samplers.tree_space import TreeSpace
from privet.recipes.ours.exact import ExactTree
from privet.structure import compiled
from privet.structure.splits import Multiway, OneCategory, Tests, Threshold
from privet.tables.encoding import Codes, encode
from privet.testing import schemas, tables

from .test_joint_counts import check_counts, wide


class Places:
    """Records in several places; an answer is the sum of theirs. What an engine has without a kernel of its own."""

    def __init__(self, schema: Schema, features: np.ndarray, labels: np.ndarray, places: np.ndarray) -> None:
        self.schema, self.unit, self.caveats, self.passes = schema, None, (), 0
        self._parts = [
            MemoryEngine(schema, Codes(np.ascontiguousarray(features[:, places == i]), labels[places == i]))
            for i in range(3)
        ]

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        self.passes += 1
        answers = [part.answer(questions) for part in self._parts]
        return [np.sum(same, axis=0) for same in zip(*answers, strict=True)]

    def check_joint(self, tests: Tests, depth: int) -> None:
        joint_tables.check_joint_tables(self.schema, tests, depth)

    def joint(self, cells: Any, tests: Tests, depth: int) -> JointTables:
        return JointTables(self, cells, tests, depth)  # type: ignore[arg-type]


def records(schema: Schema, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)
    return features, rng.integers(0, schema.n_classes, n).astype(np.uint8)


@given(st.data())
@settings(max_examples=40)
def test_against_counting_by_hand(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    codes = encode(schema, data.draw(tables(schema, 20)))
    assert codes.labels is not None
    tests = Tests.binary(schema)
    places = np.array(data.draw(st.lists(st.integers(0, 2), min_size=codes.labels.size, max_size=codes.labels.size)))
    engine: Any = Places(schema, codes.features, codes.labels, places)
    cells, inside = ROOT, np.zeros(codes.labels.size, dtype=np.int32)
    if len(tests) and data.draw(st.booleans()):
        cells = only(refine(ROOT, schema, [tests[0]]), 1)
        inside = tests[0].branch(codes.features[tests[0].attribute]).astype(np.int32) - 1
    joint = JointTables(engine, cells, tests, 4, pass_counts=data.draw(st.sampled_from([1, 300, 2**20])))
    assert not joint.met.any()
    check_counts(joint, codes.features, codes.labels, inside, tests, schema.n_classes)


ODD_TESTS = {
    "thresholds and categories of one list": [Threshold(0, 2), OneCategory(0, 1), OneCategory(0, 3), Threshold(0, 0)],
    "no order among attributes": [OneCategory(2, 1), Threshold(0, 1), OneCategory(1, 0), Threshold(0, 3)],
    "two children for two values": [Multiway(1), OneCategory(1, 1), OneCategory(2, 0), OneCategory(1, 0)],
    "a test twice": [Threshold(0, 1), Threshold(0, 1), OneCategory(2, 2)],
    "some attributes only": [OneCategory(2, 0), OneCategory(2, 3)],
    "one": [OneCategory(1, 1)],
    "none": [],
}


@pytest.mark.parametrize("name", ODD_TESTS)
def test_lists_that_no_recipe_makes(name: str) -> None:
    listed = Categorical("a", tuple("pqrst")), Categorical("b", (0, 1)), Categorical("c", tuple("wxyz"))
    schema = Schema(listed, Categorical("class", (0, 1, 2)))
    features, labels = records(schema, 90, 3)
    engine, tests = MemoryEngine(schema, Codes(features, labels)), Tests.of(schema, ODD_TESTS[name])
    joint = JointTables(engine, ROOT, tests, 4)
    check_counts(joint, features, labels, np.zeros(90, dtype=np.int32), tests, 3)


def test_one_pass_while_the_counts_have_room() -> None:
    schema = wide(8, 2, arity=3)
    features, labels = records(schema, 200, 0)
    engine: Any = Places(schema, features, labels, np.arange(200) % 3)
    tests = Tests.binary(schema)
    JointTables(engine, ROOT, tests, 3)
    assert engine.passes == 1
    JointTables(engine, ROOT, tests, 3, pass_counts=10 * 27 * 2)
    assert engine.passes == 1 + 6  # 56 tuples, ten at a time


def test_threads_and_widths_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = wide(7, 3, arity=3)
    features, labels = records(schema, 3000, 1)
    tests, prefixes = Tests.binary(schema), np.arange(21)[:, None]
    found = []
    for most, narrow in ((1, joint_tables.NARROW), (4, joint_tables.NARROW), (2, -1)):
        monkeypatch.setattr(joint_tables, "NARROW", narrow)
        with compiled.threads(most):
            joint = JointTables(MemoryEngine(schema, Codes(features, labels)), ROOT, tests, 3)
            rows = [joint.pairs(prefixes)[p, p + 1 :] for p in range(20)]
            found.append((joint.singles.tolist(), [row.tolist() for row in rows]))
        assert rows[0].dtype == (np.int32 if narrow > 0 else np.int64)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_draw_has_the_same_weights_bit_for_bit(depth: int) -> None:
    """Which counts are used follows the number of records, so nothing that is released may follow from that."""
    numbers = tuple(Numeric(f"x{i}", 0, 1, bins=4) for i in range(2))
    schema = Schema((*numbers, Categorical("c", tuple("abc")), Categorical("b", (0, 1))), Categorical("class", (0, 1)))
    features, labels = records(schema, 400, depth)
    labels = ((features[0] > 1) ^ (labels > 0) ^ (features[2] == 2)).astype(np.uint8)
    tests = Tests.binary(schema)
    space = TreeSpace(tests, 2, (0.3,) * depth, np.arange(1.0, len(tests) + 1), (1, 1))
    engine = MemoryEngine(schema, Codes(features, labels))
    tables, bits = JointTables(engine, ROOT, tests, depth), engine.joint_by_bitsets(ROOT, tests)
    assert bits.met.any()
    assert not tables.met.any()
    one, other = (_Sampler(joint, space, space.answers(schema), 0.05) for joint in (tables, bits))

    def visit(path: dict[int, int]) -> None:
        """``path`` says which child; a sampler asks whether a test is met."""
        ours, theirs = (
            sampler._log_weights({t: side == int(joint.met[t]) for t, side in path.items()})
            for sampler, joint in ((one, tables), (other, bits))
        )
        assert ours.tobytes() == theirs.tobytes(), path
        if len(path) < depth:
            for t in np.random.default_rng(len(path)).permutation(len(tests))[:3].tolist():
                if t not in path:
                    visit({**path, t: 0})
                    visit({**path, t: 1})

    visit({})


def test_which_way_is_taken() -> None:
    """Few attributes and many records: tables. Many attributes, or hardly any record: bitsets."""
    numbers = Schema(tuple(Numeric(f"x{i}", 0, 1, bins=12) for i in range(14)), Categorical("class", (0, 1)))
    assert tables_pay(numbers, Tests.binary(numbers), 4, 10**6)
    assert not tables_pay(numbers, Tests.binary(numbers), 4, 100)
    many = wide(150, 2, arity=2)
    assert not tables_pay(many, Tests.binary(many), 4, 10**6)
    assert not tables_pay(numbers, Tests.binary(numbers), 1, 10**6)


def test_codes_that_no_test_asks_for_count_too() -> None:
    """Four levels of few tests on numbers of 200 codes: tables would be made from billions of counts."""
    fine = Schema(tuple(Numeric(f"x{i}", 0, 1, bins=200) for i in range(5)), Categorical("class", (0, 1)))
    every = Tests.binary(fine)
    tests = every.take(np.flatnonzero(every.cut % 20 == 0))
    assert not tables_pay(fine, tests, 4, 10**6)
    with pytest.raises(ParameterError, match="counts of values"):
        check_joint_tables(fine, tests, 4)
    check_joint_tables(fine, tests, 2)


def test_the_engine_in_memory_takes_the_faster_way(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = wide(3, 2, arity=3)
    features, labels = records(schema, 500, 2)
    engine, tests = MemoryEngine(schema, Codes(features, labels)), Tests.binary(schema)
    for pays, kind in ((True, JointTables), (False, JointCounts)):
        monkeypatch.setattr(joint_tables, "tables_pay", lambda *_, pays=pays: pays)
        assert type(engine.joint(ROOT, tests, 3)) is kind
    assert memory.PASS_COUNTS < joint_tables.PASS_COUNTS


def test_too_many_counts_are_refused_before_anything_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = wide(6, 2, arity=4)
    features, labels = records(schema, 50, 2)
    engine: Any = Places(schema, features, labels, np.zeros(50))
    tests, ledger = Tests.binary(schema), Ledger(1)
    space = TreeSpace(tests, 2, (0.5,) * 3, np.ones(len(tests)), (1, 1))
    held = table_counts(schema, tests, 3)
    assert held == 2 * (1 + 6 * 5 + 15 * 25 + 20 * 125)
    level = PrivateDataset(engine, ledger).level()
    monkeypatch.setattr(joint_tables, "MAX_COUNTS", held - 1)
    with pytest.raises(ParameterError, match="lower max_depth"):
        level.sample_trees_all([space], 1)
    assert ledger.spent == 0
    assert engine.passes == 0
    assert not tables_pay(schema, tests, 3, 10**9)
    monkeypatch.setattr(joint_tables, "MAX_COUNTS", held)
    level.sample_trees_all([space], 1)
    assert ledger.spent == 1


def test_a_fit_by_tables_finds_what_there_is() -> None:
    schema = wide(5, 2, arity=3)
    features, _ = records(schema, 3000, 4)
    table: dict[str, Any] = {f"x{a}": features[a] for a in range(5)}
    table["class"] = ((features[1] == 2) ^ (features[3] == 0)).astype(int)
    assert tables_pay(schema, Tests.binary(schema), 3, 3000)
    tree = ExactTreeClassifier(schema, 5, 3).fit(table)
    assert tree.score(table, table["class"]) > 0.99


def test_a_plan_asks_no_more_of_an_engine_than_it_can_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bitsets a wide table has too many joint counts for the levels that a draw affords: fewer are planned."""
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(12)), Categorical("class", (0, 1)))
    features, labels = records(schema, 300, seed=3)
    engine: Any = Places(schema, features, labels, np.arange(300) % 3)
    tests, recipe = Tests.binary(schema), ExactTree(n_public=300)
    planned, _ = recipe.survey(Prelude(PrivateDataset(engine, Ledger(1)), Fraction(1)))
    assert planned.max_depth == (10,)  # the most there are
    monkeypatch.setattr(joint_tables, "MAX_COUNTS", table_counts(schema, tests, 3))
    data = PrivateDataset(engine, Ledger(1))
    planned, prelude = recipe.survey(Prelude(data, Fraction(1)))
    assert planned.max_depth == (3,)
    assert "one block of 3 levels" in prelude.notes[1]
    tree = planned.grow(prelude.data, prelude.left, np.random.default_rng(0))
    assert tree.depth <= 3
    bitsets = PrivateDataset(MemoryEngine(schema, Codes(features, labels)), Ledger(1))
    planned, _ = recipe.survey(Prelude(bitsets, Fraction(1)))
    assert sum(planned.max_depth) > 3
