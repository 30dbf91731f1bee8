"""Readings in schema files: the keys missing, from, date, prefix, spellings and fold of an attribute."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privet.errors import SchemaError
from privet.schema.attributes import Attribute, Numeric
from privet.schema.keys import refuse_kinds, refuse_unknown
from privet.schema.limits import MOST_SCHEMA, brief, read_bytes
from privet.schema.readings import ISO, DatePart, Reading

DATE = "date"
NUMBER_KINDS = "continuous"


def reading_of(facts: Mapping[str, Any], where: str) -> Reading | None:
    """The reading of an attribute's facts; None if its column is read as it is."""
    marker = facts.get("missing")
    markers = marker if isinstance(marker, list | tuple) else [] if marker is None else [marker]
    if None in markers:
        raise SchemaError(
            f"{where}: missing lists null; leave it out, or write the text that stands for a missing value"
        )
    # The first marker of a number is a fact of its own: it says that there is a branch for missing values.
    further = tuple(markers[1:] if facts.get("type") == NUMBER_KINDS else markers)
    spellings = facts.get("spellings") or ()
    if isinstance(spellings, str):
        raise SchemaError(
            f"{where}: the file of spellings {brief(spellings)} lies beside a schema file; give its content"
        )
    reading = Reading(
        facts.get("from"), further, _date_of(facts.get(DATE), where), facts.get("prefix"), spellings,
        bool(facts.get("fold")),
    )  # fmt: skip
    return None if reading == Reading() else reading


def label_reading(facts: Mapping[str, Any]) -> Reading | None:
    """The reading of the label."""
    reading = Reading(spellings=facts.get("labels_spellings") or (), fold=bool(facts.get("labels_fold")))
    return None if reading == Reading() else reading


def first_marker(missing: Any) -> Any:
    """The marker of a number that has a branch for missing values."""
    return (missing[0] if missing else None) if isinstance(missing, list | tuple) else missing


def reading_facts(attribute: Attribute) -> dict[str, Any]:
    """The keys of an attribute's reading, without those at their defaults."""
    reading = attribute.reading
    if reading is None:
        return {}
    first = [attribute.missing] if isinstance(attribute, Numeric) and attribute.missing is not None else []
    facts = {
        "missing": [*first, *reading.missing] if reading.missing else first[0] if first else None,
        "spellings": {_key(value): list(texts) for value, texts in reading.spellings},
        "fold": reading.fold,
        "prefix": reading.prefix,
        "from": reading.source,
        DATE: None if reading.date is None else _date_facts(reading.date),
    }
    return {key: value for key, value in facts.items() if value}


def with_spellings(facts: Any, folder: Path) -> Any:
    """The facts with the content of files of spellings instead of their names."""
    if not isinstance(facts, Mapping) or not isinstance(facts.get("attributes"), list):
        return facts
    return {**facts, "attributes": [_opened(one, folder) for one in facts["attributes"]]}


def _opened(attribute: Any, folder: Path) -> Any:
    name = attribute.get("spellings") if isinstance(attribute, Mapping) else None
    if not isinstance(name, str):
        return attribute
    try:
        content = read_bytes(folder / name, MOST_SCHEMA)
        text = "" if content is None else content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SchemaError(f"cannot read the file of spellings {brief(name)}: {reason}") from None
    found: dict[str, list[str]] = {}
    for row in csv.reader(io.StringIO(text)):
        if row and len(row) != 2:
            raise SchemaError(f"the file of spellings {brief(name)} must have two columns, a text and its value")
        if row:
            found.setdefault(row[1].strip(), []).append(row[0])
    return {**attribute, "spellings": found}


def _date_of(facts: Any, where: str) -> DatePart | None:
    if facts is None:
        return None
    if not isinstance(facts, Mapping):
        raise SchemaError(f"{where}: date must be an object with a part, such as {{'part': 'year'}}")
    refuse_unknown(facts, DATE, f"{where}: date")
    refuse_kinds(facts, DATE, f"{where}: date")
    return DatePart(facts.get("part", ""), facts.get("formats") or ISO, facts.get("at"))


def _date_facts(date: DatePart) -> dict[str, Any]:
    formats = None if date.formats == ISO else list(date.formats)
    facts = {"part": date.part, "formats": formats, "at": None if date.at is None else date.at.isoformat()}
    return {key: value for key, value in facts.items() if value is not None}


def _key(value: Any) -> str:
    return str(value)
