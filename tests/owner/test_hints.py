"""What the check tells the owner beyond counts: how a fit reads what it cannot read, and what may have gone wrong."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privet.errors import TableError
from privet.owner.hints import hints_of
from privet.owner.inspection import CheckReport, Finding, check_table
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode_features

SCHEMA = Schema(
    (Numeric("temperature", 35, 42), Numeric("age", 0, 100, missing="?"), Categorical("town", ("a", "b", "other"))),
    Categorical("class", ("Sick", "Healthy")),
)
N = 40


def table(**columns: Any) -> dict[str, Any]:
    clean = {"temperature": [37.0] * N, "age": [30] * N, "town": ["a", "b"] * (N // 2), "class": ["Sick"] * N}
    return clean | columns


def finding(**columns: Any) -> Finding:
    (found,) = check_table(SCHEMA, table(**columns)).findings
    return found


RUINS = {
    "labels as booleans": ({"class": np.array(["Sick"] * N) == "Sick"}, "40 are booleans; write 'Sick', 'Healthy'"),
    "labels as numbers": ({"class": [0, 1] * (N // 2)}, "40 are numbers; write 'Sick', 'Healthy'"),
    "another case": ({"class": ["SICK "] * N}, "40 are 'Sick' except for case and spaces"),
    "a typing error": ({"class": ["Helthy"] * N}, "40 look like 'Healthy'"),
    "decimal commas": ({"temperature": ["37,8"] * N}, "40 have a decimal comma; write a decimal point"),
    "dates": ({"age": [dt.date(1980, 5, 1)] * N}, "40 are dates or times; give a number, such as the year"),
    "pandas dates": ({"age": pd.Series([dt.datetime(1980, 5, 1)] * N)}, "40 are dates or times"),
    "dates as text": ({"age": ["1.5.1980", "1980-05-01 10:00"] * (N // 2)}, "40 are dates or times"),
    "categories in another case": ({"town": ["A"] * N}, "40 are 'a' except for case and spaces"),
}


@pytest.mark.parametrize("ruin", RUINS)
def test_a_ruin_is_named(ruin: str) -> None:
    columns, hint = RUINS[ruin]
    found = finding(**columns)
    assert found.count == N
    assert found.hints[0].startswith(hint)
    assert f"\n    {hint}" in str(found)
    assert check_table(SCHEMA, table(**columns)).ruinous() == (found,)


def test_several_hints_come_most_frequent_first() -> None:
    cells = ["helthy", "no idea", "SICK", "sick", None, [], True, "Sick?"]
    assert hints_of(SCHEMA.label, cells) == (
        "2 are 'Sick' except for case and spaces",
        "1 look like 'Healthy'",
        "1 are booleans; write 'Sick', 'Healthy'",
        "1 look like 'Sick'",
    )


def test_no_hint_shows_a_cell() -> None:
    secret = "xyzzy-1980"
    for attribute in (*SCHEMA.attributes, SCHEMA.label):
        assert not hints_of(attribute, [secret, secret.upper(), {}, object()])


def test_the_owner_sees_the_values() -> None:
    cells = ["x"] * 5 + ["y" * 100] * 3 + [7, None] + ["a"] * (N - 10)
    unknown, missing = sorted(check_table(SCHEMA, table(town=cells)).findings, key=lambda found: -found.count)
    assert unknown.values == (("'x'", 5), ("'" + "y" * 36 + "...", 3), ("7", 1))
    assert "\n    values: 'x' (5), " in str(unknown)
    assert "read as 'other'" in str(unknown)
    assert missing.values == ()
    outside = finding(temperature=[50.0, 50.0, 20.0] + [37.0] * (N - 3))
    assert outside.values == (("50.0", 2), ("20.0", 1))
    (limited,) = check_table(SCHEMA, table(temperature=[50.0 + i for i in range(N)]), limit=2).findings
    assert str(limited).endswith("values: 50.0 (1), 51.0 (1), ...")


@pytest.mark.parametrize("cell", [None, "zzz"])
def test_the_remedy_is_what_the_encoding_does(cell: Any) -> None:
    """Whatever rule it has: the words must lead to the very code."""
    plain = Categorical("x", ("p", "q", "r"))
    for attribute in (plain, Categorical("x", ("p", "?")), Categorical("x", ("p", "q"), other="q")):
        schema = Schema((attribute,), SCHEMA.label)
        (found,) = check_table(schema, {"x": [cell]}, ["Sick"]).findings
        code = int(encode_features(schema, {"x": [cell]})[0, 0])
        assert found.remedy == f"read as {attribute.values[code]!r}"
    number = Numeric("x", 0, 10, bins=5)
    schema = Schema((number,), SCHEMA.label)
    (found,) = check_table(schema, {"x": [cell]}, ["Sick"]).findings
    code = int(encode_features(schema, {"x": [cell]})[0, 0])
    assert found.remedy == f"read as a number from {2 * code} to {2 * code + 2}"
    declared = Schema((Numeric("x", 0, 10, missing="?"),), SCHEMA.label)
    assert [f.remedy for f in check_table(declared, {"x": ["zzz"]}, ["Sick"]).findings] == [
        "read as missing, a branch of its own"
    ]


def test_how_much_is_much() -> None:
    counts = {"a": ("unknown", 6), "b": ("missing", 5), "c": ("not whole", 100)}
    report = CheckReport(tuple(Finding(name, *count, (0,)) for name, count in counts.items()), 100, 100)
    assert [f.column for f in report.ruinous()] == ["a"]  # more than 5 in 100
    assert [f.column for f in report.ruinous(0)] == ["a", "b"]  # a number that is not whole costs nothing
    assert report.ruinous(0.06) == ()


def test_declared_types_are_refused_as_by_a_fit() -> None:
    with pytest.raises(TableError, match="'class' is declared to hold booleans"):
        check_table(SCHEMA, pl.DataFrame(table()).with_columns(pl.lit(True).alias("class")))


def test_many_kinds_of_cells_take_no_time() -> None:
    """Only the most frequent are compared with the schema's values."""
    wide = Categorical("x", tuple(f"value {i}" for i in range(500)))
    cells = [f"cell {i}" for i in range(20_000)] + ["VALUE 7"] * 2
    assert "2 are 'value 7' except for case and spaces" in hints_of(wide, cells)
