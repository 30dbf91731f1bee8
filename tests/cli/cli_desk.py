"""A clinic's table in every format, its schema, and a way to run the command."""

from __future__ import annotations

import csv
import gzip
import io
from functools import cache
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from privet.cli import app
from privet.datasets.clinic import clinic

PATIENTS = 600


@cache
def clinic_files() -> tuple[Any, Any, bytes, bytes]:
    """The schema, the columns, and the table as text and compressed: the same for every desk."""
    schema, columns = clinic(PATIENTS, seed=3)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    plain = text.getvalue().encode()
    return schema, columns, plain, gzip.compress(plain)


class Desk:
    """A directory with a table and its schema, and a hand that types commands there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        schema, columns, plain, compressed = clinic_files()
        self.columns = dict(columns)
        schema.to_json(folder / "clinic.schema.json")
        (folder / "clinic.csv").write_bytes(plain)
        (folder / "clinic.csv.gz").write_bytes(compressed)

    def __getitem__(self, name: str) -> str:
        return str(self.folder / name)

    def write(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run(self, *arguments: object) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="privet")

    def ok(self, *arguments: object) -> Any:
        result = self.run(*arguments)
        assert result.exit_code == 0, (result.stderr, result.exception)
        return result

    def fit(self, *more: object, table: str = "clinic.csv", epsilon: object = 2, recipe: str = "diffpc45") -> Any:
        facts = ("--schema", self["clinic.schema.json"], "--recipe", recipe, "--epsilon", epsilon)
        return self.run("fit", self[table], *facts, *more)
