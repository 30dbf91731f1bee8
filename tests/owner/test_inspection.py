"""The owner's check counts and locates bad rows; schemas can be read off a table, and say so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from table_kinds import KINDS, NAMELESS, SCHEMA, TABLE

from privet.errors import TableError
from privet.owner.inspection import check_table
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet.tables.inferring import infer_schema


class TestCheck:
    bad: dict[str, Any] = {  # noqa: RUF012
        "age": [200, "x", None, 1.5, 30, float("inf")],
        "weight": ["?", None, "heavy", 1, -1, 2],
        "sex": ["Male", None, "green", "Male", "?", "Female"],
        "class": ["yes", "no", "no", "perhaps", None, "no"],
    }

    def test_known_answer(self) -> None:
        report = check_table(SCHEMA, self.bad)
        found = {(finding.column, finding.fault): finding.rows for finding in report.findings}
        assert found == {
            ("age", "missing"): (2,),
            ("age", "not a number"): (1,),
            ("age", "out of range"): (0, 5),
            ("age", "not whole"): (3,),
            ("weight", "not a number"): (2,),
            ("weight", "out of range"): (4,),
            ("sex", "missing"): (1,),
            ("sex", "unknown"): (2,),
            ("class", "missing label"): (4,),
            ("class", "unknown label"): (3,),
        }
        assert not report.ok
        assert (report.records, report.bad_rows) == (6, 6)

    def test_words(self) -> None:
        text = str(check_table(SCHEMA, self.bad))
        assert "outside privacy" in text.splitlines()[0]
        assert "6 records, 6 with faults" in text
        assert "- age: 2 out of range (rows 0, 5); at fit: clipped to the bounds" in text
        assert "- class: 1 unknown label (rows 3); at fit: dropped" in text
        for value in ("200 (1)", "'heavy' (1)", "'green' (1)", "'perhaps' (1)"):  # the owner sees them
            assert value in text

    def test_good_table(self) -> None:
        report = check_table(SCHEMA, pd.DataFrame(TABLE))
        assert report.ok
        assert report.bad_rows == 0
        assert "none with faults" in str(report)

    def test_limit(self) -> None:
        table = {name: column * 10 for name, column in TABLE.items()} | {"age": np.full(40, 999)}
        (finding,) = check_table(SCHEMA, table, limit=3).findings
        assert (finding.count, finding.rows) == (40, (0, 1, 2))
        assert "rows 0, 1, 2, ..." in str(finding)

    def test_as_data(self) -> None:
        facts = json.loads(json.dumps(check_table(SCHEMA, self.bad).to_dict()))
        assert facts["private"] is False
        assert facts["findings"][0].items() >= {"column": "age", "fault": "missing", "count": 1, "rows": [2]}.items()

    def test_a_marker_that_is_a_number(self) -> None:
        schema = Schema((Numeric("x", 0, 9, missing=-1),), SCHEMA.label)
        assert check_table(schema, {"x": [-1, "-1", -1.0]}, ["no"] * 3).ok


class TestInfer:
    def test_known_answer(self) -> None:
        schema = infer_schema(pd.DataFrame(TABLE), "class")
        assert schema.inferred
        assert schema.attributes == (
            Numeric("age", 18, 90, integer=True, basis="inferred"),
            Numeric("weight", 50, 150, missing="?", basis="inferred"),
            Categorical("sex", ("Female", "Male", "?"), basis="inferred"),
        )
        assert schema.label == Categorical("class", ("no", "yes"), basis="inferred")
        assert schema.caveats()

    def test_text_and_array(self) -> None:
        text = infer_schema(KINDS["pandas text"](TABLE), "class")
        assert [type(a) for a in text.attributes] == [Numeric, Numeric, Categorical]
        array = infer_schema(np.array([[1.0, 0.5], [1.0, 0.25]]), np.array([7, 9]))
        assert array.names == ("x0", "x1")
        assert array.label == Categorical("class", (7, 9), basis="inferred")
        assert array.attributes[0] == Numeric("x0", 1, 2, integer=True, basis="inferred")
        assert encode(array, np.array([[1.0, 0.5]]), [9]).features.shape == (2, 1)

    @pytest.mark.parametrize("kind", sorted(KINDS.keys() - NAMELESS))
    def test_fits_its_own_table(self, kind: str) -> None:
        table = KINDS[kind](TABLE)
        assert check_table(infer_schema(table, "class"), table).ok

    def test_odd_columns(self) -> None:
        table = {"empty": [None, None], "flags": np.array([True, False]), "same": [3, 3], "mixed": ["a", 1]}
        schema = infer_schema(table, ["u", "v"])
        assert schema.attributes == (
            Categorical("empty", ("?",), basis="inferred"),
            Categorical("flags", (False, True), basis="inferred"),
            Numeric("same", 3, 4, integer=True, basis="inferred"),
            Categorical("mixed", (1, "a"), basis="inferred"),
        )

    def test_no_such_label(self) -> None:
        with pytest.raises(TableError, match="lacks the label column 'y'; give the column's name"):
            infer_schema(TABLE, "y")
