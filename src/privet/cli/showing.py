"""``privet show``: what is in a model file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.bidi import isolated
from privet.cli.options import Json, MaxLeaves, MinSupport, ModelFile
from privet.cli.output import print_json
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.models.codec import Model
    from privet.models.shown import ShownTree
    from privet.models.tree import Tree
    from privet.privacy.certificate import Certificate

EXAMPLE = "Example: privet show tree.json --format rules"


class Format(StrEnum):
    """How a model is rendered."""

    TEXT = "text"
    RULES = "rules"
    GRAPHVIZ = "graphviz"
    MERMAID = "mermaid"
    CERTIFICATE = "certificate"


@dataclass(frozen=True)
class View:
    """How much of a model is shown."""

    max_leaves: int | None = None
    min_support: float | None = None
    raw: bool = False
    everything: bool = False

    def of(self, model: Model) -> Iterator[ShownTree]:
        from privet.models.shown import shown_trees

        limited = self.max_leaves is not None or self.min_support is not None
        if self.raw and limited:
            raise ParameterError("--raw shows all of the model; leave --max-leaves and --min-support out")
        if not trees_of(model) and (self.raw or limited):
            raise ParameterError("--raw, --max-leaves and --min-support are for trees; this model is a sum")
        return shown_trees(model, max_leaves=self.max_leaves, min_support=self.min_support, raw=self.raw)


def show(
    model: ModelFile,
    form: Annotated[Format, typer.Option("--format", "-f", help="What to show.")] = Format.TEXT,
    tree: Annotated[
        str | None, typer.Option("--tree", "-t", metavar="N", help="Of a forest, tree N from 1 on, or all.")
    ] = None,
    max_leaves: MaxLeaves = None,
    min_support: MinSupport = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Every leaf of the model, with its counts exactly as they were released.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --format rules: also those that noise alone could have made.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a model: its tree (or what its forest is about), its rules, a graph of it, or what it promises.

    Leaves that say the same are shown as one, and counts that noise hides say so; --raw prints what was released.
    """
    from privet.recipes.saved import read_model

    found, certificate = read_model(model)
    view = View(max_leaves, min_support, raw, everything)
    if as_json:
        print_json(_facts(_chosen(found, tree), certificate, view))
    elif form is Format.CERTIFICATE:
        _chosen(found, tree)  # what makes no sense is refused, whatever is asked for
        print(certificate)
    elif tree is None and form is Format.TEXT and len(trees_of(found)) > 1:
        print(_summary(found, str(model), view), end="")
    else:
        print(_rendered(_chosen(found, tree), form, view), end="")


def _summary(model: Model, file: str, view: View) -> str:
    from privet.models.forest import Forest
    from privet.models.summary import summarise

    forest = model.trees
    assert isinstance(forest, Forest)
    heading = f"{isolated(model.recipe)}: {size_words(size_of(model))}\n"
    first = next(view.of(model))
    return f"{heading}{summarise(forest, first)}Others: privet show {file} --tree 1 to {len(forest)}, or all\n"


def _chosen(model: Model, tree: str | None) -> Model:
    """The model with one of its trees alone, or all of it."""
    trees = trees_of(model)
    if tree is None or tree == "all":
        return model
    if not tree.isdecimal() or not 1 <= int(tree) <= len(trees):
        raise ParameterError(
            parameter="--tree", problem=f"must be all or a number from 1 to {len(trees)}, not {tree!r}"
        )
    return replace(model, trees=trees[int(tree) - 1])


def _rendered(model: Model, form: Format, view: View) -> str:
    from privet.models import render
    from privet.models.additive import Additive
    from privet.models.curves import describe

    shown = view.of(model)
    if isinstance(model.trees, Additive):
        if form is not Format.TEXT:
            raise ParameterError(
                f"an additive model is a sum and has no {form.value}; use --format text or certificate"
            )
        return f"{isolated(model.recipe)}: {size_words(size_of(model))}\n{describe(model.trees)}"
    if form is Format.RULES:
        return _rules_text(list(shown), everything=view.everything) + (_deeper(model) if view.raw else "")
    if form is Format.TEXT:
        heading = f"{isolated(model.recipe)}: {size_words(size_of(model))}\n"
        heading += "".join(f"{isolated(note)}\n" for note in model.notes)
        return heading + "\n".join(map(str, shown))
    export = render.export_graphviz if form is Format.GRAPHVIZ else render.export_mermaid
    return "\n".join(export(tree) for tree in shown)


