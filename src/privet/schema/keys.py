"""The keys of a schema file and the types of their values, as listed in ``schema.json``.

That file is a JSON Schema, so that editors can complete and check schema files. The reader takes its keys and types
from there too: a key that it does not list does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from privet.errors import SchemaError
from privet.schema.limits import brief

FACTS, NUMBER, CATEGORY, UNIT = "schema", "continuous", "categorical", "unit"  # what has keys
NUMBER_LABEL = "number_label"  # and the bounds of a number to predict
LONGEST = 40  # characters of a word to compare with ours
NEAR = 0.6  # difflib's ratio: typing errors, not other words
# Words of other tools and people, and ours for them.
OTHER_WORDS = {
    "low": "min", "lower": "min", "minimum": "min", "high": "max", "upper": "max", "maximum": "max",
    "label": "class", "target": "class", "classes": "labels", "class_labels": "labels",
    "columns": "attributes", "features": "attributes", "fields": "attributes",
    "categories": "values", "levels": "values", "enum": "values", "cuts": "thresholds", "kind": "type",
    "dtype": "type", "whole": "integer", "na": "missing", "null": "missing", "default": "other", "source": "basis",
    "person": "unit", "entity": "unit", "group": "unit", "column": "name", "rows": "max_rows",
    "numeric": NUMBER, "number": NUMBER, "float": NUMBER, "integer": NUMBER, "real": NUMBER,
    "nominal": CATEGORY, "category": CATEGORY, "string": CATEGORY, "boolean": CATEGORY, "enumeration": CATEGORY,
}  # fmt: skip


@cache
def json_schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("privet.schema").joinpath("schema.json").read_text("utf-8"))
    return found


def properties(what: str) -> dict[str, Any]:
    """The keys of a whole schema, of a number, of a category or of a unit, each with its type and description.

    >>> list(properties(CATEGORY))
    ['name', 'type', 'values', 'other', 'missing', 'spellings', 'fold', 'prefix', 'from', 'date', 'basis']
    """
    home = json_schema() if what == FACTS else json_schema()["$defs"][what]
    found: dict[str, Any] = home["properties"]
    return found


def refuse_unknown(facts: Mapping[str, Any], what: str, where: str) -> None:
    """Raise ``SchemaError`` for an unknown key, naming the nearest known one."""
    known = properties(what)
    for key in facts:
        if key not in known:
            raise SchemaError(f"{where} has no key {brief(key)}; {nearest(key, known)}")


def refuse_kinds(facts: Mapping[str, Any], what: str, where: str) -> None:
    """Raise ``SchemaError`` for a value of the wrong type for its key."""
    for key, value in facts.items():
        kinds = properties(what)[key].get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(_is_a(value, kind) for kind in kinds):
            text = " or ".join(_KINDS[kind][1] for kind in kinds if kind != "null")
            raise SchemaError(f"{where}: {key} must be {text}, not {brief(value)}")


def nearest(word: object, known: Mapping[str, Any] | list[str]) -> str:
    """The word that was probably meant, and the known ones.

    >>> nearest("mni", ["min", "max"])
    "did you mean 'min'? There are min, max"
    """
    listed = f"There are {', '.join(known)}"
    given = str(word)[:LONGEST].strip().lower()
    meant = [OTHER_WORDS[given]] if OTHER_WORDS.get(given) in known else []
    meant = meant or get_close_matches(given, list(known), n=1, cutoff=NEAR)
    return f"did you mean {meant[0]!r}? {listed}" if meant else listed.replace("There", "there", 1)


def _is_a(value: Any, kind: str) -> bool:
    types = _KINDS[kind][0]
    return bool in types if isinstance(value, bool) else isinstance(value, types)


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "text"),
    "number": ((int, float), "a number"),
    "integer": ((int,), "a whole number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list, tuple), "a list"),
    "object": ((Mapping,), "an object"),
    "null": ((type(None),), "null"),
}
