"""An additive model as JSON. Reading trusts nothing: what comes out is a sound model, or a ``ValueError`` says why."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.models.additive import Additive, Part
from privet.models.rules import DEEPEST
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Tests

_COLUMNS = ("attribute", "kind", "cut", "first_child")
_MOST = 2**31 - 1


def to_dict(model: Additive) -> dict[str, Any]:
    facts: dict[str, Any] = {"offset": model.offset.tolist(), "parts": [_part_to_dict(part) for part in model.parts]}
    if model.routes is not None:
        tests = model.routes.tests
        columns: tuple[npt.NDArray[Any], ...] = (tests.attribute, tests.kind, tests.cut, model.routes.first_child)
        facts["routes"] = {name: column.tolist() for name, column in zip(_COLUMNS, columns, strict=True)}
    return facts


def _part_to_dict(part: Part) -> dict[str, Any]:
    return {
        "attributes": list(part.attributes),
        "levels": [column.tolist() for column in part.levels],
        "table": part.table.tolist(),
        "deviation": part.deviation,
        "widest": part.widest,
        "knots": [list(knots) for knots in part.knots],
    }


def from_dict(facts: Any, schema: Schema) -> Additive:
    """The model that ``to_dict`` wrote; raises ``ValueError`` or :class:`privet.errors.ParameterError`."""
    if not isinstance(facts, dict) or not isinstance(facts.get("parts"), list):
        raise ValueError("its additive model is no object with a list of parts")
    routes = None
    if facts.get("routes") is not None:
        attribute, kind, cut, first_child = (_whole(facts["routes"], name, least=-1) for name in _COLUMNS)
        if not len(attribute) == len(kind) == len(cut) == len(first_child) > 0:
            raise ValueError("the columns of its tree differ in length")
        if any(not 0 <= one < 128 for one in kind):
            raise ValueError("its tree has a test of unknown kind")
        columns = (np.array(column, dtype=np.int32) for column in (attribute, kind, cut))
        tests = Tests.of_columns(schema, *columns)
        routes = Routes(schema, tests, np.array(first_child, dtype=np.int32), np.zeros(1, dtype=np.int32))
        if routes.level.max() > DEEPEST:  # every leaf is described by its whole path
            raise ValueError(f"its tree is {routes.level.max():,} tests deep, more than {DEEPEST}")
    parts = tuple(_part_from_dict(part) for part in facts["parts"])
    return Additive(schema, parts, np.array(_floats(facts.get("offset"), "offset")), routes)


def _part_from_dict(facts: Any) -> Part:
    if not isinstance(facts, dict):
        raise ValueError("a part is no object")
    levels = facts.get("levels")
    table = facts.get("table")
    if not isinstance(levels, list) or not isinstance(table, list) or not table:
        raise ValueError("a part lacks its levels or its table")
    rows = [_floats(row, "table") for row in table]
    if len({len(row) for row in rows}) != 1:
        raise ValueError("the rows of a table differ in length")
    deviation = _floats([facts.get("deviation")], "deviation")[0]
    widest = None if facts.get("widest") is None else _floats([facts["widest"]], "widest")[0]
    columns = tuple(np.array(_checked_whole(column, "levels"), dtype=np.int32) for column in levels)
    if any(not column.size for column in columns):
        raise ValueError("a part has an attribute without levels")
    if not isinstance(facts.get("knots"), list):
        raise ValueError("a part lacks its knots")
    knots = tuple(tuple(_floats(column, "knots")) for column in facts["knots"])
    return Part(tuple(_whole(facts, "attributes")), columns, np.array(rows), deviation, knots, widest)


def _whole(facts: Any, name: str, least: int = 0) -> list[int]:
    if not isinstance(facts, dict):
        raise ValueError(f"what should hold {name!r} is no object")
    return _checked_whole(facts.get(name), name, least)


def _checked_whole(column: Any, name: str, least: int = 0) -> list[int]:
    # `type(x) is int`: NumPy would also take true, 1.0 and "1".
    if not isinstance(column, list) or any(type(x) is not int or not least <= x <= _MOST for x in column):
        raise ValueError(f"{name!r} of a part must be a list of whole numbers")
    return column


def _floats(row: Any, name: str) -> list[float]:
    good = isinstance(row, list) and all(type(x) in (int, float) and abs(x) < 1e300 and math.isfinite(x) for x in row)
    if not good:
        raise ValueError(f"{name!r} of an additive model must hold finite numbers")
    return [float(x) for x in row]
