"""Single records as tables: for predictions, where one record comes as a dictionary, and some as a list of them.

Only for work that is not private: a record that lacks a column is refused by its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.errors import TableError


def as_table(given: Any) -> Any:
    """A table of one record from a mapping of cells or a pandas Series, of some from a list of mappings.

    Anything else is returned as it is, a mapping of columns too.

    >>> as_table({"age": 63, "sex": "f"})
    {'age': [63], 'sex': ['f']}
    >>> as_table([{"age": 63, "sex": "f"}, {"age": 31, "sex": "m"}])
    {'age': [63, 31], 'sex': ['f', 'm']}
    """
    if _is_series(given):
        given = given.to_dict()
    if isinstance(given, Mapping) and given and all(_is_cell(cell) for cell in given.values()):
        return {name: [cell] for name, cell in given.items()}
    if isinstance(given, list | tuple) and given and all(isinstance(record, Mapping) for record in given):
        return {name: _column(given, name) for name in dict.fromkeys(name for record in given for name in record)}
    return given


def _column(records: list[Any] | tuple[Any, ...], name: Any) -> list[Any]:
    for number, record in enumerate(records, 1):
        if name not in record:
            raise TableError(f"record {number} lacks {name!r}, which others have; write None where a value is missing")
    return [record[name] for record in records]


def _is_series(given: Any) -> bool:
    """Whether it is a row of a pandas table: a Series whose index has the names."""
    named = type(given).__module__.partition(".")[0] == "pandas" and type(given).__name__ == "Series"
    return named and bool(len(given)) and all(isinstance(name, str) for name in given.index)


def _is_cell(cell: Any) -> bool:
    """Whether a value of a mapping is one cell and no column."""
    return isinstance(cell, str | bytes) or not hasattr(cell, "__len__")
