"""The one reader: a line is a record, by itself, whatever is in it; and messages show nothing of a file."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import Ledger, protect
from privet.datasets import real
from privet.errors import TableError
from privet.estimators.registry import make_classifier
from privet.schema import Categorical, Schema
from privet.tables import files
from privet.tables.encoding import encode
from privet.tables.files import BREAKS_CAVEAT, Records, caveats_of, read_table

SRC = Path(files.__file__).parents[1]
SCHEMA = Schema((Categorical("a", ("NA", "", "nan", "1")), Categorical("b", ("x", "y"))), Categorical("c", ("0", "1")))
NAMES = ("a", "b", "c")
Record = tuple[str | None, ...]
LOST: Record = (None, None, None)


def read(content: bytes, batch: int = files.BATCH, *, suffix: str = ".csv", **options: Any) -> list[Record]:
    """The records of a file of that content."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BATCH", batch)
        path = Path(folder) / f"t{suffix}"
        path.write_bytes(content)
        table = read_table(path, SCHEMA, **options)
        return list(zip(*(table[name].tolist() for name in NAMES), strict=True))


# ---- every line by itself -----------------------------------------------------------------------------------------

# Mostly what means something to a reader of CSV, and now and then any bytes at all.
pieces = st.sampled_from(
    [b"a", b"1", b",", b",", b";", b"\t", b'"', b'""', b" ", b"\r", b"\0", b"\xe9", b"\xc3\xa9", b"\xef\xbb\xbf"]
)
lines = st.one_of(
    st.lists(pieces, max_size=10).map(b"".join),
    st.lists(st.sampled_from([b"x", b'"x"', b'"x,""y"', b""]), min_size=3, max_size=3).map(b",".join),
    st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")),
)
ends = st.sampled_from([b"\n", b"\r\n"])
tables = st.lists(st.tuples(lines, ends).map(b"".join), max_size=10)


heads = st.sampled_from([b"a,b,c\n", b"a;b;c\n", b"a\tb\tc\n"])


@given(heads, tables, lines, st.integers(1, 60))
def test_a_table_is_its_lines_one_after_the_other(head: bytes, table: list[bytes], last: bytes, batch: int) -> None:
    """So one line more or less, or another in its place, changes that record and no other; and nothing raises."""
    whole = read(head + b"".join(table) + last, batch)
    alone = [read(head + line) for line in (*table, last)]
    assert all(len(records) <= 1 for records in alone)
    assert whole == [record for records in alone for record in records]


@given(tables, lines, st.integers(1, 60))
def test_a_record_is_none_only_for_an_empty_line(table: list[bytes], last: bytes, batch: int) -> None:
    """As many records as lines that are not empty: a prediction for each."""
    filled = [line for line in (*table, last) if line.removesuffix(b"\n").removesuffix(b"\r")]
    assert len(read(b"a,b,c\n" + b"".join(table) + last, batch)) == len(filled)


BREAKS: dict[str, tuple[bytes, Record]] = {
    "extra comma": (b"1,x,0,?", LOST),
    "too few cells": (b"1,x", LOST),
    "quote at the start of a line": (b'"1,x,0', LOST),
    "quote at the start of a cell": (b'1,"x,0', LOST),
    "quote in a cell": (b'1,x"y,0', LOST),
    "quote at the end": (b'1,x,0"', LOST),
    "text behind a quote": (b'1,"x"y,0', LOST),
    "Latin-1": (b"caf\xe9,x,0", LOST),
    "half a character": (b"1,x,0\xc3", LOST),
    "a surrogate": (b"\xed\xa0\x80,x,0", LOST),
    "NUL": (b"1\0,x,0", ("1\0", "x", "0")),
    "NUL at the end": (b"1,x,0\0", ("1", "x", "0\0")),
    "a lone carriage return": (b"1,x\ry,0", ("1", "x\ry", "0")),
    "a line separator of Unicode": ("1,x\u2028y,0".encode(), ("1", "x\u2028y", "0")),
    "commas without end": (b"," * 10**6, LOST),
    "quotes without end": (b'"' * (10**6 + 1), LOST),
    "quoted cells without end": (b'"",' * 10**5, LOST),
    "spaces around quotes": (b'1, "x, y" ,0', ("1", "x, y", "0")),
    "only spaces": (b"  ", LOST),
    "an end of file of old": (b"\x1a", LOST),
}


@pytest.mark.parametrize("place", [0, 10, 20])
@pytest.mark.parametrize("name", BREAKS)
def test_a_bad_line_is_one_bad_record(name: str, place: int) -> None:
    line, record = BREAKS[name]
    clean = [b"%d,x,1" % i for i in range(20)]
    expected: list[Record] = [(str(i), "x", "1") for i in range(20)]
    for suffix, pack in ((".csv", bytes), (".csv.gz", gzip.compress)):
        content = b"\n".join([b"a,b,c", *clean[:place], line, *clean[place:], b""])
        assert read(pack(content), suffix=suffix) == [*expected[:place], record, *expected[place:]]


