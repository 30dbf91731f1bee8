"""The page of a model: the promise, what it says, a case to follow, and the certificate, in one file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from privet import promise
from privet.bidi import isolated
from privet.errors import ParameterError, RecipeError
from privet.models.additive import Additive
from privet.models.codec import Model
from privet.models.forest import Forest
from privet.models.importance import importances
from privet.privacy.certificate import Certificate
from privet.recipes.registry import recipe_class
from privet.report.additive_section import additive_section
from privet.report.rendering import data_block, render
from privet.report.tree_section import looks_at, size_of, tree_section
from privet.report.walkthrough import follow_data, form_fields
from privet.schema.fingerprint import digest


def model_page(model: Model, *, max_leaves: int | None = None, min_support: float | None = None) -> str:
    """The page as HTML. Everything in it was released with the model; no table is read.

    ``max_leaves`` and ``min_support`` limit how much of a tree is shown, see :class:`privet.models.shown.ShownTree`.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> page = model_page(tree.model_)
    >>> "epsilon = 1" in page, "http://" in page
    (True, False)
    """
    certificate = Certificate.from_dict(model.certificate)
    if isinstance(model.trees, Additive):
        if max_leaves is not None or min_support is not None:
            raise ParameterError("max_leaves and min_support are for trees; this model is a sum and has no leaves")
        template, section = "additive.html", additive_section(model.trees)
    else:
        template, section = "trees.html", tree_section(model, max_leaves=max_leaves, min_support=min_support)
    data = follow_data(model.trees)
    if data is not None and "shown_as" in section:
        data["shown_as"] = section["shown_as"]
    return render(
        template,
        **certificate_context(certificate),
        **section,
        title=_title(model),
        size=_size(model),
        looks_at=looks_at(importances(model.trees), model.schema),
        labels=[isolated(value) for value in model.schema.label.values],
        label=isolated(model.schema.label.name),
        fields=form_fields(model.trees) if data is not None else [],
        data=data_block(data) if data is not None else None,
        facts=list(_facts(model)),
        settings=[(name, _written(value)) for name, value in model.params.items()],
        notes=model.notes,
        do_not_conclude=promise.DO_NOT_CONCLUDE,
    )


def certificate_context(certificate: Certificate) -> dict[str, Any]:
    """What the templates need of a certificate."""
    return {
        "promise": promise.sentence(certificate),
        "private": certificate.private,
        "headline": promise.amounts(certificate),
        "guess": promise.guess(certificate) if certificate.private else "",
        "relation": promise.relation(certificate),
        "definition": certificate.definition,
        "spending": promise.spending(certificate),
        "conditions": [(caveat.text, caveat.voids) for caveat in certificate.caveats],
        "covers": promise.COVERS,
        "covers_not": promise.covers_not(certificate),
    }


def _title(model: Model) -> str:
    kind = "forest" if isinstance(model.trees, Forest) else "decision tree"
    kind = "n additive model" if isinstance(model.trees, Additive) else f" {kind}"
    of, label = isolated(model.schema.title or model.schema.name), isolated(model.schema.label.name)
    return f"{of}: a{kind} for “{label}”" if of else f"A{kind} for “{label}”"


def _size(model: Model) -> str:
    if isinstance(model.trees, Additive):
        return f"{len(model.trees.parts)} parts that are added up"
    return size_of(model.trees.trees if isinstance(model.trees, Forest) else (model.trees,))


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
    except RecipeError:  # a reference that is not private, or a recipe of a package that is not here
        return name
    return f"{name}: {info.title} ({info.citation})"


def _written(value: Any) -> str:
    """A parameter as a person writes it."""
    if isinstance(value, Fraction | str):
        return str(value)
    return json.dumps(value, default=str)
