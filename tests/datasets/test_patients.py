"""The sample table: drawn, not copied from anyone; shipped as it was drawn; and within its schema."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from privet.datasets.patients import FRESH, HELD_OUT, SCHEMA, SIZES, TABLE, generated_files, patients, sample_files
from privet.owner.inspection import check_table
from privet.schema.written import schema_of
from privet.tables.encoding import encode_features
from privet.tables.files import read_table


def test_the_files_are_what_the_generator_draws() -> None:
    """Run tools/sample.py after a change."""
    assert sample_files() == generated_files()
    assert list(sample_files()) == [TABLE, SCHEMA, HELD_OUT, FRESH]


@pytest.mark.parametrize("name", [TABLE, HELD_OUT])
def test_the_table_follows_its_schema(tmp_path: Path, name: str) -> None:
    schema = schema_of(json.loads(sample_files()[SCHEMA]))
    (tmp_path / name).write_text(sample_files()[name], encoding="utf-8")
    report = check_table(schema, read_table(tmp_path / name, schema))
    assert report.ok
    assert report.records == SIZES[name]
    assert schema.caveats() == ()


def test_records_without_a_label() -> None:
    header, *rows = sample_files()[FRESH].splitlines()
    assert "readmitted" not in header
    assert len(rows) == SIZES[FRESH]


def test_there_is_something_to_learn_and_not_everything() -> None:
    from sklearn.tree import DecisionTreeClassifier

    schema, table = patients(4000, 5)
    _, fresh = patients(4000, 6)
    fitted = DecisionTreeClassifier(max_depth=5, min_samples_leaf=20, random_state=0)
    fitted.fit(encode_features(schema, table).T, table["readmitted"])
    share = fitted.score(encode_features(schema, fresh).T, fresh["readmitted"])
    assert 0.75 < share < 0.9
    assert 0.5 < np.mean(fresh["readmitted"] == "no") < share - 0.1
    assert {name: column.tolist() for name, column in patients(50, 1)[1].items() if name != "bmi"} == {
        name: column.tolist() for name, column in patients(50, 1)[1].items() if name != "bmi"
    }
