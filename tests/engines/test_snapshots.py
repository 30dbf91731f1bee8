"""Snapshots give the answers of the table, map instead of read, and appear whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.datasets.clinic import clinic
from privet.engines.snapshots import invent, open_snapshot, write_snapshot, write_twin
from privet.errors import TableError
from privet.schema import Schema, Unit
from privet.testing import check_engine


def test_a_snapshot_answers_like_the_table(tmp_path: Path) -> None:
    numbers = count()

    def engine(schema: Schema, table: Any) -> Any:
        place = tmp_path / str(next(numbers))
        write_snapshot(table, schema, place, 10**6)
        return open_snapshot(place)

    check_engine(engine, rounds=5)


def test_only_the_owner_of_the_process_reads_a_snapshot(tmp_path: Path) -> None:
    schema, table = clinic(50)
    write_snapshot(table, schema, tmp_path / "s", 50)
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "s").glob("*.npy"))
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700


def test_more_records_than_declared_leave_nothing(tmp_path: Path) -> None:
    schema, table = clinic(500)
    with pytest.raises(TableError, match="most_records"):
        write_snapshot(table, schema, tmp_path / "s", 499)
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_unit_are_bounded_once(tmp_path: Path) -> None:
    schema, table = clinic(300)
    owned = replace(schema, unit=Unit("patient", 2))
    records = dict(table) | {"patient": np.arange(300) // 10}
    write_snapshot(records, owned, tmp_path / "s", 300)
    engine = open_snapshot(tmp_path / "s")
    assert engine.unit == owned.unit
    assert engine._labels.size == 60


def test_twins_have_the_declared_facts_and_differ(tmp_path: Path) -> None:
    schema, _ = clinic(10)
    write_twin(schema, tmp_path / "t", 50)
    assert open_snapshot(tmp_path / "t").schema == schema
    one, other = invent(schema, 50), invent(schema, 50)
    assert any(not np.array_equal(a, b) for a, b in zip(one.columns, other.columns, strict=True))