def _rules_text(shown: list[ShownTree], *, everything: bool) -> str:
    """The rules of all trees, those with the most records first; those that noise could have made are only counted.

    They are listed if there are no others, or if ``everything`` is asked for.
    """
    if not shown[0].simplified:
        return "".join(f"{rule}\n" for tree in shown for rule in tree.rules)
    found = [rule for tree in shown for rule in tree.rules if not tree.is_minor(rule.leaf)]
    lines = [str(rule) for rule in sorted(found, key=lambda rule: -(rule.leaf.support or 0))]
    everything = everything or not lines
    for number, tree in enumerate(shown, 1):
        if tree.minor:
            rules = f"{len(tree.minor)} {'rule' if len(tree.minor) == 1 else 'rules'}"
            rules += f" of tree {number}" if len(shown) > 1 else ""
            lines.append(f"# {rules}: {tree.why_minor}{'' if everything else '; --all lists them'}")
            lines += [str(rule) for rule in tree.rules[len(tree.rules) - len(tree.minor) :] if everything]
    return "".join(f"{line}\n" for line in lines)


def _facts(model: Model, certificate: Certificate, view: View) -> dict[str, Any]:
    from privet.models.additive import Additive
    from privet.models.additive_codec import to_dict
    from privet.models.curves import describe

    trees = [str(tree) for tree in view.of(model)]
    if isinstance(model.trees, Additive):
        shown: dict[str, Any] = {"additive": to_dict(model.trees), "text": [describe(model.trees)]}
    else:
        shown = {"rules": _rules(model), "rules_not_listed": _too_long(model), "text": trees}
    return {
        "recipe": model.recipe,
        "params": dict(model.params),
        **size_of(model),
        "certificate": certificate.to_dict(),
        **shown,
        "schema": model.schema.to_dict(),
        "notes": list(model.notes),
    }


def _rules(model: Model) -> list[dict[str, Any]]:
    """One for each leaf of the model, with its counts as they were released."""
    from privet.models.counts import noise_scale
    from privet.models.rules import DEEPEST, rules_of

    schema, scale, found = model.schema, noise_scale(model.certificate), []
    for tree in trees_of(model):
        leaves = (node for node, _ in tree.walk(DEEPEST) if tree.is_leaf[node])
        for node, rule in zip(leaves, rules_of(tree, deepest=DEEPEST, scale=scale), strict=True):
            counts = [None if count != count else count for count in tree.counts[node].tolist()]  # NaN is no JSON
            found.append(
                {
                    "conditions": [condition.describe(schema) for condition in rule.simplified(schema).conditions],
                    "label": rule.label,
                    "support": rule.support,
                    "confidence": rule.confidence,
                    "below": rule.below,
                    "counts": counts,
                }
            )
    return found


def _deeper(model: Model) -> str:
    """A line about the rules that are too long to be listed; empty if there are none."""
    from privet.models.rules import DEEPEST

    left = _too_long(model)
    return f"{left:,} rules of more than {DEEPEST} conditions are not listed\n" if left else ""


def _too_long(model: Model) -> int:
    """How many rules are too long to be listed."""
    from privet.models.rules import DEEPEST

    return sum(int((tree.routes.level[tree.is_leaf] > DEEPEST).sum()) for tree in trees_of(model))


def trees_of(model: Model) -> tuple[Tree, ...]:
    """The trees of a model, one or many."""
    from privet.models.codec import trees_of as members

    return members(model.trees)


def size_of(model: Model) -> dict[str, int]:
    """How large a model is."""
    from privet.models.additive import Additive

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
