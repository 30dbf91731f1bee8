"""Schema files: JSON or YAML, and unfinished drafts.

A draft (:mod:`privet.owner.drafting`) holds null where the owner must fill in a fact, and ``"unconfirmed"`` as the
basis of unconfirmed facts. It is refused as a whole: no fit may use a guess.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from privet.errors import SchemaError
from privet.schema.attributes import DEFAULT_BINS, UNCONFIRMED, Attribute, Categorical, Numeric
from privet.schema.facts import Schema, Unit
from privet.schema.keys import CATEGORY, FACTS, NUMBER, NUMBER_LABEL, UNIT, nearest, refuse_kinds, refuse_unknown
from privet.schema.limits import MOST_SCHEMA, brief, read_bytes
from privet.schema.mistaken import kind_by_content, mistaken
from privet.schema.reading_keys import first_marker, label_reading, reading_facts, reading_of, with_spellings

YAML = (".yaml", ".yml")
LONGEST_NUMBER = 400  # digits; no double has more


def read_schema(path: str | PathLike[str]) -> Schema:
    """Read a schema from a JSON file, or from a YAML file by its name. Files of spellings lie beside it."""
    return schema_of(with_spellings(read_facts(path), Path(path).parent))


def read_facts(path: str | PathLike[str]) -> Any:
    """Read the content of a schema file, or of a draft, as plain dictionaries and lists."""
    try:
        content = read_bytes(Path(path), MOST_SCHEMA)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise SchemaError(f"cannot read the schema file {str(path)!r}: {reason}") from error
    if content is None:
        raise SchemaError(f"the schema file {str(path)!r} has more than {MOST_SCHEMA:,} bytes; is it a table?")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        result = mistaken(Path(path), "schema") or "save it as UTF-8"
        raise SchemaError(f"the schema file {str(path)!r} is not UTF-8 text; {result}") from None
    if kind_by_content(Path(path)) in ("journal", "page", "table"):
        raise SchemaError(f"the file {str(path)!r} is not a schema: {mistaken(Path(path), 'schema')}")
    return parse_yaml(text) if str(path).lower().endswith(YAML) else parse_json(text)


def parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_int=_whole)
    except SchemaError:
        raise
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not valid JSON: {error}") from error


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise SchemaError(f"the schema has a number of {len(digits):,} digits; bounds have at most {LONGEST_NUMBER}")
    return int(digits)


def parse_yaml(text: str) -> Any:
    try:
        from privet.schema.yaml12 import load
    except ImportError as error:
        raise SchemaError("reading YAML needs the package pyyaml: run `pip install pyyaml`, or write JSON") from error
    return load(text)


def facts_text(facts: Mapping[str, Any], path: str | PathLike[str]) -> str:
    """The content of a schema file: JSON, or YAML by its name."""
    if str(path).lower().endswith(YAML):
        from privet.schema.yaml12 import dump

        return dump(facts)
    lines = [
        f" {_json(key)}: {_listed(value) if key == 'attributes' else _json(value)}" for key, value in facts.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _listed(attributes: Any) -> str:
    """One attribute a line, which is easy to edit."""
    return "[\n" + ",\n".join(f"  {_json(one)}" for one in attributes or []) + "\n ]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise SchemaError(f"the schema has the key {brief(twice)} twice in one place; drop one")
    return found


# ---- from facts to a schema ---------------------------------------------------------------------------------------


def schema_of(facts: Any) -> Schema:
    """Build a schema from the content of its file. ``rows`` and ``$schema`` are ignored."""
    if not isinstance(facts, Mapping):
        raise SchemaError("the schema must be an object: keys, colons, and values, see docs/guide/schema.md")
    if facts.get("format") == "privet-model":
        raise SchemaError("this is a model file, not a schema: give the schema that it was fitted with")
    refuse_unknown(facts, FACTS, "the schema")
    if waiting := unconfirmed(facts):
        raise SchemaError(
            f"the schema is a draft: the facts about {', '.join(waiting)} are not confirmed. Fill in what is null, "
            "and write where the facts come from as each basis; or run `privet schema edit FILE`"
        )
    attributes = _required(facts, "attributes", "the schema")
    name, labels = (_required(facts, key, "the schema") for key in ("class", "labels"))
    refuse_kinds(facts, FACTS, "the schema")
    return Schema(
        tuple(attribute_of(attribute, i) for i, attribute in enumerate(attributes)),
        replace(_label_of(name, labels, facts.get("labels_basis")), reading=label_reading(facts)),
        unit=None if facts.get("unit") is None else _unit_of(facts["unit"]),
        **{key: facts[key] for key in ("name", "title", "notes", "splits", "inferred") if facts.get(key) is not None},
    )


def _label_of(name: Any, labels: Any, basis: Any) -> Attribute:
    """Classes are a list, and the bounds of a number an object."""
    if not isinstance(labels, Mapping):
        return Categorical(name, labels, basis=basis)
    where = f"the labels of {brief(name)}"
    refuse_unknown(labels, NUMBER_LABEL, where)
    low, high = (_required(labels, key, where) for key in ("min", "max"))
    refuse_kinds(labels, NUMBER_LABEL, where)
    options = {key: labels[key] for key in ("integer", "missing") if labels.get(key) is not None}
    return Numeric(name, low, high, **options, basis=basis)


def _unit_of(facts: Mapping[str, Any]) -> Unit:
    refuse_unknown(facts, UNIT, "the unit")
    needed = [_required(facts, key, "the unit") for key in ("name", "max_rows")]
    refuse_kinds(facts, UNIT, "the unit")
    return Unit(*needed)


def unconfirmed(facts: Mapping[str, Any]) -> list[str]:
    """The unconfirmed columns of a draft, the class last; "?" for one without a name."""
    attributes = facts.get("attributes")
    listed = [one for one in attributes if isinstance(one, Mapping)] if isinstance(attributes, list | tuple) else []
    waiting = [str(one.get("name") or "?") for one in listed if one.get("basis") == UNCONFIRMED]
    return waiting + ([str(facts.get("class") or "the class")] if facts.get("labels_basis") == UNCONFIRMED else [])


def _required(facts: Mapping[str, Any], key: str, where: str) -> Any:
    if facts.get(key) is None:
        raise SchemaError(f"{where} lacks the key {key!r}; add it")
    return facts[key]


def attribute_of(facts: Any, position: int = 0) -> Attribute:
    if not isinstance(facts, Mapping):
        raise SchemaError(f"attribute number {position} must be an object with a name, a type and its facts")
    name = _required(facts, "name", f"attribute number {position}")
    where = f"attribute {brief(name)}"
    kind = _required(facts, "type", where)
    if kind not in (NUMBER, CATEGORY):
        raise SchemaError(f"{where}: type must be {NUMBER!r} or {CATEGORY!r}, not {brief(kind)}; "
                          + nearest(kind, [NUMBER, CATEGORY]))  # fmt: skip
    refuse_unknown(facts, kind, f"{kind} {where}")
    needed = [_required(facts, key, where) for key in (("values",) if kind == CATEGORY else ("min", "max"))]
    refuse_kinds(facts, kind, where)
    if kind == CATEGORY:
        return Categorical(name, needed[0], facts.get("other"), facts.get("basis"), reading_of(facts, where))
    low, high = needed
    if not low < high:
        raise SchemaError(f"{where}: min {brief(low)} must be below max {brief(high)}; widen the bounds")
    options = {key: facts.get(key) for key in ("integer", "thresholds", "bins", "basis")}
    options |= {"missing": first_marker(facts.get("missing")), "reading": reading_of(facts, where)}
    return Numeric(name, *needed, **{key: value for key, value in options.items() if value is not None})


# ---- from a schema to facts ---------------------------------------------------------------------------------------


def facts_of(schema: Schema) -> dict[str, Any]:
    """The content of a schema's file, without empty and default values."""
    described: dict[str, Any] = {"name": schema.name, "title": schema.title}
    described["attributes"] = [_attribute_facts(attribute) for attribute in schema.attributes]
    described |= {"class": schema.label.name, "labels": _label_facts(schema), "labels_basis": schema.label.basis}
    described |= {f"labels_{key}": value for key, value in reading_facts(schema.label).items() if key != "missing"}
    if schema.unit is not None:
        described["unit"] = {"name": schema.unit.name, "max_rows": schema.unit.max_rows}
    described |= {"notes": schema.notes, "splits": {part: list(rows) for part, rows in schema.splits.items()}}
    described["inferred"] = schema.inferred
    return {key: value for key, value in described.items() if value}


