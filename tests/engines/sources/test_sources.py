"""Every source: the same records as the table itself, and no word too much when it cannot be read."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import privet
from privet import EngineError, Ledger, TableError
from privet.datasets.clinic import clinic
from privet.engines.chunks import ChunkEngine
from privet.engines.opening import open_engine
from privet.engines.sources import Source, open_source
from privet.engines.sources.places import parse_place, table_words
from privet.engines.sources.spark import SparkTable
from privet.papers import DiffPC45Classifier
from privet.privacy.counting import ROOT, class_counts
from privet.testing import check_engine

pa = pytest.importorskip("pyarrow")
from edges import differences, edge_schema, edge_table  # noqa: E402

SECRET = "hunter2"


def parquet(table: Any, folder: Path) -> str:
    from pyarrow import parquet

    half = table.num_rows // 2
    parquet.write_table(table.slice(0, half), folder / "a.parquet", row_group_size=3)
    parquet.write_table(table.slice(half), folder / "b.pq", use_dictionary=False)
    return str(folder / "*.p*q*")


def arrow_dataset(table: Any, folder: Path) -> Any:
    from pyarrow import dataset

    parquet(table, folder)
    return dataset.dataset([folder / "a.parquet", folder / "b.pq"])


def scanner(table: Any, folder: Path) -> Any:
    return arrow_dataset(table, folder).scanner(batch_size=2)


def reader(table: Any, folder: Path) -> Any:
    return table.to_reader(max_chunksize=4)


def duckdb_file(table: Any, folder: Path) -> str:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    with duckdb.connect(str(folder / "clinic.db")) as connection:
        connection.register("given", table)
        connection.execute('create schema ward; create table ward."the patients" as select * from given')
    return f"duckdb:///{folder}/clinic.db?table=ward.the+patients"


def duckdb_query(table: Any, folder: Path) -> str:
    return duckdb_file(table, folder).partition("?")[0] + '?query=select+*+from+ward."the+patients";'


def relation(table: Any, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    return duckdb.from_arrow(table)


MAKES: dict[str, Callable[[Any, Path], Any]] = {
    f.__name__: f for f in (parquet, arrow_dataset, scanner, reader, duckdb_file, duckdb_query, relation)
}


@pytest.mark.parametrize("make", MAKES)
def test_every_odd_cell_is_read_as_from_the_table(make: str, tmp_path: Path) -> None:
    table = edge_table()
    engine = open_engine(MAKES[make](table, tmp_path), edge_schema(table))
    assert isinstance(engine, ChunkEngine)
    assert differences(engine, table) == []


@pytest.mark.parametrize("make", ["parquet", "duckdb_file", "reader"])
@pytest.mark.parametrize("size", [1, 2**17])
def test_every_source_counts_as_memory_does(make: str, size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    def opened(schema: privet.Schema, table: dict[str, list[Any]]) -> ChunkEngine:
        typed = pa.table({name: pa.array(column, pa.string()) for name, column in table.items()})
        source: Any = open_source(MAKES[make](typed, tmp_path_factory.mktemp("table")))
        return ChunkEngine.read(source, schema, size=size)

    check_engine(opened, rounds=4, records=20, texts=True)


def test_a_difference_is_caught(tmp_path: Path) -> None:
    table = edge_table()
    place = table.column_names.index("text")
    other = table.set_column(place, "text", pa.array(["?"] * table.num_rows))
    assert differences(open_engine(parquet(other, tmp_path), edge_schema(table)), table) == ["text"]


@pytest.mark.parametrize("size", [1, 7, 2**17])
def test_csv_in_pieces(size: int, tmp_path: Path) -> None:
    schema, table = clinic(300, seed=2)
    names = [*schema.names, schema.label.name]
    rows = [",".join(str(table[name][i]) for name in names) for i in range(300)]
    damaged = ['"', "a", "b,c,d,e,f,g,h,i"]
    (tmp_path / "a.csv").write_text("\n".join([",".join(names), *rows[:100], *damaged]))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress("\n".join([",".join(names), *rows[100:]]).encode()))
    source = open_source(tmp_path / "*.csv*")
    assert isinstance(source, Source)
    engine = ChunkEngine.read(source, schema, size=size)
    assert class_counts(engine, ROOT).tolist() == class_counts(open_engine(table, schema), ROOT).tolist()


def test_only_the_columns_of_the_schema_are_read(tmp_path: Path) -> None:
    schema, table = clinic(50, seed=1)
    asked = []

    class Recording:
        caveats = ()

        def header(self, columns: Any) -> Any:
            return {name: [] for name in columns}

        def batches(self, columns: Any) -> Any:
            asked.append(tuple(columns))
            yield {name: table[name] for name in columns}

    privet.protect(Recording(), schema, Ledger(1))
    assert asked == [(*schema.names, schema.label.name)]


def test_a_fit_from_a_source_says_how_it_was_read(tmp_path: Path) -> None:
    schema, table = clinic(500, seed=1)
    from pyarrow import parquet

    parquet.write_table(pa.table({name: list(column) for name, column in table.items()}), tmp_path / "t.parquet")
    model = DiffPC45Classifier(schema, epsilon=1, max_depth=2).fit(tmp_path / "t.parquet")
    assert model.certificate_.private
    assert model.predict(table).size == 500
    with pytest.raises(privet.ParameterError, match="leave them out"):
        DiffPC45Classifier(schema, epsilon=1).fit(tmp_path / "t.parquet", table[schema.label.name])


# ---- what cannot be read ------------------------------------------------------------------------------------------


WRONG = {
    "s3://bucket/t.parquet": "no table is read from s3://",
    "nothing/*.parquet": "no file matches",
    "nothing.parquet": "there is no table",
    "duckdb:///nothing.db?table=t": "there is no file at the path of duckdb://...\\?table=t",
    "duckdb:///nothing.db": "must say what to read",
    f"postgresql://me:{SECRET}@nowhere.invalid/db": "must say what to read",
    f"postgresql://me:{SECRET}@nowhere.invalid/db?table=t&query=select+1": "must say what to read",
    f"postgresql://me:{SECRET}@127.0.0.1:1/db?connect_timeout=1&table=t": "nothing listens at that host and port",
}


@pytest.mark.parametrize("address", WRONG)
def test_a_wrong_address_is_said_without_its_secrets(address: str) -> None:
    for package in ("duckdb", "adbc_driver_postgresql"):
        pytest.importorskip(package)
    schema, _ = clinic(10)
    with pytest.raises(TableError, match=WRONG[address]) as raised:
        privet.protect(address, schema, Ledger(1))
    assert SECRET not in str(raised.value)
    assert SECRET not in repr(raised.value.__context__)


def test_a_source_does_not_show_its_address() -> None:
    for address in (f"postgresql://me:{SECRET}@host/db?table=t", f"duckdb:///{SECRET}.db?table=t"):
        assert SECRET not in repr(open_source(address)) + repr(parse_place(address))


def test_what_is_asked() -> None:
    assert parse_place("postgresql://h/d?table=a.b%22c").table == '"a"."b""c"'
    assert parse_place("duckdb:////tmp/a.db?query=select+1+as+a;").query == "select 1 as a;"
    kept = "postgresql://h/d?password=a+b%20c&options=-c%20x%3Dy"
    assert parse_place(f"{kept}&table=t").address == kept  # libpq reads + as itself


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("visits", '"visits"'),
        ("Ward.The Visits", '"Ward"."The Visits"'),
        ('"visits.2024"', '"visits.2024"'),
        ('ward."visits.2024"', '"ward"."visits.2024"'),
        ('"a.b"."c.d"', '"a.b"."c.d"'),
        ('"say ""hi"".now"', '"say ""hi"".now"'),
        ('5" pipes', '"5"" pipes"'),
        ('"visits', None),
        ('"visits"2024', None),
        ("ward..visits", None),
        (".visits", None),
        ("visits.", None),
        ('""', None),
    ],
)
def test_names_with_dots_are_quoted(told: str, words: str | None) -> None:
    if words is not None:
        assert table_words(told) == words
        return
    with pytest.raises(TableError, match="double quotes"):
        table_words(told)


@pytest.mark.parametrize(
    ("package", "address", "extra"),
    [
        ("duckdb", "duckdb:///t.db?table=t", "duckdb"),
        ("adbc_driver_postgresql", "postgresql://h/d?table=t", "postgres"),
    ],
)
def test_a_missing_package_is_named(package: str, address: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    schema, _ = clinic(10)
    with pytest.raises(TableError, match=rf"privet\[{extra}\]"):
        privet.protect(address, schema, Ledger(1))


def test_a_spark_table_without_arrow_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.engines.sources.spark.find_spec", lambda name: None)
    schema, _ = clinic(10)
    with pytest.raises(TableError, match=r"pyarrow.*privet\[spark\]"):
        privet.protect(SparkTable(object()), schema, Ledger(1))


@pytest.mark.parametrize("make", ["parquet", "arrow_dataset", "duckdb_file", "relation", "reader"])
def test_a_column_that_is_not_there(make: str, tmp_path: Path) -> None:
    table = edge_table("flag")
    with pytest.raises(TableError, match=r"flag|columns that the schema declares"):
        open_engine(MAKES[make](table, tmp_path), edge_schema(edge_table()))


class Breaking:
    """A source that fails in the middle, with a message that quotes a record."""

    caveats = ()

    def __init__(self, table: Any) -> None:
        self.table = table

    def header(self, columns: Any) -> Any:
        return {name: [] for name in columns}

    def batches(self, columns: Any) -> Any:
        yield {name: self.table[name] for name in columns}
        raise ValueError("cannot read the cell 'Smith'")


def test_a_source_that_breaks_charges_nothing_and_quotes_nothing() -> None:
    schema, table = clinic(50, seed=1)
    ledger = Ledger(1)
    with pytest.raises(EngineError, match="nothing was charged") as raised:
        DiffPC45Classifier(schema, epsilon=1, ledger=ledger).fit(Breaking(table))
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None
    assert ledger.spent == 0
    DiffPC45Classifier(schema, epsilon=1, ledger=ledger).fit(table)


def test_a_truncated_parquet_file(tmp_path: Path) -> None:
    from pyarrow import parquet

    schema, table = clinic(5000, seed=1)
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({name: list(column) for name, column in table.items()}), path, row_group_size=500)
    content = bytearray(path.read_bytes())
    path.write_bytes(content[:-100])
    ledger = Ledger(1)
    with pytest.raises(TableError, match="not a Parquet table"):
        privet.protect(path, schema, ledger)
    content[len(content) // 2 : len(content) // 2 + 400] = bytes(400)  # the header is whole, some pages are not
    path.write_bytes(content)
    with pytest.raises((TableError, EngineError)):
        privet.protect(path, schema, ledger)
    assert ledger.spent == 0
