"""One small table in every form that privet reads, with the codes it must become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode_features

SCHEMA = Schema(
    (
        Numeric("age", 0, 120, integer=True, thresholds=(18, 65)),
        Numeric("weight", 0, 200, thresholds=(50, 100), missing="?"),
        Categorical("sex", ("Female", "Male", "?")),
    ),
    Categorical("class", ("no", "yes")),
)
TABLE: dict[str, list[Any]] = {
    "age": [18, 19, 90, 65],
    "weight": [50.0, 50.5, float("nan"), 150.0],
    "sex": ["Male", "Female", "?", "Male"],
    "class": ["yes", "no", "no", "yes"],
}
FEATURES = [[0, 1, 2, 1], [0, 1, 3, 2], [1, 0, 2, 1]]
LABELS = [1, 0, 0, 1]


def one(attribute: Numeric | Categorical, cells: Any) -> list[int]:
    """The codes of one column."""
    schema = Schema((attribute,), Categorical("class", ("no", "yes")))
    codes: list[int] = encode_features(schema, {attribute.name: cells})[0].tolist()
    return codes


def objects(*cells: Any) -> np.ndarray[Any, Any]:
    return np.fromiter(cells, dtype=object, count=len(cells))


def structured(table: dict[str, list[Any]]) -> np.ndarray[Any, Any]:
    dtype = [("class", "U3"), ("age", "i2"), ("weight", "f4"), ("sex", "S6")]
    return np.array(list(zip(*(table[name] for name, _ in dtype), strict=True)), dtype=dtype)


KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict of lists": lambda t: t,
    "dict of arrays": lambda t: {name: np.array(column) for name, column in t.items()},
    "dict of series": lambda t: {name: pd.Series(column) for name, column in t.items()},
    "pandas": pd.DataFrame,
    "pandas text": lambda t: pd.DataFrame(t).astype(str),
    "pandas objects": lambda t: pd.DataFrame(t, dtype=object),
    "pandas categories": lambda t: pd.DataFrame(t).astype({"sex": "category", "class": "category"}),
    "pandas nullable": lambda t: pd.DataFrame(t).convert_dtypes(),
    "pandas pyarrow": lambda t: pd.DataFrame(t).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, odd index": lambda t: pd.DataFrame(t, index=[7, 7, 3, 1]),
    "polars": pl.DataFrame,
    "polars categories": lambda t: pl.DataFrame(t, schema_overrides={"sex": pl.Categorical, "class": pl.Categorical}),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda t: pa.table(t | {"sex": pa.array(t["sex"]).dictionary_encode()}),
    "2-D objects": lambda t: np.array(list(t.values()), dtype=object).T,
    "2-D text": lambda t: np.array([[str(cell) for cell in column] for column in t.values()]).T,
    "structured": structured,
    "lists of cells": lambda t: [list(row) for row in zip(*t.values(), strict=True)],
    "tuples of cells": lambda t: tuple(zip(*t.values(), strict=True)),
}
NAMELESS = {"2-D objects", "2-D text", "lists of cells", "tuples of cells"}  # columns are known by their order alone
