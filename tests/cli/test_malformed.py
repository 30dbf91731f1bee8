"""Rows that cannot be read, and headers that are none, through every command that takes a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privet.datasets.clinic import clinic
from privet.engines.chunks import ChunkEngine
from privet.engines.sources import files as source_files
from privet.schema import Schema

HEAD = "blood_pressure,weight,temperature,cough,class"
GOOD = "Low,Normal,37,True,Sick"
BAD = [
    b"Low,Normal,37,True,Sick,?",
    b'Low,"Normal,37,True,Sick',
    b'"Low,Normal,37,True,Sick',
    b'Low,Normal,37,True,Sick"',
    b"Low,caf\xe9,37,True,Sick",
    b"Low",
    b"\0",
]


def commands(desk: Any, table: str) -> dict[str, list[object]]:
    facts = ("--schema", desk["clinic.schema.json"])
    learn = (*facts, "--recipe", "sulq", "--epsilon", 1)
    return {
        "fit": ["fit", table, *learn, "-o", desk["out.json"]],
        "predict": ["predict", desk["tree.json"], table, "--json"],
        "evaluate": ["evaluate", table, *learn, "--folds", 2, "--no-references", "--json"],
        "check": ["schema", "check", table, *facts, "--most", "1", "--json"],
        "publish": ["publish", table, *facts, "--method", "diffgen", "--epsilon", 1, "-o", desk["out.csv"]],
    }


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "check", "publish"])
def test_bad_rows_stop_no_command(desk: Any, command: str) -> None:
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    rows = [row for bad in BAD for row in (bad, *[GOOD.encode()] * 3)]
    result = desk.ok(*commands(desk, desk.write("bad.csv", b"\n".join([HEAD.encode(), *rows])))[command])
    if command == "predict":
        assert result.stderr.startswith(f"warning: {len(BAD)} of {len(rows)} predictions come from lines that cannot")
        predictions = json.loads(result.stdout)["predictions"]
        assert len(predictions) == len(rows)
        assert len({p for p, row in zip(predictions, rows, strict=True) if row == GOOD.encode()}) == 1
    else:
        assert result.stderr == "" or "NOT PRIVATE" in result.stderr
    if command == "check":
        report = json.loads(result.stdout)
        assert (report["records"], report["bad_rows"]) == (len(rows), len(BAD))


def test_a_fit_uses_every_good_row_and_no_other(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def spy(self: ChunkEngine, schema: Schema, chunks: Any, *rest: Any) -> None:
        seen.append(sum(chunk.size for chunk in chunks))
        begin(self, schema, chunks, *rest)

    begin = ChunkEngine.__init__
    monkeypatch.setattr(ChunkEngine, "__init__", spy)
    for bad in BAD:
        for rows in ([bad, *[GOOD.encode()] * 20], [*[GOOD.encode()] * 20, bad]):
            table = desk.write("bad.csv", b"\n".join([HEAD.encode(), *rows]))
            desk.ok(*commands(desk, table)["fit"][:-1], desk[f"out{len(seen)}.json"])
    assert seen == [20] * 2 * len(BAD)


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "check", "publish"])
def test_every_command_calls_the_one_reader(desk: Any, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    asked: list[tuple[str, bool]] = []
    _, columns = clinic(50, seed=1)

    def spy(path: Path, names: Any, *, quoted_line_breaks: bool = False) -> Any:
        asked.append((str(path), quoted_line_breaks))
        return columns

    def spy_on_pieces(path: Path, names: Any, *, quoted_line_breaks: bool = False) -> Any:
        asked.append((str(path), quoted_line_breaks))
        yield {name: columns[name] for name in names}

    monkeypatch.setattr(source_files, "read_columns", spy)
    monkeypatch.setattr(source_files, "read_batches", spy_on_pieces)
    monkeypatch.setattr(source_files, "read_header", lambda path, names, **_: {name: [] for name in names})
    desk.ok(*commands(desk, "nowhere.csv")[command], "--quoted-line-breaks")
    assert asked == [("nowhere.csv", True)]


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "check", "publish"])
@pytest.mark.parametrize(
    "row", [b"Low,Obese,39.25,True,Smith", b"Smith", b'"Smith', b"caf\xe9,Smith", b"weight,Smith,39.25"]
)
def test_a_table_without_a_header_is_not_quoted(desk: Any, command: str, row: bytes) -> None:
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    result = desk.run(*commands(desk, desk.write("bare.csv", b"\n".join([row, row])))[command])
    assert result.exit_code == 1
    assert not any(cell in result.output for cell in ("Smith", "Obese", "39.25", "caf"))


def test_line_breaks_in_quotes(desk: Any) -> None:
    table = desk.write("broken.csv", f'{HEAD},remark\n{GOOD},"two\nlines"\n{GOOD},"one line"\n')
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    predict = commands(desk, table)["predict"]
    assert len(json.loads(desk.ok(*predict).stdout)["predictions"]) == 3  # two halves and a whole
    assert len(json.loads(desk.ok(*predict, "--quoted-line-breaks").stdout)["predictions"]) == 2
    certificate = desk.ok(*commands(desk, table)["fit"], "--quoted-line-breaks").stdout
    assert "well-formed file" in certificate
