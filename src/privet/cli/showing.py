"""``privet show``: what is in a model file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, ModelFile
from privet.cli.output import print_json
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.privacy.certificate import Certificate
    from privet.trees.codec import Model
    from privet.trees.rules import Rule
    from privet.trees.tree import Tree

EXAMPLE = "Example: privet show tree.json --format rules"


class Format(StrEnum):
    """How a model is rendered."""

    TEXT = "text"
    RULES = "rules"
    GRAPHVIZ = "graphviz"
    MERMAID = "mermaid"
    CERTIFICATE = "certificate"


def show(
    model: ModelFile,
    form: Annotated[Format, typer.Option("--format", "-f", help="What to show.")] = Format.TEXT,
    tree: Annotated[
        str | None, typer.Option("--tree", "-t", metavar="N", help="Of a forest, tree N from 1 on, or all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a model: its tree (or what its forest is about), its rules, a graph of it, or what it promises."""
    from privet.recipes.saved import read_model

    found, certificate = read_model(model)
    if as_json:
        print_json(_facts(found, certificate))
    elif form is Format.CERTIFICATE:
        _chosen(found, tree)  # what makes no sense is refused, whatever is asked for
        print(certificate)
    elif tree is None and form is Format.TEXT and len(trees_of(found)) > 1:
        print(_summary(found, str(model)), end="")
    else:
        print(_rendered(_chosen(found, tree), form), end="")


def _summary(model: Model, file: str) -> str:
    from privet.trees.forest import Forest
    from privet.trees.summary import summarise

    forest = model.trees
    assert isinstance(forest, Forest)
    heading = f"{model.recipe}: {size_words(size_of(model))}\n"
    return f"{heading}{summarise(forest)}Others: privet show {file} --tree 1 to {len(forest)}, or all\n"


def _chosen(model: Model, tree: str | None) -> Model:
    """The model with one of its trees alone, or all of it."""
    trees = trees_of(model)
    if tree is None or tree == "all":
        return model
    if not tree.isdecimal() or not 1 <= int(tree) <= len(trees):
        raise ParameterError(f"--tree must be all or a number from 1 to {len(trees)}, not {tree!r}")
    return replace(model, trees=trees[int(tree) - 1])


def _rendered(model: Model, form: Format) -> str:
    from privet.trees import render
    from privet.trees.additive import Additive
    from privet.trees.curves import describe

    if isinstance(model.trees, Additive):
        if form is not Format.TEXT:
            raise ParameterError(
                f"an additive model is a sum and has no {form.value}; use --format text or certificate"
            )
        return f"{model.recipe}: {size_words(size_of(model))}\n{describe(model.trees)}"
    if form is Format.RULES:
        return "".join(f"{rule.describe(model.schema)}\n" for rule in _rules_of(model))
    if form is Format.TEXT:
        heading = f"{model.recipe}: {size_words(size_of(model))}\n"
        heading += "".join(f"{note}\n" for note in model.notes)
        return heading + "\n".join(render.export_text(tree) for tree in trees_of(model))
    export = render.export_graphviz if form is Format.GRAPHVIZ else render.export_mermaid
    return "\n".join(export(tree) for tree in trees_of(model))


def _facts(model: Model, certificate: Certificate) -> dict[str, Any]:
    from privet.trees.additive import Additive
    from privet.trees.additive_codec import to_dict
    from privet.trees.curves import describe
    from privet.trees.render import export_text

    if isinstance(model.trees, Additive):
        shown: dict[str, Any] = {"additive": to_dict(model.trees), "text": [describe(model.trees)]}
    else:
        shown = {"rules": _rules(model), "text": [export_text(tree) for tree in trees_of(model)]}
    return {
        "recipe": model.recipe,
        "params": dict(model.params),
        **size_of(model),
        "certificate": certificate.to_dict(),
        **shown,
        "schema": model.schema.to_dict(),
        "notes": list(model.notes),
    }


def _rules_of(model: Model) -> Iterator[Rule]:
    from privet.trees.rules import rules_of

    return (rule for tree in trees_of(model) for rule in rules_of(tree))


def _rules(model: Model) -> list[dict[str, Any]]:
    schema = model.schema
    return [
        {
            "conditions": [condition.describe(schema) for condition in rule.simplified(schema).conditions],
            "label": rule.label,
            "support": rule.support,
            "confidence": rule.confidence,
        }
        for rule in _rules_of(model)
    ]


def trees_of(model: Model) -> tuple[Tree, ...]:
    """The trees of a model, one or many."""
    from privet.trees.additive import Additive
    from privet.trees.forest import Forest

    trees = model.trees
    if isinstance(trees, Additive):
        return ()
    return trees.trees if isinstance(trees, Forest) else (trees,)


def size_of(model: Model) -> dict[str, int]:
    """How large a model is."""
    from privet.trees.additive import Additive

    if isinstance(found := model.trees, Additive):
        return {"parts": len(found.parts), "numbers": sum(part.table.size for part in found.parts)}
    trees = trees_of(model)
    return {
        "trees": len(trees),
        "leaves": sum(tree.n_leaves for tree in trees),
        "depth": max(tree.depth for tree in trees),
    }


def size_words(size: dict[str, int]) -> str:
    """The same in words.

    >>> size_words({"trees": 1, "leaves": 8, "depth": 3})
    '1 tree, 8 leaves, depth 3'
    """
    if "parts" in size:
        return f"{size['parts']} parts, {size['numbers']} numbers"
    trees = "1 tree" if size["trees"] == 1 else f"{size['trees']} trees"
    leaves = "1 leaf" if size["leaves"] == 1 else f"{size['leaves']} leaves"
    return f"{trees}, {leaves}, depth {size['depth']}"


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(show)
