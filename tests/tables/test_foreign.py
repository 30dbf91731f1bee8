"""What a refusal adds about files of another make: from the name and the first line only, and never a cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from privet import Categorical, Numeric, Schema
from privet.errors import TableError
from privet.tables.files import column_names, read_table
from privet.tables.foreign import hint_by_first_line

SCHEMA = Schema((Numeric("age", 0, 120), Categorical("ward", ("A", "B"))), Categorical("ill", ("no", "yes")))
SECRET = "Smith"
FILES: dict[str, tuple[str, bytes, str]] = {
    "bars after a mark": ("t.csv", b'\xef\xbb\xbf"age"|"ward"|"ill"\r\n31|Smith|no\r\n', "bars between the names"),
    "Latin-1": ("t.csv", "age;ward;ill;größe\n31;Smith;no;1\n".encode("latin-1"), "spreadsheets call 'CSV UTF-8'"),
    "other capitals beside semicolons": ("t.csv", b"Age;Ward;ILL\n31;Smith;no\n", "in capital letters"),
    "bars": ("t.csv", b"age|ward|ill\n31|Smith|no\n", "bars between the names"),
    "other capitals": ("t.csv", b"Age,Ward,ILL\n31,Smith,no\n", "differ from the schema's in capital letters"),
    "a file of tabs": ("t.tab", b"age\tward\till\n", "call it .csv"),
    "a text file": ("t.txt", b"age,ward,ill\n", "call it .csv"),
    "a damaged Excel file": ("t.xlsx", b"PK\x03\x04Smith", "cannot be read as a spreadsheet"),
    "an old one": ("t.XLS", b"\xd0\xcf\x11\xe0", "cannot be read as a spreadsheet"),
    "a spreadsheet of another program": ("t.numbers", b"PK\x03\x04", "it is a spreadsheet"),
    "an Excel file called CSV": ("t.csv", b"PK\x03\x04Smith\n", "an Excel file under another name"),
    "a zip": ("t.csv.zip", b"PK\x03\x04", "unpack it"),
    "gzip called CSV": ("t.csv", gzip.compress(b"age,ward,ill\n31,Smith,no\n"), "call it .csv.gz"),
    "CSV called gzip": ("t.csv.gz", b"age,ward,ill\n31,Smith,no\n", "call it .csv"),
    "Parquet called CSV": ("t.csv", b"PAR1\x15\x04\nSmith", "call it .parquet"),
    "UTF-16": ("t.csv", "\ufeffage,ward,ill\n31,Smith,no\n".encode("utf-16-le"), "it is UTF-16"),
    "a Stata file": ("t.dta", b"<stata_dta>", "write it as CSV or Parquet"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_refusal_says_what_to_do(tmp_path: Path, kind: str) -> None:
    name, content, hint = FILES[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=hint) as refused:
        read_table(tmp_path / name, SCHEMA)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("line", [b"31,Smith,no", b"31;Smith;no", b"Smith", b"caf\xe9;Smith", b"", b";;"])
def test_a_record_in_the_first_place_gets_no_hint(line: bytes) -> None:
    assert hint_by_first_line(line, ("age", "ward", "ill")) == ""


@pytest.mark.parametrize(
    "line", [b"age,ward,ill", b"age,ward,ill,remark;s", b"age,ill,PAR1\tx,ward", b"\xef\xbb\xbfill,age,ward"]
)
def test_a_hint_refuses_nothing(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(line + b"\n")
    assert list(read_table(tmp_path / "t.csv", SCHEMA)) == ["age", "ward", "ill"]


def test_the_names_of_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbf age ,"ward, old",ill\n')
    assert column_names(tmp_path / "t.csv") == ("age", "ward, old", "ill")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"age": [1], "ill": ["no"]}), tmp_path / "t.parquet")
    assert column_names(tmp_path / "t.parquet") == ("age", "ill")
