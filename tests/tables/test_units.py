"""At most so many rows of a unit, the same in any order, in any chunks, under any key."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet
from privet import Ledger, ParameterError, PrivacyError, Schema, SchemaError, TableError, Unit
from privet.engines import parts
from privet.engines.chunks import ChunkEngine
from privet.engines.memory import MemoryEngine
from privet.engines.opening import open_engine
from privet.evaluation.splitting import split_protected
from privet.privacy.counting import ROOT, Engine, Tally
from privet.privacy.dataset import PrivateDataset
from privet.schema import Categorical, Numeric
from privet.tables.encoding import encode
from privet.tables.frames import open_table
from privet.tables.frozen import freeze
from privet.tables.units import choose, id_of, key_of, keyed_hash, read_ids

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")

UNIT = Unit("who", max_rows=2)
SCHEMA = Schema(
    (Numeric("age", 0, 10, bins=5, missing="?"), Categorical("ward", ("a", "b", "c"))),
    Categorical("ill", ("no", "yes")),
    unit=UNIT,
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from([1.0, 4.0, 9.5, None, -0.0, 0.0]),
        st.sampled_from(["a", "b", "?"]),
        st.sampled_from(["no", "yes", None]),
        st.sampled_from(["x", " x", "y", "7", 7, None, ""]),
    ),
    max_size=14,
)


def columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(SCHEMA.columns)}


def contents(engine: Engine) -> Any:
    """How often each combination of codes and label is there."""
    return engine.answer([Tally(ROOT, ((0, 1),))])[0]


class Pieces:
    """Rows as a source, a few at a time."""

    caveats = ()

    def __init__(self, rows: list[tuple[Any, ...]], size: int) -> None:
        self.rows, self.size = rows, size

    def header(self, names: Any) -> Any:
        return {name: [] for name in names}

    def batches(self, names: Any) -> Any:
        for start in range(0, len(self.rows), self.size):
            yield columns(self.rows[start : start + self.size])


# ---- the claim ----------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 5))
def test_one_unit_changes_at_most_so_many_rows(rows: Any, random: Any, size: int) -> None:
    """In memory and in chunks, dealt into parts on the way, whatever the order of rows and the sizes of batches."""
    whole = contents(open_engine(columns(rows), SCHEMA))
    shuffled = random.sample(rows, len(rows))
    assert np.array_equal(contents(open_engine(columns(shuffled), SCHEMA)), whole)
    few = parts.FEW
    parts.FEW = 3
    try:
        assert np.array_equal(contents(ChunkEngine.read(Pieces(shuffled, size), SCHEMA, size=4)), whole)
    finally:
        parts.FEW = few
    for gone in {id_of(row[3]) for row in rows}:
        rest = [row for row in random.sample(rows, len(rows)) if id_of(row[3]) != gone]
        left = contents(open_engine(columns(rest), SCHEMA))
        assert (left <= whole).all()  # the others keep their rows
        assert (whole - left).sum() <= UNIT.max_rows


@given(ROWS, st.binary(min_size=16, max_size=16), st.randoms(use_true_random=False))
def test_for_every_key(rows: Any, key: bytes, random: Any) -> None:
    def chosen(some: list[tuple[Any, ...]]) -> Counter[Any]:
        ids = read_ids(open_table(columns(some)), "who")
        words = np.array([[hash(row[:3]) & 2**60 - 1] for row in some], dtype=np.uint64).reshape(-1, 1)
        mask = choose(ids, words, 2, key)
        return Counter((id_of(row[3]), row[:3]) for row, stays in zip(some, mask, strict=True) if stays)

    kept = chosen(rows)
    assert chosen(random.sample(rows, len(rows))) == kept
    of_unit = Counter(id_of(row[3]) for row in rows)
    stay = Counter(unit for unit, _ in kept.elements())
    assert stay == Counter({unit: min(size, 2) for unit, size in of_unit.items()})


def test_a_choice_by_row_order_would_be_seen() -> None:
    """The same property finds a choice of the first rows."""
    rows = [(1.0, "a", "no", "x"), (9.5, "b", "yes", "x"), (4.0, "b", "no", "x")]
    first = [Counter(some[:2]) for some in (rows, rows[::-1])]
    assert first[0] != first[1]


def test_rows_without_a_label_take_no_place() -> None:
    rows = [(1.0, "a", None, "x")] * 5 + [(1.0, "a", "no", "x")] * 2
    assert contents(open_engine(columns(rows), SCHEMA)).sum() == 2


def test_equal_rows_are_not_all_or_nothing() -> None:
    rows = [(1.0, "a", "no", "x")] * 9
    assert contents(open_engine(columns(rows), SCHEMA)).sum() == 2


def test_the_choice_is_fair() -> None:
    """Of three rows of a unit two are kept. Over 3,000 units each place is kept with chance 2/3: sd 26, and 150 is more
    than 5.7 of them, a false alarm in less than 10^-7 (three places); 30 % off would be 600."""
    rows = [(place, "a", "no", unit) for unit in range(3000) for place in (1.0, 4.0, 9.5)]
    kept = contents(open_engine(columns(rows), SCHEMA)).sum(axis=(0, 2)).reshape(6, 3).sum(axis=1)
    assert kept.sum() == 6000
    assert all(abs(count - 2000) < 150 for count in kept if count)
    assert (kept > 0).sum() == 3


def test_who_a_cell_names() -> None:
    assert id_of(7) == id_of(7.0) == id_of("7") == id_of(" 7 ") == id_of(np.int8(7))
    assert len({id_of(cell) for cell in ("07", "7.0", 7, -7, "-7x", 7.5, "x", "X", None, 2**63, 2**64)}) == 11
    assert id_of(None) == id_of("") == id_of("  ") == id_of(float("nan")) == id_of([1])
    for column in ([7, 8], np.array([7, 8], np.int16), np.array([7, 8], np.uint64), ["7", "8"], [7.0, 8.0]):
        assert read_ids(open_table({"who": column}), "who")[:, 0].tolist() == [7, 8]


WHO = [1.0, 2.0, 3.0]
FLOATS: dict[str, Callable[[], Any]] = {
    "numpy": lambda: {"who": np.array(WHO)},
    "numpy, half": lambda: {"who": np.array(WHO, np.float16)},
    "numpy, masked": lambda: {"who": np.ma.masked_array(WHO, [False, True, False])},
    "array": lambda: {"who": array("d", WHO)},
    "pandas, a null": lambda: pd.DataFrame({"who": [1, 2, None]}),
    "pandas, nothing but nulls": lambda: pd.DataFrame({"who": np.full(3, np.nan)}),
    "pandas, nullable": lambda: pd.DataFrame({"who": pd.array(WHO, "Float64")}),
    "pandas, category": lambda: pd.DataFrame({"who": pd.Categorical(WHO)}),
    "pandas, arrow": lambda: pd.DataFrame({"who": pd.Series(WHO, dtype=pd.ArrowDtype(pa.float64()))}),
    "pandas, sparse": lambda: pd.DataFrame({"who": pd.arrays.SparseArray(WHO)}),
    "polars": lambda: pl.DataFrame({"who": WHO}),
    "polars, single": lambda: pl.DataFrame({"who": pl.Series(WHO, dtype=pl.Float32)}),
    "arrow": lambda: pa.table({"who": pa.array(WHO)}),
    "arrow, dictionary": lambda: pa.table({"who": pa.array(WHO).dictionary_encode()}),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "numpy": lambda: {"who": np.array([1, 2, 3])},
    "list": lambda: {"who": WHO},  # a list has no type, and its cells must not decide
    "pandas, objects": lambda: pd.DataFrame({"who": pd.Series(WHO, dtype=object)}),
    "pandas, nullable": lambda: pd.DataFrame({"who": pd.array([1, 2, None], "Int64")}),
    "pandas, category": lambda: pd.DataFrame({"who": pd.Categorical(["1", "2", None])}),
    "polars, a null": lambda: pl.DataFrame({"who": [1, 2, None]}),
    "polars, nothing": lambda: pl.DataFrame({"who": [None, None, None]}),
    "arrow, decimal": lambda: pa.table({"who": pa.array([1, 2, 3], pa.decimal128(20, 0))}),
    "arrow, text": lambda: pa.table({"who": ["1.0", "2.0", None]}),
}


def with_units(make: Callable[[], Any], records: int = 3) -> Any:
    """A table of all columns of the schema, of the library that made the units."""
    table = make()
    if isinstance(table, pa.Table):
        return pa.table({"age": [1] * 3, "ward": ["a"] * 3, "ill": ["no"] * 3, "who": table["who"]}).slice(0, records)
    if isinstance(table, pl.DataFrame):
        return table.with_columns(age=1, ward=pl.lit("a"), ill=pl.lit("no")).head(records)
    if isinstance(table, pd.DataFrame):
        return table.assign(age=1, ward="a", ill="no").head(records)
    return {"age": [1] * records, "ward": ["a"] * records, "ill": ["no"] * records, "who": table["who"][:records]}


@pytest.mark.parametrize("records", [3, 0])
@pytest.mark.parametrize("make", FLOATS)
def test_units_of_floating_type_are_refused_whatever_they_hold(make: str, records: int) -> None:
    ledger = Ledger(1)
    with pytest.raises(TableError, match=r"'who' is of a floating type.*text or as whole numbers"):
        privet.protect(with_units(FLOATS[make], records), SCHEMA, ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("make", ["numpy", "pandas, a null", "pandas, category", "polars", "arrow"])
def test_a_batch_whose_units_turn_into_floats_is_refused_too(make: str) -> None:
    """A source's later batches can have other types than its header."""
    with pytest.raises(TableError, match="floating type"):
        freeze(SCHEMA, with_units(FLOATS[make]))


