"""Names and declared types decide, before any charge; what a row could change never does."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import privet
from privet.errors import TableError
from privet.schema import Categorical, Numeric, Schema
from privet.tables.declared import Kind, kind_of, refuse_source
from privet.tables.encoding import encode, encode_features

CLASS = Categorical("class", ("Sick", "Healthy"))
SCHEMA = Schema((Numeric("age", 0, 100), Categorical("cough", ("no", "yes"))), CLASS)
CLEAN: dict[str, Any] = {"age": [30.0, 40.0], "cough": ["no", "yes"], "class": ["Sick", "Healthy"]}
DAY, MOMENT, CLOCK, SPAN = dt.date(2024, 1, 5), dt.datetime(2024, 1, 5, 12), dt.time(12, 30), dt.timedelta(days=5)

# Kind -> columns that are declared so, each with values at the edges of what it can hold.
DECLARED: dict[Kind | None, dict[str, Any]] = {
    Kind.BOOLEAN: {
        "polars": pl.Series([True, False, None]),
        "arrow": pa.array([True, False, None]),
        "arrow chunks": pa.chunked_array([[True], [False, None]]),
        "pandas nullable": pd.Series([True, False, None], dtype="boolean"),
        "pandas array": pd.array([True, False, None], dtype="boolean"),
        "pandas arrow": pd.Series([True, False, None], dtype=pd.ArrowDtype(pa.bool_())),
    },
    Kind.NUMBER: {
        "polars": pl.Series([0, 1, None]),
        "polars decimal": pl.Series([Decimal("1.5"), None], dtype=pl.Decimal(9, 2)),
        "arrow": pa.array([0.0, 1.0, -3.5, float("inf"), float("nan"), None]),
        "arrow unsigned": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "pandas nullable": pd.Series([0, 1, None], dtype="Int64"),
        "pandas float": pd.Series([0.5, None], dtype="Float32"),
        "pandas arrow": pd.Series([0, 1, None], dtype=pd.ArrowDtype(pa.int8())),
    },
    Kind.TIME: {
        "polars date": pl.Series([DAY, None]),
        "polars moment": pl.Series([MOMENT, None]),
        "polars clock": pl.Series([CLOCK, None]),
        "polars span": pl.Series([SPAN, None]),
        "arrow date": pa.array([DAY, None]),
        "arrow moment": pa.array([MOMENT, None], pa.timestamp("us", "UTC")),
        "arrow clock": pa.array([CLOCK, None]),
        "arrow span": pa.array([SPAN, None]),
        "pandas arrow": pd.Series([MOMENT, None], dtype=pd.ArrowDtype(pa.timestamp("us"))),
    },
    Kind.NESTED: {
        "polars list": pl.Series([[1], None]),
        "polars struct": pl.Series([{"a": 1, "b": 2}]),
        "polars array": pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)),
        "arrow list": pa.array([["Sick"], None]),
        "arrow struct": pa.array([{"a": 1, "b": 2}, None]),
        "arrow map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        "pandas arrow": pd.Series([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    },
    # One cell could have made these another type, or any value could be written so.
    None: {
        "list": [True, False],
        "numpy booleans": np.array([True, False]),
        "numpy dates": np.array(["2024-01-05"], "datetime64[D]"),
        "pandas booleans": pd.Series([True, False]),
        "pandas integers": pd.Series([0, 1]),
        "pandas integers with a null": pd.Series([0, 1, None]),  # floats
        "numpy floats": np.array([0.0, 1.0]),
        "numpy small integers": np.array([0, 1], "i1"),
        "pandas objects": pd.Series([True, DAY]),
        "pandas dates": pd.Series([MOMENT]),
        "pandas dates with a zone": pd.Series([pd.Timestamp(MOMENT, tz="UTC")]),
        "pandas periods": pd.Series(pd.period_range("2024", periods=2, freq="D")),
        "pandas category": pd.Series(["a", "b"], dtype="category"),
        "pandas text": pd.Series(["a"], dtype="string"),
        "polars text": pl.Series(["1"]),
        "polars category": pl.Series(["1"], dtype=pl.Categorical),
        "polars nulls": pl.Series([None, None]),
        "polars objects": pl.Series([object()], dtype=pl.Object),
        "polars bytes": pl.Series([b"Sick"]),  # read as text
        "arrow nulls": pa.array([None, None]),
        "arrow bytes": pa.array([b"Sick"]),
        "arrow dictionary": pa.array(["a"]).dictionary_encode(),
    },
}
ALL = [(kind, name) for kind, columns in DECLARED.items() for name in columns]
NUMBER, PLAIN = Numeric("x", 0, 9), Categorical("x", ("Sick", "Healthy"))
ATTRIBUTES = {
    "number": NUMBER,
    "number or missing": Numeric("x", 0, 9, missing="?"),
    "text": PLAIN,
    "text with a marker": Categorical("x", ("a", "b", "?")),
    "booleans": Categorical("x", (False, True)),
    "booleans as text": Categorical("x", ("TRUE", "False")),
    "digits": Categorical("x", ("0", "1")),
    "other digits": Categorical("x", ("2", "b")),
    "numbers": Categorical("x", (1.5, -3)),
    "dates": Categorical("x", ("2024-01-05", "never")),
}


@pytest.mark.parametrize(("kind", "name"), ALL, ids=str)
def test_what_is_declared(kind: Kind | None, name: str) -> None:
    assert kind_of(DECLARED[kind][name]) is kind


REFUSED = {
    Kind.BOOLEAN: {"text", "text with a marker", "other digits", "numbers", "dates"},
    Kind.NUMBER: {"text", "text with a marker", "dates"},
    Kind.TIME: {"number", "number or missing", "text", "text with a marker", "booleans", "booleans as text"},
    Kind.NESTED: set(ATTRIBUTES),
    None: set(),
}
# Whoever hands over labels as an array of numbers says that they are numbers; a missing one leaves it one.
NUMBERS_OF_NUMPY = {"pandas integers", "pandas integers with a null", "numpy floats", "numpy small integers"}


def is_refused(attribute: Any, column: Any, *, as_label: bool = False) -> bool:
    other = Categorical("other", ("a", "b"))
    schema = Schema((other,), attribute) if as_label else Schema((attribute,), other)
    table = {schema.names[0]: ["a"]} if as_label else {"x": column}
    try:
        refuse_source(schema, table, column if as_label else ["a"], with_label=True)
    except TableError as error:
        return "'x' is declared to hold" in str(error) and "Nothing was charged" in str(error)
    return False


@pytest.mark.parametrize(("kind", "name"), ALL, ids=str)
def test_what_is_refused(kind: Kind | None, name: str) -> None:
    column = DECLARED[kind][name]
    for told, attribute in ATTRIBUTES.items():
        assert is_refused(attribute, column) == (told in REFUSED[kind]), told
        if isinstance(attribute, Categorical):
            refused = REFUSED[Kind.NUMBER if name in NUMBERS_OF_NUMPY else kind]
            assert is_refused(attribute, column, as_label=True) == (told in refused), told


@pytest.mark.parametrize(("kind", "name"), [pair for pair in ALL if pair[0] not in (None, Kind.NESTED)], ids=str)
def test_no_value_of_a_refused_column_could_have_been_read(kind: Kind, name: str) -> None:
    """The encoding agrees: each cell has the code of a missing one, and as a label it is dropped."""
    column = DECLARED[kind][name]
    for told in REFUSED[kind]:
        attribute = ATTRIBUTES[told]
        schema = Schema((attribute,), CLASS)
        (missing,) = encode_features(schema, {"x": [None]})[0]
        assert (encode_features(schema, {"x": column})[0] == missing).all(), told
        if isinstance(attribute, Categorical):
            other = Schema((Categorical("other", ("a",)),), attribute)
            assert encode(other, {"other": ["a"] * len(column)}, column).labels.size == 0, told  # type: ignore[union-attr]


@pytest.mark.parametrize("cell", ["x", None])
def test_an_inferred_type_is_changed_by_one_record(cell: Any) -> None:
    """Why pandas' dates do not decide: the same file with one more line has another type."""
    text = "age,cough,class\n2024-01-05,no,Sick\n"
    more = f"{text}{cell or ''},no,Sick\n"
    for content in (text, more):
        refuse_source(SCHEMA, pd.read_csv(io.StringIO(content), parse_dates=["age"]), with_label=True)


