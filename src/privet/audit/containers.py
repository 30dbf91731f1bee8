"""The same small table in the containers that users pass: lists, arrays, pandas, polars, Arrow.

The type of a column follows from the public schema, never from its cells. A cell that its type cannot hold becomes a
null, for that record alone. So neighbouring tables stay neighbours in every container.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from privet.schema import Attribute, Categorical, Schema

Kind = Literal["text", "flag", "whole", "unsigned", "number"]
Columns = dict[str, list[Any]]
Make = Callable[[Schema, Columns], Any]

HOLDS: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "flag": (bool,),
    "whole": (int,),
    "unsigned": (int,),
    "number": (int, float),
}
PANDAS = {"text": "string", "flag": "boolean", "whole": "Int64", "unsigned": "UInt64", "number": "Float64"}
NUMPY = {"text": object, "flag": bool, "whole": np.int64, "unsigned": np.uint64, "number": np.float64}


def kind_of(attribute: Attribute) -> Kind:
    """The type that a source would declare for a column with these values."""
    if not isinstance(attribute, Categorical):
        return "number"
    types = {type(value) for value in attribute.values}
    if types == {int}:
        return "unsigned" if max(attribute.values) >= 2**63 and min(attribute.values) >= 0 else "whole"
    return "flag" if types == {bool} else "number" if types <= {int, float} else "text"


def _typed(schema: Schema, columns: Columns) -> dict[str, tuple[Kind, list[Any]]]:
    typed: dict[str, tuple[Kind, list[Any]]] = {}
    for attribute in (*schema.attributes, schema.label):
        kind = kind_of(attribute)
        typed[attribute.name] = kind, [_held(kind, cell) for cell in columns[attribute.name]]
    if schema.unit is not None:
        typed[schema.unit.name] = "text", [_held("text", cell) for cell in columns[schema.unit.name]]
    return typed


def _held(kind: Kind, value: object) -> Any:
    cell: Any = value
    if not isinstance(value, HOLDS[kind]) or (isinstance(cell, bool) and kind != "flag"):
        return None
    if kind in ("text", "flag", "number"):
        return float(cell) if kind == "number" else cell
    lowest, highest = (0, 2**64) if kind == "unsigned" else (-(2**63), 2**63)
    return cell if lowest <= cell < highest else None


def numpy_arrays(schema: Schema, columns: Columns) -> Any:
    """An array has no nulls: a missing number becomes 0 (or NaN)."""
    void = {"text": None, "number": np.nan}
    return {
        name: np.array([void.get(kind, 0) if cell is None else cell for cell in cells], dtype=NUMPY[kind])
        for name, (kind, cells) in _typed(schema, columns).items()
    }


def pandas_objects(schema: Schema, columns: Columns) -> Any:
    pd: Any = import_module("pandas")

    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def pandas_nullable(schema: Schema, columns: Columns) -> Any:
    pd: Any = import_module("pandas")

    typed = _typed(schema, columns)
    return pd.DataFrame({name: pd.Series(cells, dtype=PANDAS[kind]) for name, (kind, cells) in typed.items()})


def pandas_arrow(schema: Schema, columns: Columns) -> Any:
    pd: Any = import_module("pandas")

    table = arrow(schema, columns)
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def polars(schema: Schema, columns: Columns) -> Any:
    pl: Any = import_module("polars")

    types = {"text": pl.String, "flag": pl.Boolean, "whole": pl.Int64, "unsigned": pl.UInt64, "number": pl.Float64}
    typed = _typed(schema, columns)
    return pl.DataFrame({name: pl.Series(name, cells, types[kind]) for name, (kind, cells) in typed.items()})


def arrow(schema: Schema, columns: Columns) -> Any:
    pa: Any = import_module("pyarrow")

    types = {"text": pa.string(), "flag": pa.bool_(), "whole": pa.int64(), "unsigned": pa.uint64()}
    typed = _typed(schema, columns)
    return pa.table({name: pa.array(cells, types.get(kind, pa.float64())) for name, (kind, cells) in typed.items()})


_NEEDS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "lists": (lambda schema, columns: columns, ()),
    "numpy arrays": (numpy_arrays, ()),
    "pandas objects": (pandas_objects, ("pandas",)),
    "pandas nullable types": (pandas_nullable, ("pandas",)),
    "pandas Arrow types": (pandas_arrow, ("pandas", "pyarrow")),
    "polars": (polars, ("polars",)),
    "Arrow": (arrow, ("pyarrow",)),
}


@cache
def containers() -> dict[str, Make]:
    """The containers whose library is installed, lists first.

    >>> list(containers())[:2]
    ['lists', 'numpy arrays']
    """
    return {name: make for name, (make, needs) in _NEEDS.items() if all(find_spec(library) for library in needs)}
