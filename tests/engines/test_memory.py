"""The in-memory engine against counting by hand in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import Categorical, Ledger, Numeric, ParameterError, Schema, protect
from privet.engines import memory
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT, Partition, Tally, bin_counts, class_counts, level_sums, only, refine
from privet.structure.splits import Multiway, OneCategory, Test, Tests, Threshold
from privet.tables.encoding import Codes, Quantum, encode
from privet.testing import ReplayNoise, schemas, tables, use_noise


def engine_of(schema: Schema, table: Any) -> MemoryEngine:
    return MemoryEngine(schema, encode(schema, table, levels=True))


def oracle_counts(engine: MemoryEngine, cells: Partition) -> np.ndarray:
    """(cell, bin, class) counts, one record at a time."""
    schema = engine.schema
    counts = np.zeros((cells.size, schema.total_bins, schema.n_classes), dtype=np.int64)
    for record, cell in enumerate(engine.places(cells).tolist()):
        if cell >= 0:
            for a, offset in enumerate(schema.offsets[:-1]):
                counts[cell, offset + engine._features[a, record], engine._labels[record]] += 1
    return counts


def oracle_route(engine: MemoryEngine, cells: Partition, tests: list[Test | None]) -> list[int]:
    first, start = [], 0
    for test in tests:
        first.append(start)
        start += 0 if test is None else test.arity(engine.schema)
    routed = []
    for record, cell in enumerate(engine.places(cells).tolist()):
        test = tests[cell] if cell >= 0 else None
        if test is None:
            routed.append(-1)
        else:
            routed.append(first[cell] + int(test.branch(engine._features[test.attribute, record : record + 1])[0]))
    return routed


def every_test(schema: Schema) -> list[Test | None]:
    return [None, *Tests.binary(schema), *Tests.multiway(schema)]


@pytest.fixture(params=[1, 0], ids=["one thread", "all threads"])
def _threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables take one thread; here they take all of them too."""
    if request.param == 0:
        monkeypatch.setattr(memory, "PARALLEL_FROM", 0)


@pytest.mark.usefixtures("_threads")
def test_a_level_against_the_oracle() -> None:
    @settings(max_examples=100 if memory.PARALLEL_FROM else 15)  # waking threads is slow on a busy machine
    @given(st.data())
    def check(data: st.DataObject) -> None:
        schema = data.draw(schemas())
        engine = engine_of(schema, data.draw(tables(schema, 20)))
        cells = ROOT
        for _ in range(data.draw(st.integers(0, 3))):
            tests = data.draw(st.lists(st.sampled_from(every_test(schema)), min_size=cells.size, max_size=cells.size))
            refined = refine(cells, engine.schema, tests)
            assert engine.places(refined).tolist() == oracle_route(engine, cells, tests)
            assert refined.size == sum(0 if test is None else test.arity(schema) for test in tests)
            cells = refined
        expected = oracle_counts(engine, cells)
        assert bin_counts(engine, cells).tolist() == expected.tolist()
        assert class_counts(engine, cells).tolist() == expected[:, : schema.arities[0]].sum(axis=1).tolist()
        for a, attribute in enumerate(schema.attributes):
            if isinstance(attribute, Numeric):
                sums = np.zeros(cells.size, dtype=np.int64)
                inside = engine.places(cells) >= 0
                np.add.at(sums, engine.places(cells)[inside], engine._levels[a][inside])
                assert level_sums(engine, cells, a).tolist() == sums.tolist()
        for cell in range(cells.size):
            alone = only(cells, cell)
            assert class_counts(engine, alone).tolist() == class_counts(engine, cells)[cell : cell + 1].tolist()

    check()


SCHEMA = Schema(
    (Categorical("colour", ("red", "green", "blue")), Numeric("size", 0, 10, bins=5, missing="?")),
    Categorical("class", ("no", "yes")),
)