def _label_facts(schema: Schema) -> Any:
    if not schema.predicts_number:
        return list(schema.classes)
    label = schema.number
    facts = {"min": _plain(label.low), "max": _plain(label.high), "integer": label.integer or None}
    return {key: value for key, value in (facts | {"missing": label.missing}).items() if value is not None}


def _attribute_facts(attribute: Attribute) -> dict[str, Any]:
    if isinstance(attribute, Categorical):
        facts = {"values": list(attribute.values), "other": attribute.other}
        facts |= reading_facts(attribute) | {"basis": attribute.basis}
        return {"name": attribute.name, "type": CATEGORY} | {k: v for k, v in facts.items() if v is not None}
    facts = {"min": _plain(attribute.low), "max": _plain(attribute.high), "integer": attribute.integer or None}
    facts |= {"thresholds": None if attribute.thresholds is None else [_plain(cut) for cut in attribute.thresholds]}
    facts |= {"bins": None if attribute.bins == DEFAULT_BINS else attribute.bins}
    facts |= {"missing": attribute.missing} | reading_facts(attribute) | {"basis": attribute.basis}
    return {"name": attribute.name, "type": NUMBER} | {k: v for k, v in facts.items() if v is not None}


def _plain(number: float) -> float | int:
    """120.0 as 120, the usual way to write bounds."""
    return int(number) if number.is_integer() else number