@pytest.mark.parametrize("make", OTHERS)
def test_units_of_other_types_pass(make: str) -> None:
    privet.protect(with_units(OTHERS[make]), SCHEMA, Ledger(1))


def test_floating_units_of_a_source(tmp_path: Path) -> None:
    floats, whole = with_units(FLOATS["arrow"]), with_units(lambda: pa.table({"who": [1, 2, 3]}))
    parquet.write_table(floats, tmp_path / "b.parquet")
    with duckdb.connect(str(tmp_path / "c.db")) as connection:
        connection.register("given", floats)
        connection.execute("create table t as from given")
    for source in (tmp_path / "b.parquet", f"duckdb:///{tmp_path}/c.db?table=t", floats.to_reader()):
        with pytest.raises(TableError, match="floating type"):
            privet.protect(source, SCHEMA, Ledger(1))
    parquet.write_table(whole, tmp_path / "a.parquet")
    with pytest.raises(TableError, match="different types for the column 'who'"):
        privet.protect(str(tmp_path / "*.parquet"), SCHEMA, Ledger(1))
    text = "age,ward,ill,who\n1,a,no,1.5\n1,a,no,9007199254740993.0\n"
    (tmp_path / "t.csv").write_text(text)  # cells of a CSV file are text
    privet.protect(tmp_path / "t.csv", SCHEMA, Ledger(1))


