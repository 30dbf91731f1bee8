"""The content of a model's page, as plain data for its template: released numbers and public facts, no table.

It depends on the model's sections alone (``Released.sections``), so a new kind of model that is shown as trees or as
curves needs no change here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Any, Unpack

import numpy as np

from privet import promise
from privet.bidi import isolated
from privet.errors import RecipeError
from privet.models.curves import ShownSum
from privet.models.model import Model
from privet.models.released import Limits, Released
from privet.models.shown import ShownTree
from privet.privacy.certificate import Certificate
from privet.recipes.registry import recipe_class
from privet.report.quality import quality_context
from privet.report.sums import sum_context
from privet.report.trees import size_words, tree_context
from privet.schema import Numeric, Schema
from privet.schema.fingerprint import digest

MOST_NUMBERS = 8_000  # nodes times classes that the page's script gets to follow a case with; about 150 KB
MOST_LOOKED_AT = 12  # attributes listed by importance
TEMPLATES: dict[type, tuple[str, Any]] = {ShownTree: ("trees.html", tree_context), ShownSum: ("sums.html", sum_context)}


def model_context(model: Model, score: Any = None, **limits: Unpack[Limits]) -> tuple[str, dict[str, Any]]:
    """The template of a model's page, and its context; ``score`` is a private score of the model, if one was bought."""
    sections = model.sections(**limits)
    first = next(sections)
    template, context = TEMPLATES[type(first)]
    section = context(chain((first,), sections), model.trees)
    data = follow_data(model.trees)
    return template, {
        **certificate_context(Certificate.from_dict(model.certificate)),
        **section,
        "quality": None if score is None else quality_context(score, model.schema),
        "title": _title(model),
        "size": _size(model.trees.size),
        "looks_at": _looks_at(model.trees.importances(), model.schema),
        "labels": _labels(model.schema),
        "label": isolated(model.schema.label.name),
        "fields": [] if data is None else [_field(model.schema, a) for a in model.trees.asked()],
        "data": data and {**data, "shown_as": section.get("shown_as", [])},
        "facts": list(_facts(model)),
        "settings": [(name, _written(value)) for name, value in model.params.items()],
        "notes": model.notes,
        "do_not_conclude": promise.DO_NOT_CONCLUDE,
    }


def certificate_context(certificate: Certificate) -> dict[str, Any]:
    """The context that describes a certificate."""
    return {
        "promise": promise.sentence(certificate),
        "private": certificate.private,
        "strength": promise.strength(certificate.epsilon) if certificate.private else "warning",
        "headline": promise.amounts(certificate),
        "guess": promise.guess(certificate) if certificate.private else "",
        "relation": promise.relation(certificate),
        "definition": certificate.definition,
        "spending": promise.spending(certificate),
        "conditions": [(caveat.text, caveat.voids) for caveat in certificate.caveats],
        "covers": promise.COVERS,
        "covers_not": promise.covers_not(certificate),
    }


def follow_data(released: Released) -> dict[str, Any] | None:
    """The data with which the page's script follows one case; None if too large for a page, or if nothing is tested.

    The script repeats ``encode_features`` and ``Released.predict``; a test compares them.
    """
    schema, asked = released.schema, released.asked()
    arrays = released.arrays(MOST_NUMBERS) if asked else None
    if arrays is None:
        return None
    attributes = {str(a): schema.attributes[a] for a in asked}
    short: dict[str, Any] = _short(arrays)
    return short | {
        "labels": _labels(schema),
        # The cuts of a number; None for a category, whose code is its place in the list.
        "cuts": {a: fact.cuts.tolist() if isinstance(fact, Numeric) else None for a, fact in attributes.items()},
        "missing": {a: fact.fallback for a, fact in attributes.items()},
    }


def _labels(schema: Schema) -> list[str]:
    """The classes; none where a number is predicted."""
    return [] if schema.predicts_number else [isolated(value) for value in schema.classes]


def _short(value: Any) -> Any:
    """Round numbers to nine digits: the predictions stay the same, with half as many bytes."""
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _field(schema: Schema, a: int) -> dict[str, Any]:
    """A form field from public facts: declared bounds and values."""
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


def _title(model: Model) -> str:
    kind = f"{'an' if model.trees.title[0] in 'aeiou' else 'a'} {model.trees.title}"
    of, label = isolated(model.schema.title or model.schema.name), isolated(model.schema.label.name)
    return f"{of}: {kind} for “{label}”" if of else f"{kind[0].upper()}{kind[1:]} for “{label}”"


def _size(size: dict[str, int]) -> str:
    if "parts" in size:
        return f"{size['parts']} parts that are added up"
    trees, leaves, depth = size["trees"], size["leaves"], size["depth"]
    return ("" if trees == 1 else f"{trees} trees, ") + size_words(leaves, depth)


def _looks_at(shares: np.ndarray, schema: Schema) -> list[tuple[str, float, str]]:
    """The most important attributes, with their share as a number and in words."""
    order = np.argsort(-shares, kind="stable")[:MOST_LOOKED_AT]
    text = (f"{100 * share:.0f} %" if share >= 0.005 else "below 1 %" for share in shares[order])
    return [(schema.names[a], float(shares[a]), words) for a, words in zip(order, text, strict=True) if shares[a]]


def _facts(model: Model) -> Iterator[tuple[str, str]]:
    made = dict(model.made)
    if date := made.pop("date", ""):
        yield "made", date.replace("T", " ").replace("Z", " UTC")
    yield "recipe", _recipe(model.recipe)
    yield "schema", f"{isolated(model.schema.name or 'without a name')}, fingerprint {digest(model.schema)}"
    if made:
        yield "versions", ", ".join(f"{isolated(name)} {isolated(version)}" for name, version in sorted(made.items()))


def _recipe(name: str) -> str:
    try:
        info = recipe_class(name).info
    except RecipeError:  # a non-private reference, or a recipe of a package that is not installed
        return name
    return f"{name}: {info.title} ({info.citation})"


def _written(value: Any) -> str:
    """A parameter as people write it."""
    return str(value) if isinstance(value, Fraction | str) else json.dumps(value, default=str)


def _plain(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
