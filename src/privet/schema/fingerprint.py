"""Short hashes of the declared facts of a table, by which a ledger notices that a schema has changed.

Only facts about the *table* count: names, kinds, bounds, categories and labels. Cuts do not count: each recipe chooses
its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from privet.schema.attributes import Categorical, Numeric
from privet.schema.facts import Schema


def fingerprint(schema: Schema) -> dict[str, str]:
    """A hash of the declared facts of each column, by name.

    >>> from privet.datasets.clinic import clinic
    >>> schema, _ = clinic(10)
    >>> fingerprint(schema) == fingerprint(schema.with_bins(3))
    True
    """
    declared = {attribute.name: _hash(_facts(attribute)) for attribute in schema.attributes}
    declared[schema.label.name] = _hash(_label_facts(schema))
    if schema.unit is not None:
        declared[schema.unit.name] = _hash(["unit", schema.unit.max_rows])
    return declared


def digest(schema: Schema) -> str:
    """One short hash of all declared facts, for people to compare."""
    return hashlib.sha256(json.dumps(fingerprint(schema)).encode()).hexdigest()[:16]


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The columns that were added, dropped or declared differently, in words; empty if none.

    >>> changes({"age": "1", "sex": "2"}, {"age": "3", "weight": "4"})
    'age declared differently, sex dropped, weight added'
    """
    differ = [f"{name} declared differently" for name in before if name in after and before[name] != after[name]]
    dropped = [f"{name} dropped" for name in before if name not in after]
    return ", ".join([*differ, *dropped, *(f"{name} added" for name in after if name not in before)])


def _label_facts(schema: Schema) -> list[object]:
    """Of classes, their list alone: journals of before numbers could be predicted have its hash."""
    facts = _facts(schema.number)[:5] if schema.predicts_number else [list(schema.classes)]
    return ["label", *facts, *_reading(schema.label)]


def _facts(attribute: Numeric | Categorical) -> list[object]:
    if isinstance(attribute, Numeric):
        facts = ["numeric", attribute.low, attribute.high, attribute.integer, attribute.missing]
        return [*facts, *_reading(attribute)]
    return ["categorical", list(attribute.values), attribute.other, *_reading(attribute)]


def _reading(attribute: Numeric | Categorical) -> list[object]:
    """Nothing for a column that is read as it is: journals of before there were readings have its hash."""
    return [] if attribute.reading is None else [repr(attribute.reading)]


def _hash(facts: list[object]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
