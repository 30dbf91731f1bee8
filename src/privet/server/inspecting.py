"""The work of a child for the owner only: what the columns of a table look like, and whether it follows a schema.

OUTSIDE PRIVACY: it reads records. Only the owner's pages show it, and only a draft keeps it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


def draft(request: dict[str, Any]) -> dict[str, Any]:
    """What a file or a source looks like, column by column; ``label`` is the column to predict, if it is known."""
    from pathlib import Path

    from privet.engines.opening import load_first
    from privet.owner import drafting
    from privet.tables.files import is_there

    place, label = request["source"], request.get("label")
    if is_there(Path(place)):
        found = drafting.draft(place, label)
    else:
        names, records = load_first(place, drafting.MOST_RECORDS)
        found = drafting.draft_table(place, names, records, label)
    columns = [asdict(one) for one in found.columns]
    labels, listed = found.facts["labels"], {one["name"]: one for one in found.facts["attributes"]}
    for one in columns:
        one["facts"] = listed.get(one["name"])
        if one["name"] == found.facts["class"]:
            number = isinstance(labels, dict)
            one["facts"] = {"name": one["name"], "type": "continuous" if number else "categorical"}
            one["facts"] |= labels if isinstance(labels, dict) else {"values": labels}
    facts = {"columns": columns, "repeated": list(found.repeated), "unreadable": dict(found.unreadable)}
    return facts | {"label": found.facts["class"]}


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Where a table does not keep to its schema, how a fit reads such cells, and whether that spoils a column."""
    from privet.engines.opening import load_table
    from privet.owner.inspection import check_table
    from privet.schema import Schema

    schema = Schema.from_dict(request["schema"])
    report = check_table(schema, load_table(request["source"], schema))
    bad = {(one.column, one.fault) for one in report.ruinous()}
    findings = [asdict(one) | {"ruinous": (one.column, one.fault) in bad} for one in report.findings]
    return {"records": report.records, "bad_rows": report.bad_rows, "findings": findings}
