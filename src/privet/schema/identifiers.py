"""Columns that look like identifiers by their names, which are public."""

from __future__ import annotations

import re

from privet.schema.facts import Schema

ID = re.compile(r"(?i:(^|[_ .-])(id|uuid|guid|key|nr|no|number|mrn|ssn)$)|(?<=[a-z])(Id|ID|Nr)$")


def looks_like_identifier(name: str) -> bool:
    """Whether a name is that of an identifier.

    >>> [looks_like_identifier(name) for name in ("patient_id", "caseNr", "id", "paid", "age")]
    [True, True, True, False, False]
    """
    return ID.search(name) is not None


def unit_hint(schema: Schema, how: str = "") -> str | None:
    """A sentence for a schema without a unit that names an identifier; None otherwise. It uses declared names only.

    ``how`` says what to write instead, with ``{}`` for the name; by default as options of a command.
    """
    names = [name for name in schema.inputs if looks_like_identifier(name)]
    if schema.unit is not None or not names:
        return None
    say_so = (how or "--unit {} --max-rows K, or `privet schema edit`").format(names[0])
    return (
        f"the schema lists {', '.join(map(repr, names))} and declares no unit, so epsilon protects one row. If a "
        f"person can have several rows, say so: {say_so}; and learn nothing from a name"
    )