def test_known_answers_of_the_hash() -> None:
    """SipHash's published vectors for 8 and 16 bytes, 0, 1, 2, ... under the key 0, 1, ..., 15."""
    key, told = bytes(range(16)), np.frombuffer(bytes(range(16)), dtype="<u8")
    assert keyed_hash([told[:1]], key).tolist() == [0x93F5F5799A932462]
    assert keyed_hash([told[:1], told[1:]], key).tolist() == [0x3F2ACC7F57C29BDB]


def test_the_key_is_public_and_its_own() -> None:
    assert key_of(UNIT) == hashlib.blake2b(b"who\x002", digest_size=16).digest()
    assert key_of(UNIT) != key_of(Unit("who", 3))


# ---- the books ----------------------------------------------------------------------------------------------------


def test_a_row_pays_its_share() -> None:
    ledger = Ledger(1)
    data = privet.protect(columns([(1.0, "a", "no", "x")]), SCHEMA, ledger)
    data.noisy_count(0.5)
    assert ledger.steps == 2
    assert ledger.certificate().charges[0].scale == 4  # 2 rows at half an epsilon
    assert ledger.certificate().epsilon == 0.5
    replaced = Ledger(1, neighbours="replace-one")
    privet.protect(columns([(1.0, "a", "no", "x")]), SCHEMA, replaced)
    assert replaced.steps == 4