def test_a_long_cell_does_not_make_others_long() -> None:
    """In a fixed-width array one record decides how much memory everybody's cells take: 8 GB here."""
    long = b"1" * 2 * 10**6
    records = read(b"a,b,c\n" + b"1,x,0\n" * 1000 + long + b",x,0\n")
    assert (len(records), records[0], len(str(records[-1][0]))) == (1001, ("1", "x", "0"), len(long))


def test_what_is_lost_has_no_label_and_no_value(tmp_path: Path) -> None:
    """Also where the schema lists the empty text as a value."""
    empty = Schema((Categorical("a", ("x", "")),), Categorical("b", ("", "1")))
    path = tmp_path / "t.csv"
    path.write_text("a,b\n,\n,,\nx,1\n")
    assert encode(empty, read_table(path, empty)).labels.tolist() == [0, 1]  # type: ignore[union-attr]


# ---- what is written is read --------------------------------------------------------------------------------------

cells = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
written = st.lists(st.tuples(cells, cells, cells), max_size=12)


def csv_of(rows: Sequence[Record], **style: Any) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, **style).writerows([NAMES, *rows])
    return out.getvalue().encode()


@given(
    written,
    st.integers(1, 60),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from([",", "\t", ";"]),
)
def test_what_is_written_is_read(rows: list[Record], batch: int, quoting: Any, delimiter: str) -> None:
    away = "\n," if delimiter == ";" else "\n"  # beside semicolons a comma can be that of a number
    rows = [tuple("".join(" " if c in away else c for c in str(cell)) for cell in row) for row in rows]
    assert read(csv_of(rows, quoting=quoting, delimiter=delimiter), batch) == rows


@given(written, st.integers(1, 60))
def test_line_breaks_in_quotes_are_read_on_request(rows: list[Record], batch: int) -> None:
    assert read(csv_of(rows, quoting=csv.QUOTE_ALL), batch, quoted_line_breaks=True) == rows


@given(tables, lines, st.integers(1, 60))
def test_no_line_raises_on_request_either(table: list[bytes], last: bytes, batch: int) -> None:
    read(b"a,b,c\n" + b"".join(table) + last, batch, quoted_line_breaks=True)


def test_nothing_is_guessed() -> None:
    records = read(b"a,b,c\nNA,x,0\n,x,01\nnan,y,1.0\n007,y,1\n")
    assert records == [("NA", "x", "0"), ("", "x", "01"), ("nan", "y", "1.0"), ("007", "y", "1")]


@pytest.mark.parametrize("head", [b"\xef\xbb\xbfa,b,c\n", b" a , b,c\t\r\n", b'"a","b","c"\n', b"c,spare,b,a\n"])
def test_columns_are_found_by_name(head: bytes) -> None:
    row = b"0,?,x,1\n" if b"spare" in head else b"1,x,0\n"
    assert read(head + b"\n\n" + row + b"\r\n") == [("1", "x", "0")]


