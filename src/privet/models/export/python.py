"""A model as one file of Python that needs the standard library only, and reads cells as privet does."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from privet.models.export.metadata import metadata
from privet.models.formula import Summand
from privet.schema import Numeric
from privet.schema.attributes import Attribute
from privet.structure.splits import LEAF
from privet.tables.cells import number_of, spellings_of

if TYPE_CHECKING:
    from privet.models.model import Model


def to_python(model: Model) -> str:
    """The source text: the functions of ``scorer.py``, and the model's numbers as literals."""
    formula = model.trees.formula()
    tied = formula.ties is not None
    facts: dict[str, Any] = {
        "METADATA": metadata(model),
        "LABEL": formula.schema.label.name,
        "CLASSES": [] if formula.link == "number" else list(formula.schema.classes),
        "COMBINE": formula.combine,
        "LINK": formula.link,
        "TAKEN": formula.taken,
        "BOUNDS": formula.bounds,
        "LABELS": None if formula.labels is None else formula.labels.tolist(),
        "TIES": [table.tolist() for table in formula.ties] if tied and formula.ties else None,
    }
    columns = [_column(attribute) for attribute in formula.schema.attributes]
    lines = [f"{name} = {value!r}" for name, value in facts.items()]
    lines += ["COLUMNS = [", *(f"    {column!r}," for column in columns), "]"]
    lines += ["SUMMANDS = [", *(f"    {_summand(summand)!r}," for summand in formula.summands), "]"]
    scorer = files("privet.models.export").joinpath("scorer.py").read_text("utf-8")
    before, _, after = scorer.partition("# <the model>\n")
    return before + "\n".join(lines) + "\n" + after.partition("# </the model>\n")[2]


def _column(attribute: Attribute) -> tuple[Any, ...]:
    """A number: name, cuts, marker of a missing value, code of one. A category: name, spellings, None, fallback."""
    if isinstance(attribute, Numeric):
        marker = number_of(attribute.missing)
        return attribute.name, attribute.cuts.tolist(), None if math.isnan(marker) else marker, attribute.fallback
    return attribute.name, spellings_of(attribute), None, attribute.fallback


def _summand(summand: Summand) -> dict[str, Any]:
    """A table, and the nodes of its tree (attribute, kind, cut, first child, row) or the levels of its attributes."""
    table = summand.table.tolist()
    if summand.routes is None:
        grid = zip(summand.attributes, (column.tolist() for column in summand.levels), summand.sides, strict=True)
        return {"grid": list(grid), "table": table}
    routes, tests = summand.routes, summand.routes.tests
    columns = tests.attribute, tests.kind, tests.cut, routes.first_child, summand.leaf_row
    nodes = zip(*(column.tolist() for column in columns), strict=True)
    return {"nodes": [(LEAF, row) if a == LEAF else (a, kind, cut, child) for a, kind, cut, child, row in nodes],
            "table": table}  # fmt: skip
