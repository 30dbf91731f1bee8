"""The public tables that privet knows: their schemas, and where OpenML has them.

``public/`` holds a schema for each, with origins and licences in ``public/CREDITS.md``. ``public/openml.json`` has a
line for each that OpenML keeps: its id, how its labels are written there, and the checksum of the records.

The checksum is of the content, not of a file: SHA-256 over the records in sorted order, columns in the order of the
schema with the label last, numbers as doubles. Neither the order of rows nor the format of numbers matters.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from privet.datasets.openml import Download
from privet.errors import TableError
from privet.schema import Schema
from privet.schema.attributes import Numeric

SCHEMA = ".schema.json"
PUBLIC = Path(__file__).parent / "public"
MISSING = "?"  # in every table that privet knows

Rows = list[tuple[str, ...]]


@dataclass(frozen=True)
class Entry:
    """An OpenML table's location, label spelling and checksum."""

    openml: int
    sha256: str
    labels: Mapping[str, str]
    """OpenML's labels and ours, where it writes them differently."""
    complete: bool = False
    """Whether records with a missing cell are left out."""


@cache
def entries() -> dict[str, Entry]:
    """The tables that can be downloaded."""
    facts = json.loads((PUBLIC / "openml.json").read_text("utf-8"))
    return {
        name: Entry(fact["openml"], fact["sha256"], fact.get("labels", {}), fact.get("complete", False))
        for name, fact in facts.items()
    }


def public_names() -> tuple[str, ...]:
    """The tables whose schemas come with privet."""
    return tuple(sorted(path.name.removesuffix(SCHEMA) for path in PUBLIC.glob("*" + SCHEMA)))


def public_schema_file(name: str) -> Path | None:
    return PUBLIC / (name + SCHEMA) if name in public_names() else None


def converted(found: Download, schema: Schema, entry: Entry) -> Rows:
    """The records of an OpenML table in the schema's form: its columns in order, the label last, cells as text.

    Columns match by name, ignoring case and punctuation, or by position where OpenML has only numbered them.
    """
    others = [i for i, name in enumerate(found.names) if name != found.target]
    by_name = {_plain(found.names[i]): i for i in others}
    places = [by_name.get(_plain(name)) for name in schema.names]
    if any(place is None for place in places):
        left = [i for i in others if found.names[i] not in found.left_out]
        if len(left) != len(schema.names):
            raise TableError(
                f"OpenML's data set {entry.openml} has {len(left)} columns beside the label, and {schema.name} has "
                f"{len(schema.names)}: it is another form of the table"
            )
        places = list(left)
    target = found.names.index(found.target)
    rows = []
    for row in found.rows:
        label = row[target] or MISSING
        cells = tuple(row[place] or MISSING for place in places if place is not None)
        if not (entry.complete and MISSING in cells):
            rows.append((*cells, entry.labels.get(label, label)))
    return rows


def checksum(schema: Schema, rows: Sequence[Sequence[str]]) -> str:
    """SHA-256 of the records' content, in hexadecimal."""
    numeric = [isinstance(attribute, Numeric) for attribute in schema.attributes] + [False]
    lines = ("\t".join(_canonical(cell, n) for cell, n in zip(row, numeric, strict=True)) for row in rows)
    digest = hashlib.sha256("\t".join([*schema.names, schema.label.name]).encode())
    for line in sorted(lines):
        digest.update(b"\n" + line.encode())
    return digest.hexdigest()


def as_csv(schema: Schema, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of the CSV file."""
    for row in ([*schema.names, schema.label.name], *rows):
        yield ",".join(_quoted(cell) for cell in row) + "\n"


def _plain(name: str) -> str:
    """A column's name without case, escapes and punctuation: ``bruises%3F`` and ``Bruises?`` are equal."""
    return re.sub(r"%[0-9A-Fa-f]{2}|[^a-z0-9]", "", name.lower())


def _canonical(cell: str, numeric: bool) -> str:
    text = cell.strip()
    if not numeric or text == MISSING:
        return text
    try:
        return repr(float(text))
    except ValueError:
        return text  # no number: then it is not the table either, and the checksum says so


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search(r'[",\n]', cell) else cell