@pytest.mark.parametrize("dirty", [[], ["unknown", None]], ids=["empty", "only unknown labels"])
def test_an_empty_table(dirty: list[Any]) -> None:
    engine = engine_of(SCHEMA, {"colour": ["red"] * len(dirty), "size": [1] * len(dirty), "class": dirty})
    root = ROOT
    assert bin_counts(engine, root).tolist() == np.zeros((1, 9, 2)).tolist()
    assert class_counts(engine, root).tolist() == [[0, 0]]
    assert level_sums(engine, root, 1).tolist() == [0]
    parts = refine(root, engine.schema, [Multiway(0)])
    assert class_counts(engine, parts).tolist() == [[0, 0]] * 3
    assert engine.shards(root, 4, lambda sides, size: np.zeros(size, dtype=np.int64)).size == 4
    none = refine(root, engine.schema, [None])
    assert none.size == 0
    assert bin_counts(engine, none).shape == (0, 9, 2)


def random_engine(records: int, arities: tuple[int, ...], classes: int, seed: int = 0) -> MemoryEngine:
    rng = np.random.default_rng(seed)
    dtype = np.uint8 if max(arities) <= 256 else np.uint16
    schema = Schema(
        tuple(Categorical(f"x{a}", tuple(range(arity))) for a, arity in enumerate(arities)),
        Categorical("class", tuple(range(classes))),
    )
    features = np.stack([rng.integers(0, arity, records) for arity in arities]).astype(dtype)
    return MemoryEngine(schema, Codes(features, rng.integers(0, classes, records).astype(np.uint8), {}))


def bincount_counts(engine: MemoryEngine, cells: Partition) -> np.ndarray:
    """The same as oracle_counts, fast enough for large tables."""
    schema = engine.schema
    inside = engine.places(cells) >= 0
    cell, label = engine.places(cells)[inside].astype(np.int64), engine._labels[inside]
    parts = []
    for a, arity in enumerate(schema.arities):
        keys = (cell * arity + engine._features[a, inside]) * schema.n_classes + label
        flat = np.bincount(keys, minlength=cells.size * arity * schema.n_classes)
        parts.append(flat.reshape(cells.size, arity, schema.n_classes))
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize(
    ("records", "arities", "classes"),
    [
        (1, (1,), 2),
        (4095, (3, 2), 2),
        (4096, (3, 2, 5), 3),
        (4097, (7,), 2),
        (60_000, (20,) * 5, 2),  # an odd number of attributes, on all threads
        (60_000, (256, 2), 4),
        (30_000, (300, 2, 1000), 2),  # codes of 16 bits
        (30_000, (20_000,), 5),
    ],
)
@pytest.mark.parametrize("n_cells", [1, 3, 700])
def test_shapes(records: int, arities: tuple[int, ...], classes: int, n_cells: int) -> None:
    engine = random_engine(records, arities, classes)
    if n_cells == 700 and max(arities) > 1000:
        n_cells = 7  # 700 cells of 20,000 bins take more memory than a test should
    of_record = np.random.default_rng(1).integers(-1, n_cells, records)  # -1 is outside
    # One cell more holds the records outside; the partition does not count it.
    dealt = engine.shards(ROOT, n_cells + 1, lambda sides, size: of_record % sides)
    cells = Partition(dealt.steps, n_cells)
    engine._places[cells.steps] = of_record.astype(np.int32)
    assert np.array_equal(bin_counts(engine, cells), bincount_counts(engine, cells))
    expected = np.zeros((n_cells, classes), dtype=np.int64)
    np.add.at(expected, (of_record[of_record >= 0], engine._labels[of_record >= 0]), 1)
    assert np.array_equal(class_counts(engine, cells), expected)


