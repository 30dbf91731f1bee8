"""Real tables with published schemas, from a directory of the user's.

A table called ``adult`` is two files: ``adult.csv.gz`` (UTF-8, a header row) and ``adult.schema.json``. The directory
is given by hand or named by the environment variable ``PRIVET_DATA``.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from privet.errors import ParameterError
from privet.schema import Schema
from privet.schema.files import Records, read_table

VARIABLE = "PRIVET_DATA"
TABLE, SCHEMA = ".csv.gz", ".schema.json"


def names(data_dir: str | PathLike[str] | None = None) -> tuple[str, ...]:
    """The tables that can be loaded: those that have both files."""
    where = _directory(data_dir)
    stems = (path.name.removesuffix(TABLE) for path in where.glob("*" + TABLE))
    return tuple(sorted(stem for stem in stems if (where / (stem + SCHEMA)).is_file()))


def load_schema(name: str, data_dir: str | PathLike[str] | None = None) -> Schema:
    """The public facts of a table, without reading the table."""
    return Schema.from_json(_paths(name, data_dir)[1])


def load(name: str, data_dir: str | PathLike[str] | None = None) -> tuple[Schema, Records]:
    """A table's schema and the columns it declares, every cell as the text it is in the file.

    A line that cannot be read is a record of None, see :mod:`privet.schema.files`.
    """
    table, facts = _paths(name, data_dir)
    schema = Schema.from_json(facts)
    records: Records = read_table(table, schema)
    return schema, records


def _paths(name: str, data_dir: str | PathLike[str] | None) -> tuple[Path, Path]:
    where = _directory(data_dir)
    known = names(where)
    if name not in known:
        raise ParameterError(
            f"no table called {name!r} in {where}: it needs {name}{TABLE} and {name}{SCHEMA}; "
            f"there are {', '.join(known) or 'none'}"
        )
    return where / (name + TABLE), where / (name + SCHEMA)


def _directory(data_dir: str | PathLike[str] | None) -> Path:
    source = "data_dir" if data_dir is not None else VARIABLE
    named = data_dir if data_dir is not None else os.environ.get(VARIABLE)
    if not named:
        raise ParameterError(
            f"{VARIABLE} is not set: point it, or the argument data_dir, at a directory of "
            f"<name>{TABLE} files with a <name>{SCHEMA} beside each"
        )
    path = Path(named)
    if not path.is_dir():
        raise ParameterError(f"{source} names {str(path)!r}, which is not a directory; correct it")
    return path