def test_the_label_is_needed_only_to_learn(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("b,a\nx,1\n")
    assert list(read_table(path, SCHEMA, with_label=False)) == ["a", "b"]
    with pytest.raises(TableError, match="lacks the column 'c'"):
        read_table(path, SCHEMA)


# ---- messages -----------------------------------------------------------------------------------------------------


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_table(path, SCHEMA)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("row", ["Smith,37,sick", 'Smith,"37', "Smith", "a,b,Smith", "a,b,c,c,Smith", "a;b;Smith"])
def test_a_forgotten_header_is_not_shown(tmp_path: Path, row: str) -> None:
    for end in (b"\n", b"\r", b""):
        message = refusal(tmp_path / "t.csv", row.encode() + end + b"Jones,38,well" + end)
        assert not any(word in message for word in ("Smith", "37", "sick", "Jones"))
        assert "'c'" in message
    assert "not UTF-8" in refusal(tmp_path / "t.csv", b"Smith,caf\xe9,sick\n")


def test_a_damaged_gzip_has_one_message(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b,c\n" + b"".join(b"%d,x,1\n" % i for i in range(3000)), mtime=0)
    flipped = whole[:3000] + bytes([whole[3000] ^ 255]) + whole[3001:]
    damaged = [
        whole[:9],
        whole[: len(whole) // 2],
        whole[:-1],
        whole + b"Smith",
        flipped,
        whole[:-8] + b"x" * 8,
    ]
    messages = {refusal(tmp_path / "t.csv.gz", content) for content in damaged}
    one = f"{str(tmp_path / 't.csv.gz')!r} is not a whole gzip file; copy or compress it again"
    assert messages == {one}
    assert refusal(tmp_path / "t.csv.gz", b"a,b,c\n") == f"{one} (it is not compressed: call it .csv)"


def test_a_damaged_parquet_has_one_message(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"a": ["Smith"] * 500, "b": ["x"] * 500, "c": ["0"] * 500}), path)
    whole = path.read_bytes()
    damaged = [b"PAR1", b"Smith,x,0\n", whole[: len(whole) // 2], whole[4:], whole[:4] + b"\xff" * 90 + whole[94:]]
    messages = {refusal(path, content) for content in damaged}
    assert messages == {f"{str(path)!r} is not a Parquet table that can be read; copy or write it again"}


def test_parquet_is_handed_over_as_it_is(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    columns = {"spare": [b"?", b"!"], "c": [0, None], "b": ["x", None], "a": [2**60 + 1, None]}
    parquet.write_table(pyarrow.table(columns), path)
    table = read_table(path, SCHEMA)
    assert table.equals(pyarrow.table({name: columns[name] for name in NAMES}))
    assert caveats_of(table) == ()
    parquet.write_table(pyarrow.table({"Smith": [1], "b": ["x"]}), path)
    message = refusal(path, path.read_bytes())
    assert "lacks the columns 'a', 'c'" in message
    assert "Smith" not in message
    twice = pyarrow.Table.from_arrays([pyarrow.array(["x"])] * 4, names=[*NAMES, "b"])
    parquet.write_table(twice, path)
    assert "two columns called 'b'" in refusal(path, path.read_bytes())


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_a_text_of_parquet_that_is_not_utf8_is_null(tmp_path: Path, kind: str) -> None:
    """Arrow raises at such a cell and quotes it; the cells beside it must not notice."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    cells = pyarrow.array([b"x", b"caf\xe9", None, b"y"], pyarrow.binary())
    text = pyarrow.Array.from_buffers(pyarrow.string(), 4, cells.buffers())
    if kind == "large_string":
        text = text.cast(pyarrow.large_string())
    if kind == "dictionary":
        text = text.dictionary_encode()
    parquet.write_table(pyarrow.table({"a": [1, 2, 3, 4], "b": text, "c": ["0", "1", "0", "1"]}), path)
    table = read_table(path, SCHEMA)
    assert table.schema.field("b").type == text.type
    assert table["b"].to_pylist() == ["x", None, None, "y"]
    assert encode(SCHEMA, table).features[1][[0, 3]].tolist() == [0, 1]


def test_parquet_without_pyarrow_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableError, match="pip install pyarrow"):
        read_table(path, SCHEMA)


def test_records_do_not_show_themselves() -> None:
    assert repr(Records({"a": files.np.array(["Smith"], object)})) == "Records('a')"


# ---- what a certificate says --------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [False, True])
def test_line_breaks_on_request_are_on_the_certificate(tmp_path: Path, asked: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "1,x,0\n" * 50)
    table = read_table(path, SCHEMA, quoted_line_breaks=asked)
    expected = [BREAKS_CAVEAT] if asked else []
    fitted = make_classifier("sulq", schema=SCHEMA, epsilon=1, max_depth=1).fit(table)
    assert [c.text for c in fitted.certificate_.caveats] == expected
    assert fitted.certificate_.private
    data = protect(table, SCHEMA, Ledger(1))
    assert [c.text for c in data.ledger.certificate().caveats] == expected


def test_a_column_of_that_name_adds_no_caveat() -> None:
    assert caveats_of({"caveats": ["Smith"]}) == ()
    pandas = pytest.importorskip("pandas")
    assert caveats_of(pandas.DataFrame({"caveats": ["Smith"]})) == ()


# ---- one reader ---------------------------------------------------------------------------------------------------


def test_no_other_module_reads_tables() -> None:
    """Nobody else unpacks gzip, takes CSV apart or opens Parquet."""
    others = []
    for file in SRC.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        named = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
        unpacks = {name for name in named if name.startswith("gzip.")} - {"gzip.compress"}
        imported = {
            alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names
        }
        readers = {name.rpartition(".")[2] for name in named} & {
            "ParquetFile", "DictReader", "read_csv", "read_parquet"
        }  # fmt: skip
        if readers or unpacks or imported & {"parquet"}:
            others.append(file.relative_to(SRC).as_posix())
    writes, exported = "cli/predicting.py", "models/export/scorer.py"  # predictions; a program that runs without privet
    assert set(others) - {writes, exported} == {"tables/bounded.py", "tables/files.py", "tables/parquet.py"}


def test_the_loader_of_real_tables_uses_it(tmp_path: Path) -> None:
    SCHEMA.to_json(tmp_path / "t.schema.json")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b'a,b,c\n1,x,0\n1,"x,0\n\xe9,x,0\n1,y,1\n'))
    assert real.read_table is read_table  # type: ignore[attr-defined]
    assert real.load("t", tmp_path)[1]["b"].tolist() == ["x", None, None, "y"]