def rows_of(column: Any, rows: list[int]) -> Any:
    if isinstance(column, pl.Series):
        return column[rows]
    return column.take(pa.array(rows, pa.int64()) if isinstance(column, pa.Array | pa.ChunkedArray) else rows)


@pytest.mark.parametrize(("kind", "name"), [pair for pair in ALL if pair[0] is not None], ids=str)
def test_no_row_decides(kind: Kind, name: str) -> None:
    """Any rows of a column, or none at all: the answer is the same."""
    column = DECLARED[kind][name]
    last = len(column) - 1
    for attribute in ATTRIBUTES.values():
        answers = {is_refused(attribute, rows_of(column, rows)) for rows in ([], [0], [last], [last] * 3, [0, last])}
        assert len(answers) == 1


# ---- names --------------------------------------------------------------------------------------------------------

FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "structured": lambda table: pd.DataFrame(table).to_records(index=False),
}


@pytest.mark.parametrize("make", FRAMES)
def test_a_lacking_column(make: str) -> None:
    for name in CLEAN:
        table = FRAMES[make]({"secret" if key == name else key: column for key, column in CLEAN.items()})
        with pytest.raises(TableError, match=f"lacks '{name}'; expected the columns age, cough, class") as caught:
            refuse_source(SCHEMA, table, with_label=True)
        assert "secret" not in str(caught.value)  # a table without a header has a record there
    refuse_source(SCHEMA, FRAMES[make]({**CLEAN, "more": [1, 2]}), with_label=True)


