"""``privet show``: what is in a model file."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, ModelFile
from privet.cli.output import print_json
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.estimators.base import PrivateClassifier
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
    from privet.estimators.registry import load_model

    classifier = load_model(model)
    if as_json:
        print_json(_facts(classifier))
    elif tree is None and form is Format.TEXT and len(trees_of(classifier)) > 1:
        print(_summary(classifier, str(model)), end="")
    else:
        print(_rendered(_chosen(classifier, tree), form), end="")


def _summary(classifier: PrivateClassifier, model: str) -> str:
    from privet.trees.forest import Forest
    from privet.trees.summary import summarise

    forest = classifier.model_.trees
    assert isinstance(forest, Forest)
    heading = f"{classifier.model_.recipe}: {size_words(size_of(classifier))}\n"
    return f"{heading}{summarise(forest)}Others: privet show {model} --tree 1 to {len(forest)}, or all\n"


def _chosen(classifier: PrivateClassifier, tree: str | None) -> PrivateClassifier:
    """The classifier with one of its trees alone, or all of it."""
    trees = trees_of(classifier)
    if tree is None or tree == "all":
        return classifier
    if not tree.isdecimal() or not 1 <= int(tree) <= len(trees):
        raise ParameterError(f"--tree must be all or a number from 1 to {len(trees)}, not {tree!r}")
    return classifier._adopt(replace(classifier.model_, trees=trees[int(tree) - 1]))


def _rendered(classifier: PrivateClassifier, form: Format) -> str:
    from privet.trees import render
    from privet.trees.additive import Additive
    from privet.trees.curves import describe

    if form is Format.CERTIFICATE:
        return f"{classifier.certificate_}\n"
    if isinstance(classifier.model_.trees, Additive):
        if form is not Format.TEXT:
            raise ParameterError(
                f"an additive model is a sum and has no {form.value}; use --format text or certificate"
            )
        return f"{classifier.model_.recipe}: {size_words(size_of(classifier))}\n{describe(classifier.model_.trees)}"
    if form is Format.RULES:
        return "".join(f"{rule.describe(classifier.schema_)}\n" for rule in classifier.rules_)
    if form is Format.TEXT:
        heading = f"{classifier.model_.recipe}: {size_words(size_of(classifier))}\n"
        heading += "".join(f"{note}\n" for note in classifier.model_.notes)
        return heading + "\n".join(render.export_text(tree) for tree in trees_of(classifier))
    export = render.export_graphviz if form is Format.GRAPHVIZ else render.export_mermaid
    return "\n".join(export(tree) for tree in trees_of(classifier))


def _facts(classifier: PrivateClassifier) -> dict[str, Any]:
    from privet.trees.additive import Additive
    from privet.trees.additive_codec import to_dict
    from privet.trees.curves import describe
    from privet.trees.render import export_text

    model, schema = classifier.model_, classifier.schema_
    if isinstance(model.trees, Additive):
        shown: dict[str, Any] = {"additive": to_dict(model.trees), "text": [describe(model.trees)]}
    else:
        shown = {"rules": _rules(classifier), "text": [export_text(tree) for tree in trees_of(classifier)]}
    return {
        "recipe": model.recipe,
        "params": dict(model.params),
        **size_of(classifier),
        "certificate": classifier.certificate_.to_dict(),
        **shown,
        "schema": schema.to_dict(),
        "notes": list(model.notes),
    }


def _rules(classifier: PrivateClassifier) -> list[dict[str, Any]]:
    schema = classifier.schema_
    return [
        {
            "conditions": [condition.describe(schema) for condition in rule.simplified(schema).conditions],
            "label": rule.label,
            "support": rule.support,
            "confidence": rule.confidence,
        }
        for rule in classifier.rules_
    ]


def trees_of(classifier: PrivateClassifier) -> tuple[Tree, ...]:
    """The trees of a model, one or many."""
    from privet.trees.additive import Additive
    from privet.trees.forest import Forest

    trees = classifier.model_.trees
    if isinstance(trees, Additive):
        return ()
    return trees.trees if isinstance(trees, Forest) else (trees,)


def size_of(classifier: PrivateClassifier) -> dict[str, int]:
    """How large a model is."""
    from privet.trees.additive import Additive

    if isinstance(model := classifier.model_.trees, Additive):
        return {"parts": len(model.parts), "numbers": sum(part.table.size for part in model.parts)}
    trees = trees_of(classifier)
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