def test_a_record_outside_never_counts_again() -> None:
    engine = random_engine(1000, (4, 3), 2)
    red = refine(ROOT, engine.schema, [OneCategory(0, 0)])
    only_left = refine(red, engine.schema, [Multiway(1), None])
    assert only_left.size == 3
    assert class_counts(engine, only_left).sum() == (engine._features[0] == 0).sum()
    again = refine(only_left, engine.schema, [Multiway(0)] * 3)
    assert class_counts(engine, again).sum() == (engine._features[0] == 0).sum()
    assert set(engine.places(again)[engine._features[0] != 0].tolist()) == {-1}


def test_many_cells() -> None:
    engine = random_engine(50_000, (100, 100), 2)
    first = refine(ROOT, engine.schema, [Multiway(0)])
    level = refine(first, engine.schema, [Multiway(1)] * 100)
    assert level.size == 10_000
    assert np.array_equal(bin_counts(engine, level), bincount_counts(engine, level))


def test_thresholds_on_codes_of_16_bits() -> None:
    schema = Schema((Numeric("x", 0, 1000, bins=1000, missing="?"),), Categorical("class", ("a", "b")))
    values = [0.5, 255.5, 256.5, 257.5, 999.5, None]
    engine = engine_of(schema, {"x": values, "class": ["a"] * 6})
    assert engine._features.dtype == np.uint16
    parts = refine(ROOT, engine.schema, [Threshold(0, 256)])
    assert engine.places(parts).tolist() == [0, 0, 0, 1, 1, 1]
    parts = refine(ROOT, engine.schema, [Threshold(0, 999)])
    assert engine.places(parts).tolist() == [0, 0, 0, 0, 0, 1]


def test_sums_are_of_quantised_clipped_values() -> None:
    schema = Schema((Numeric("x", -5, 10, integer=True, missing="?"),), Categorical("class", ("a", "b")))
    engine = engine_of(schema, {"x": [3, 100, -100, None, "?"], "class": ["a", "a", "b", "b", "a"]})
    assert level_sums(engine, ROOT, 0).tolist() == [3 + 10 - 5]
    assert Quantum.of(schema.attributes[0]).bound == 10
    parts = refine(ROOT, engine.schema, [Threshold(0, 0)])
    assert level_sums(engine, parts, 0).sum() == 8


def test_sums_need_levels() -> None:
    engine = random_engine(5, (2,), 2)
    with pytest.raises(ParameterError, match="'x0'"):
        level_sums(engine, ROOT, 0)


def test_labels_are_needed() -> None:
    with pytest.raises(ParameterError, match="labels"):
        MemoryEngine(SCHEMA, Codes(np.zeros((2, 3), dtype=np.uint8), None))


def test_protect_takes_labels_apart() -> None:
    data = protect({"colour": ["red"], "size": [1]}, SCHEMA, Ledger(1), labels=["yes"])
    with use_noise(ReplayNoise([1, 1])) as source:
        data.class_counts(1)
    assert isinstance(source, ReplayNoise)
    assert [int(draw.values[0]) for draw in source.draws] == [0, 1]


# ---- shards -------------------------------------------------------------------------------------------------------


class PositionEngine(MemoryEngine):
    """The planted fault: shards by place in the table, as elsewhere, where it was audited at five times its epsilon."""

    def shards(self, cells: Partition, count: int, coins: Any) -> Partition:
        coins(count, self._labels.size)
        return super().shards(cells, count, lambda sides, size: np.arange(size) % sides)


def shard_counts(kind: type[MemoryEngine], table: dict[str, list[Any]], coins: list[int], count: int) -> np.ndarray:
    engine = kind(SCHEMA, encode(SCHEMA, table))
    with use_noise(ReplayNoise(coins)) as source:
        shards = engine.shards(ROOT, count, source.coins)
    assert isinstance(source, ReplayNoise)
    assert len(source.draws) == len(coins)
    return bin_counts(engine, shards)


