"""What a page needs to follow one case by itself: the questions of its form, and the trees as plain arrays.

A script in the page does with it what ``Schema.encode_features`` and ``Forest.predict`` do here; a test compares them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.bidi import isolated
from privet.models.additive import Additive
from privet.models.curves import part_name
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.schema import Numeric, Schema
from privet.structure.splits import Tests

MOST_NUMBERS = 8_000  # nodes times classes; about 150 KB
PLACES = 6  # of a log-odds: a probability is then right to a millionth, and a page a fifth smaller


def follow_data(trees: Forest | Tree | Additive) -> dict[str, Any] | None:
    """The arrays that the page's script reads; None if there is too much to put into a page, or nothing to ask."""
    data = _sum_data(trees) if isinstance(trees, Additive) else _tree_data(trees)
    return data and {
        "labels": [isolated(value) for value in trees.schema.label.values],
        "cuts": {str(a): _cuts(trees.schema, a) for a in asked(trees)},
        "missing": {str(a): trees.schema.attributes[a].fallback for a in asked(trees)},
        **data,
    }


def _sum_data(model: Additive) -> dict[str, Any] | None:
    if sum(part.table.size for part in model.parts) > MOST_NUMBERS or not asked(model):
        return None
    return {
        "offset": _short(model.offset),
        "parts": [
            {
                "attributes": list(part.attributes),
                "what": part_name(model.schema, part),
                "levels": [None if _as_they_are(column) else column.tolist() for column in part.levels],
                "sides": list(part.sides),
                "table": [[round(float(number), PLACES) for number in row] for row in part.table],
            }
            for part in model.parts
        ],
        "trees": [] if model.routes is None else [_arrays(model.routes.tests, model.routes.first_child)],
        "leaf": [] if model.routes is None else (np.cumsum(model.routes.is_leaf) - 1).tolist(),
    }


def _as_they_are(levels: Any) -> bool:
    """Whether each code has a level of its own, in order."""
    return bool((levels == np.arange(len(levels))).all())


def _arrays(tests: Tests | Tree, first_child: Any) -> dict[str, Any]:
    """The questions of a tree as the script reads them."""
    columns = {name: getattr(tests, name).tolist() for name in ("attribute", "kind", "cut")}
    return columns | {"first_child": first_child.tolist()}


def _tree_data(trees: Forest | Tree) -> dict[str, Any] | None:
    members = trees.trees if isinstance(trees, Forest) else (trees,)
    if sum(len(tree) for tree in members) * trees.schema.n_classes > MOST_NUMBERS or not asked(trees):
        return None
    text = trees.votes if isinstance(trees, Forest) else trees.proba
    data: dict[str, Any] = {
        "trees": [_arrays(tree, tree.first_child) | {"label": tree.label.tolist()} for tree in members],
        "says": [_short(row) for row in np.where(_is_leaf(members)[:, None], text, 0.0)],
        "voting": trees.voting if isinstance(trees, Forest) else None,
    }
    if isinstance(trees, Forest):
        data["prior"] = _short(np.log(np.maximum(trees.prior, 1e-9))) if trees.voting == "evidence" else None
        data["ties"] = [_short(row) for tree in members for row in tree.proba] if trees.voting == "surest" else None
    return data


def asked(trees: Forest | Tree | Additive) -> tuple[int, ...]:
    """The attributes that are asked about, in the order in which a reader meets them."""
    if isinstance(trees, Additive):
        tested = () if trees.routes is None else trees.routes.tests.attribute[~trees.routes.is_leaf].tolist()
        return tuple(dict.fromkeys([*(a for part in trees.parts for a in part.attributes), *tested]))
    members = trees.trees if isinstance(trees, Forest) else (trees,)
    met = (int(tree.attribute[node]) for tree in members for node, _ in tree.walk())
    return tuple(dict.fromkeys(attribute for attribute in met if attribute >= 0))


def form_fields(trees: Forest | Tree | Additive) -> list[dict[str, Any]]:
    """The fields of the form, with public facts only: bounds and values as they were declared."""
    return [_field(trees.schema, a) for a in asked(trees)]


def _field(schema: Schema, a: int) -> dict[str, Any]:
    attribute = schema.attributes[a]
    if isinstance(attribute, Numeric):
        return {
            "number": a,
            "name": attribute.name,
            "low": _plain(attribute.low),
            "high": _plain(attribute.high),
            "start": _plain(attribute.middle),
            "step": 1 if attribute.integer else "any",
            "missing": attribute.missing is not None,
        }
    values = [isolated(value) for value in attribute.values]
    return {"number": a, "name": attribute.name, "options": values, "start": attribute.fallback}


def _cuts(schema: Schema, a: int) -> list[float] | None:
    """Where a number is cut; None for a category, whose code is its place in the list."""
    attribute = schema.attributes[a]
    return attribute.cuts.tolist() if isinstance(attribute, Numeric) else None


def _is_leaf(members: tuple[Tree, ...]) -> Any:
    return np.concatenate([tree.is_leaf for tree in members])


def _short(numbers: Any) -> list[float]:
    """Nine digits: enough to predict the same, and half as many bytes."""
    return [float(f"{number:.9g}") for number in numbers]


def _plain(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