def test_duplicated_columns() -> None:
    twice = pd.DataFrame([[1, 2, "no", "Sick"]], columns=["age", "age", "cough", "class"])
    arrow = pa.Table.from_arrays([pa.array([1])] * 4, names=["age", "age", "cough", "class"])
    alike = pd.DataFrame([[1, "no", "Sick", 0, 0]], columns=["age", "cough", "class", 1, "1"])
    mapping = {**CLEAN, 1: [0, 0], "1": [0, 0]}
    for table in (twice, arrow, alike, mapping):
        with pytest.raises(TableError, match="two columns of the table have the same name") as caught:
            refuse_source(SCHEMA, table, with_label=True)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize(("width", "labels"), [(2, None), (4, None), (1, [0]), (3, [0]), (0, [0])])
def test_an_array_of_another_width(width: int, labels: Any) -> None:
    with pytest.raises(TableError, match=rf"has {width} columns; expected {3 - (labels is not None)}, in this order"):
        refuse_source(SCHEMA, np.zeros((5, width)), labels, with_label=True)
    refuse_source(SCHEMA, np.zeros((5, 2)), [0], with_label=True)
    refuse_source(SCHEMA, np.zeros((5, 3), object), with_label=True)
    with pytest.raises(TableError, match="'class' is declared to hold numbers"):
        refuse_source(SCHEMA, np.zeros((5, 3)), with_label=True)


def test_hints_about_names() -> None:
    prefixed = pd.DataFrame(CLEAN).rename(columns={"age": "scale__age"})
    with pytest.raises(TableError, match="verbose_feature_names_out=False"):
        refuse_source(SCHEMA, prefixed, with_label=True)
    with pytest.raises(TableError, match="numbers for names"):
        refuse_source(SCHEMA, pd.DataFrame(np.zeros((2, 3))), with_label=True)


def test_all_refused_columns_are_named_at_once() -> None:
    table = pl.DataFrame({"age": [DAY], "cough": [[1]], "class": [True]})
    with pytest.raises(TableError) as caught:
        refuse_source(SCHEMA, table, with_label=True)
    assert all(f"column '{name}' is declared to hold" in str(caught.value) for name in CLEAN)
    assert "2024" not in str(caught.value)


def test_what_cannot_be_read_is_for_the_reader() -> None:
    refuse_source(SCHEMA, object(), with_label=True)
    with pytest.raises(TableError, match="cannot read a table of type object"):
        privet.protect(object(), SCHEMA, privet.Ledger(1))


def test_protect_refuses_before_anything_is_charged() -> None:
    ledger = privet.Ledger(1)
    for table in (pl.DataFrame({**CLEAN, "age": [DAY, DAY]}), pa.table({**CLEAN, "class": [True, False]})):
        with pytest.raises(TableError, match="is declared to hold"):
            privet.protect(table, SCHEMA, ledger)
    assert ledger.spent == 0
    assert ledger.certificate().caveats == ()


