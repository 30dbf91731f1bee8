"""Spreadsheets: cells of every kind, a sheet and the row of its names by option, wherever a table is taken."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import spreadsheets
from spreadsheets import write_xlsx
from typer.testing import CliRunner

import privet
from privet.cli import app
from privet.datasets.clinic import clinic
from privet.engines.opening import load_first, load_table, open_engine
from privet.errors import TableError
from privet.privacy.counting import ROOT, class_counts
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode

pytest.importorskip("python_calamine", reason="NOT TESTED: spreadsheets; pip install 'privet[excel]'")

SCHEMA = Schema(
    (Numeric("age", 0, 99, missing="?"), Categorical("day", ("2024-03-01", "other")), Categorical("ok", (False, True))),
    Categorical("ill", ("no", "yes")),
)
HEAD = ["", "age", "ok", "ill", "day"]
ROWS: list[list[Any]] = [
    ["x", 64.0, True, "yes", date(2024, 3, 1)],
    [None, 3.5, False, "no", "other"],
    [None] * 5,
    [None, "?", True, "no", "#N/A"],
    ["a comment", None, None, None, None],
]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    sheets = {"Notes": [["of the ward"], [], HEAD, *ROWS], "Plain": [HEAD, *ROWS]}
    return write_xlsx(tmp_path / "book.xlsx", sheets)


def test_cells_become_what_a_csv_file_would_hold(book: Path) -> None:
    table = load_table(f"excel:///{book}?sheet=Plain", SCHEMA)
    assert list(table["age"]) == ["64", "3.5", "?", ""]
    assert list(table["ok"]) == ["true", "false", "true", ""]
    assert list(table["day"])[:2] == ["2024-03-01", "other"]
    codes = encode(SCHEMA, table)
    assert codes.labels is not None
    assert codes.labels.tolist() == [1, 0, 0]  # the comment has no label


def test_a_sheet_and_the_row_of_its_names(book: Path) -> None:
    plain, noted = (
        load_table(f"excel:///{book}?{options}", SCHEMA) for options in ("sheet=Plain", "sheet=Notes&header=3")
    )
    assert {name: list(plain[name]) for name in SCHEMA.columns} == {name: list(noted[name]) for name in SCHEMA.columns}
    assert load_first(f"excel:///{book}?sheet=Plain", 10)[0] == ("age", "ok", "ill", "day")


def test_every_way_to_take_a_table(tmp_path: Path) -> None:
    """A plain path is the first sheet: the engine, a fit, and the commands that draft, check and fit."""
    schema, table = clinic(200, seed=4)
    rows = list(zip(*(list(table[name]) for name in schema.columns), strict=True))
    plain = [
        [bool(c) if str(c) in ("True", "False") else float(c) if isinstance(c, float) else str(c) for c in row]
        for row in rows
    ]
    book = write_xlsx(tmp_path / "clinic.xlsx", {"s": [list(schema.columns), *plain]})
    with open(tmp_path / "clinic.csv", "w", newline="") as file:
        csv.writer(file).writerows([schema.columns, *rows])
    schema.to_json(tmp_path / "s.json")
    same = (class_counts(open_engine(path, schema), ROOT).tolist() for path in (book, tmp_path / "clinic.csv"))
    assert next(same) == next(same)
    privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=2).fit(str(book)).predict(book)
    for command in (
        ["schema", "draft", str(book), "-o", str(tmp_path / "d.json")],
        ["schema", "check", str(book), "--schema", str(tmp_path / "s.json")],
        ["fit", str(book), "-s", str(tmp_path / "s.json"), "-e", "1", "-r", "diffpid3", "-o", str(tmp_path / "t.json")],
        ["ask", f"excel:///{book}?sheet=s", "count", "--schema", str(tmp_path / "s.json"), "--epsilon", "1"],
    ):
        found = CliRunner().invoke(app, command)
        assert found.exit_code == 0, (command, found.output, found.exception)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("excel:///{}?sheet=Secret", "has no sheet of that name"),
        ("excel:///{}?header=0", "must be like excel:///visits.xlsx?sheet=2024&header=3"),
        ("excel:///{}?page=2", "must be like"),
        ("excel:///{}?sheet=Notes&header=2", "is empty; the row of the names"),
        ("excel:///{}?sheet=Plain&header=2", "lacks the columns"),
        ("excel:///{}.csv", "must end in .xlsx"),
        ("excel:///{}.xlsx", "there is no file"),
        ("excle:///{}", "did you mean excel://"),
    ],
)
def test_refusals_name_the_fix(book: Path, name: str, named: str) -> None:
    with pytest.raises(TableError, match=named.replace("?", r"\?")) as refused:
        load_table(name.format(book), SCHEMA)
    assert "comment" not in str(refused.value)


def test_a_date_beyond_all_calendars_is_a_missing_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package panics at it; the rows before and after are read."""
    usual = spreadsheets.cell
    wild = '<c s="1"><v>-1e300</v></c>'
    monkeypatch.setattr(spreadsheets, "cell", lambda value: wild if value == "wild" else usual(value))
    rows = [ROWS[0], ["x", 5, True, "no", "wild"], ROWS[1]]
    table = load_table(str(write_xlsx(tmp_path / "a.xlsx", {"s": [HEAD, *rows]})), SCHEMA)
    assert list(table["age"]) == ["64", None, "3.5"]
    assert list(table["ill"]) == ["yes", None, "no"]


def test_a_certificate_says_that_it_was_a_spreadsheet(book: Path) -> None:
    for name in (f"excel:///{book}?sheet=Plain", write_xlsx(book.parent / "plain.xlsx", {"s": [HEAD, *ROWS]})):
        data = privet.protect(name, SCHEMA, privet.Ledger(1))
        data.noisy_count(1)
        assert "read from a spreadsheet" in str(data.certificate())


def test_no_record_decides_over_another(tmp_path: Path) -> None:
    """A row of other kinds, and one that reaches far to the right, leave the others as they are."""
    first = write_xlsx(tmp_path / "a.xlsx", {"s": [HEAD, *ROWS[:2]]})
    odd = [["x", "text", "#REF!", 7, 1e300], [None] * 30 + ["far"]]
    second = write_xlsx(tmp_path / "b.xlsx", {"s": [HEAD, *odd, *ROWS[:2]]})
    tables = [load_table(str(path), SCHEMA) for path in (first, second)]
    for name in SCHEMA.columns:
        assert list(tables[0][name]) == list(tables[1][name])[2:]