def test_the_certificate_says_whom_it_protects() -> None:
    model = privet.papers.DiffPC45Classifier(SCHEMA, epsilon=1, max_depth=1).fit(columns([(1.0, "a", "no", "x")]))
    told = model.certificate_
    assert told.unit == UNIT
    assert "by one who added or removed, with all rows, of which at most 2 enter" in str(told)
    assert "a person with k units" in told.to_dict()["covers_not"]
    assert privet.Certificate.from_dict(json.loads(told.to_json())) == told
    assert model.schema_.unit == UNIT


def test_a_ledger_has_one_unit(tmp_path: Any) -> None:
    table = columns([(1.0, "a", "no", "x")])
    rows, other = replace(SCHEMA, unit=None), replace(SCHEMA, unit=Unit("who", 3))
    for first, second in ((SCHEMA, rows), (rows, SCHEMA), (SCHEMA, other)):
        ledger = Ledger(1)
        privet.protect(table, first, ledger)
        with pytest.raises(ParameterError, match="this ledger protects one"):
            privet.protect(table, second, ledger)
    journal = tmp_path / "clinic.journal"
    privet.protect(table, SCHEMA, Ledger(1, journal=journal)).noisy_count(0.5)
    again = Ledger(journal=journal)
    assert again.steps == 2
    with pytest.raises(ParameterError, match="not one row"):
        privet.protect(table, rows, again)
    privet.protect(table, SCHEMA, again)


def test_rows_that_were_not_chosen_are_refused() -> None:
    table = columns([(1.0, "a", "no", "x")] * 9)
    with pytest.raises(PrivacyError, match="not chosen"):
        PrivateDataset(MemoryEngine(SCHEMA, encode(SCHEMA, table)), Ledger(1))
    PrivateDataset(MemoryEngine(SCHEMA, freeze(SCHEMA, table).codes(SCHEMA)), Ledger(1))


def test_rows_are_chosen_before_they_are_assigned() -> None:
    """Else a unit could have all its rows in each of the two parts of a search."""
    data = privet.protect(columns([(1.0, "a", "no", "x")] * 50), SCHEMA, Ledger(1))
    assert sum(part.labels.size for part in split_protected(data, 0.5, "a search")) == 2


def test_a_search_and_a_score_by_unit() -> None:
    rows = [(float(i % 10), "ab"[i % 2], ("no", "yes")[i % 2], i // 3) for i in range(600)]
    tree = privet.papers.DiffPC45Classifier(SCHEMA, epsilon=1, max_depth=1)
    found = privet.PrivateSearch(tree, {"max_depth": [1, 2]}, epsilon=3).fit(columns(rows))
    assert found.certificate_.unit == UNIT
    score = privet.private_score(tree.fit(columns(rows)), columns(rows), None, 1, held_out=True)
    assert score.certificate.unit == UNIT
    assert score.scale == 2


# ---- where it is declared -------------------------------------------------------------------------------------------


def test_the_schema_keeps_its_unit() -> None:
    assert Schema.from_json(SCHEMA.to_json()) == SCHEMA
    assert SCHEMA.with_bins(3).unit == UNIT
    for wrong, why in (
        ({"name": "who"}, "max_rows"),
        ({"name": "who", "max_rows": 0}, "from 1 to"),
        ({"name": "who", "max_row": 1}, "did you mean 'max_rows'"),
        ({"name": "ward", "max_rows": 1}, "also an attribute"),
        ("who", "an object"),
    ):
        with pytest.raises(SchemaError, match=why):
            Schema.from_dict(SCHEMA.to_dict() | {"unit": wrong})


def test_a_table_must_say_who() -> None:
    table = columns([(1.0, "a", "no", "x")])
    del table["who"]
    with pytest.raises(TableError, match="'who'"):
        privet.protect(table, SCHEMA, Ledger(1))
    with pytest.raises(TableError, match="no column names"):
        privet.protect(np.zeros((3, 3)), SCHEMA, Ledger(1))
    model = privet.papers.DiffPC45Classifier(SCHEMA, epsilon=1, max_depth=1).fit(table | {"who": ["x"]})
    assert model.predict(table).size == 1  # a prediction asks nobody who they are