# ---- labels as numbers, and one-hot encoding ------------------------------------------------------------------------


@pytest.mark.parametrize("column", [DECLARED[None][name] for name in sorted(NUMBERS_OF_NUMPY)])
def test_a_missing_label_changes_no_refusal(column: Any) -> None:
    """What one record more makes of a column of numbers is one of these, and all are refused for the same labels."""
    with_null = pd.Series([*np.asarray(column).tolist(), None])
    for told, attribute in ATTRIBUTES.items():
        if isinstance(attribute, Categorical):
            both = [is_refused(attribute, labels, as_label=True) for labels in (column, with_null)]
            assert both[0] == both[1], told


def test_numbers_that_could_be_labels_are_read_one_by_one() -> None:
    schema = Schema((NUMBER,), Categorical("class", ("0", "1")))
    labels = np.array([0.0, 1.0, 0.5, np.nan, 1.0])
    refuse_source(schema, {"x": [1] * 5}, labels, with_label=True)
    assert encode(schema, {"x": [1] * 5}, labels).labels.tolist() == [0, 1, 1]  # what is no label is dropped


@pytest.mark.parametrize("inside", [True, False])
def test_labels_in_the_table_are_judged_like_labels_apart(inside: bool) -> None:
    frame = pd.DataFrame(CLEAN).assign(**{"class": [0.0, 1.0]})
    with pytest.raises(TableError, match=r"'class' is declared to hold numbers, and no label .* 'Sick', 'Healthy'"):
        refuse_source(SCHEMA, frame, None if inside else frame[["class"]], with_label=True)
    refuse_source(SCHEMA, frame, with_label=False)  # for a prediction they do not matter


@pytest.mark.parametrize("labels", [np.eye(2), pd.DataFrame(np.eye(2)), pl.DataFrame(np.eye(2)), sparse.eye(2).tocsr()])
def test_one_hot_labels_are_refused(labels: Any) -> None:
    with pytest.raises(TableError, match=r"y must be one column; do not one-hot encode labels.* 'Sick', 'Healthy'"):
        refuse_source(SCHEMA, CLEAN, labels, with_label=True)


ENCODED: dict[str, Any] = {
    "scipy matrix": sparse.csr_matrix(np.zeros((2, 7))),
    "scipy array": sparse.coo_array(np.zeros((2, 7))),
    "scipy dictionary": sparse.dok_matrix((2, 7)),
    "pandas sparse": pd.get_dummies(pd.DataFrame(CLEAN)[["age", "cough"]], sparse=True),
    "pandas dummies": pd.get_dummies(pd.DataFrame(CLEAN)[["age", "cough"]]),
    "pandas of scipy": pd.DataFrame.sparse.from_spmatrix(sparse.eye(2).tocsr()),
    "array": np.zeros((2, 7)),
}


@pytest.mark.parametrize("name", ENCODED)
def test_one_hot_tables_are_refused_with_the_fix(name: str) -> None:
    with pytest.raises(TableError, match=r"(?i)do not one-hot encode: privet reads categories by itself"):
        refuse_source(SCHEMA, ENCODED[name], CLEAN["class"], with_label=True)


def test_names_that_are_nearly_right() -> None:
    schema = Schema(SCHEMA.attributes, CLASS, unit=privet.Unit("pattient", 2))
    table = {**CLEAN, "patient": [1, 2]}
    with pytest.raises(TableError, match=r"lacks 'pattient'.*; did you mean 'patient'\?"):
        refuse_source(schema, table, with_label=True)
    with pytest.raises(TableError, match=r"expected the columns age, cough, class$"):  # this may be a record
        refuse_source(SCHEMA, {"age": [1], "Smith": [2], "1980": [3]}, with_label=True)
    with pytest.raises(TableError, match=r"lacks 'class'.* Or give the labels apart, as y"):
        refuse_source(SCHEMA, {"age": [1], "cough": ["no"]}, with_label=True)


def test_names_in_other_capitals() -> None:
    with pytest.raises(TableError, match=r"lacks 'age'.*capital letters"):
        refuse_source(SCHEMA, pd.DataFrame(CLEAN).rename(columns=str.title), with_label=False)