def others_stay(kind: type[MemoryEngine], rows: list[tuple[str, int, str]], coins: list[int], out: int) -> bool:
    """Whether taking out one record, with its coin, changes its own shard only, and by itself."""
    count = 3

    def counted(keep: list[int]) -> np.ndarray:
        columns = {name: [rows[i][j] for i in keep] for j, name in enumerate(("colour", "size", "class"))}
        return shard_counts(kind, columns, [coins[i] for i in keep], count)

    everyone = list(range(len(rows)))
    moved = counted(everyone) - counted([i for i in everyone if i != out])
    alone = np.zeros_like(moved)
    alone[coins[out]] = counted([out])[coins[out]]
    return np.array_equal(moved, alone)


one_row = st.tuples(st.sampled_from(["red", "green", "blue"]), st.integers(0, 10), st.sampled_from(["no", "yes"]))


@given(st.lists(st.tuples(one_row, st.integers(0, 2)), min_size=1, max_size=12), st.data())
def test_a_record_that_leaves_moves_no_other(rows_and_coins: Any, data: st.DataObject) -> None:
    rows, coins = map(list, zip(*rows_and_coins, strict=True))
    assert others_stay(MemoryEngine, rows, coins, data.draw(st.integers(0, len(rows) - 1)))


def test_sharding_by_place_is_caught() -> None:
    rows = [("red", 1, "no"), ("green", 5, "yes"), ("blue", 9, "no"), ("red", 3, "yes")]
    coins = [0, 1, 2, 0]  # what the places would give: only a record that leaves tells the two apart
    assert others_stay(MemoryEngine, rows, coins, 0)
    assert not others_stay(PositionEngine, rows, coins, 0)


def test_shards_of_a_part() -> None:
    engine = random_engine(1000, (2,), 2)
    part = only(refine(ROOT, engine.schema, [Multiway(0)]), 1)
    thrown = np.random.default_rng(2).integers(0, 3, 1000)
    shards = engine.shards(part, 3, lambda sides, size: thrown)
    expected = np.where(engine._features[0] == 1, thrown, -1)
    assert engine.places(shards).tolist() == expected.tolist()
    assert class_counts(engine, shards).sum() == class_counts(engine, part).sum()


def test_a_question_changes_no_answer() -> None:
    engine = random_engine(1000, (4, 4), 2)
    before = bin_counts(engine, ROOT).tolist()
    refine(ROOT, engine.schema, [Multiway(0)])
    engine.shards(ROOT, 2, lambda sides, size: np.ones(size, dtype=np.int64))
    assert bin_counts(engine, ROOT).tolist() == before


@given(st.data())
@settings(max_examples=40)
def test_tuples_of_all_lengths_in_any_order(data: st.DataObject) -> None:
    """Codes of a tuple are kept for the next one if it differs in its last attribute only; all against plain numpy."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    schema = Schema(tuple(Categorical(f"c{a}", tuple(range(a + 2))) for a in range(4)), Categorical("class", (0, 1, 2)))
    n = data.draw(st.sampled_from([0, 1, 50, 70_000]))  # more than a block of records
    features = np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)
    labels = rng.integers(0, 3, n).astype(np.uint8)
    engine = MemoryEngine(schema, Codes(features, labels))
    cells = ROOT
    if data.draw(st.booleans()):
        cells = refine(refine(ROOT, schema, [OneCategory(1, 0)]), schema, [None, Multiway(2)])
    names = st.lists(st.integers(0, 3), max_size=3).map(tuple)
    tuples = tuple(data.draw(st.lists(names, min_size=1, max_size=8)))
    answer, places = engine.answer([Tally(cells, tuples)])[0], engine.places(cells)
    expected = []
    for asked in tuples:
        counts = np.zeros((cells.size, *(schema.arities[a] for a in asked), 3), dtype=np.int64)
        inside = places >= 0
        np.add.at(counts, (places[inside], *(features[a][inside] for a in asked), labels[inside]), 1)
        expected.append(counts.reshape(cells.size, -1, 3))
    assert np.array_equal(answer, np.concatenate(expected, axis=1))
