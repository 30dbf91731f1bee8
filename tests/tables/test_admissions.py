"""The owner's messy table: what its schema reads is what is true, cell by cell."""

from __future__ import annotations

import csv
import datetime
import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.engines.opening import load_table
from privet.owner.inspection import check_table
from privet.schema import Reading, Schema, Unit
from privet.schema.written import read_schema
from privet.tables.encoding import encode

EXAMPLE = Path(__file__).parents[2] / "examples" / "admissions"


@pytest.fixture(scope="module")
def maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_admissions", EXAMPLE / "make_table.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def table(maker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("admissions") / "admissions.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([maker.COLUMNS, *maker.messy(maker.clean())])
    return path


def test_no_cell_is_guessed_wrongly(maker: Any, table: Path) -> None:
    """The messy file by its schema, and the true values by a schema that needs no reading: the same codes."""
    schema = read_schema(EXAMPLE / "admissions.schema.yaml")
    truth, day = maker.clean(), datetime.date
    columns: dict[str, list[Any]] = {name: [row[name] for row in truth] for name in maker.COLUMNS}
    columns["sex"] = ["?" if value is None else value for value in columns["sex"]]
    dates = [value for value in columns["admitted"] if isinstance(value, day)]
    columns |= {"month": [one.month for one in dates], "weekday": [one.isoweekday() for one in dates]}
    plain = tuple(
        replace(a, reading=Reading(missing=["?"]) if a.reading is not None and hasattr(a, "low") else None)
        for a in schema.attributes
    )
    easy = Schema(plain, replace(schema.label, reading=None))
    messy, clean = encode(schema, load_table(str(table), schema)), encode(easy, columns)
    assert messy.features.shape == (8, 12_000)
    for a, name in enumerate(schema.names):
        assert np.array_equal(messy.features[a], clean.features[a]), name
    assert messy.labels is not None
    assert clean.labels is not None
    assert np.array_equal(messy.labels, clean.labels)


def test_the_table_follows_its_schema_and_needs_the_unit(maker: Any, table: Path) -> None:
    schema = replace(read_schema(EXAMPLE / "admissions.schema.yaml"), unit=Unit("patient_no", 3))
    assert check_table(schema, load_table(str(table), schema)).ok
    owners = [row["patient_no"] for row in maker.clean()]
    assert max(map(owners.count, set(owners[:50]))) > 1


def test_a_line_that_cannot_be_read_differs_from_a_marker(table: Path, tmp_path: Path) -> None:
    schema = read_schema(EXAMPLE / "admissions.schema.yaml")
    lines = table.read_text("utf-8").splitlines()
    broken = tmp_path / "admissions.csv"
    broken.write_text("\n".join([*lines[:100], "too;few", *lines[100:]]), "utf-8")
    (finding,) = check_table(schema, load_table(str(broken), schema)).findings
    assert (finding.fault, finding.count, finding.rows) == ("unreadable", 1, (99,))
