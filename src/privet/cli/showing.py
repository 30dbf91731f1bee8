"""``privet show``: print the content of a model file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from privet.bidi import isolated
from privet.cli.options import Json, MaxLeaves, MinSupport, ModelFile
from privet.cli.output import print_json
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.models.model import Model
    from privet.models.shown import ShownTree
    from privet.privacy.certificate import Certificate

EXAMPLE = "Example: privet show tree.json --format rules"


class Format(StrEnum):
    TEXT = "text"
    RULES = "rules"
    GRAPHVIZ = "graphviz"
    MERMAID = "mermaid"
    CERTIFICATE = "certificate"


def show(
    model: ModelFile,
    form: Annotated[Format, typer.Option("--format", "-f", help="What to show.")] = Format.TEXT,
    tree: Annotated[
        str | None, typer.Option("--tree", "-t", metavar="N", help="Tree N of a forest, from 1 on, or all.")
    ] = None,
    max_leaves: MaxLeaves = None,
    min_support: MinSupport = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Every leaf of the model, with its counts exactly as released.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --format rules: also rules that noise alone could have made.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a model: its tree (or an overview of its forest), its rules, a graph, or its certificate.

    Leaves that predict the same are merged, and counts hidden by noise are marked; --raw prints what was released.
    """
    from privet.recipes.saved import read_model

    found, certificate = read_model(model)
    if raw and not (max_leaves is None and min_support is None):
        raise ParameterError("--raw shows all of the model; leave --max-leaves and --min-support out")
    chosen = _chosen(found, tree)
    sections = chosen.sections(max_leaves=max_leaves, min_support=min_support, raw=raw)
    if as_json:
        print_json(_facts(chosen, certificate, [str(section) for section in sections]))
    elif form is Format.CERTIFICATE:
        print(certificate)
    elif form is Format.TEXT:
        print(_text(chosen, sections, str(model), whole=tree is not None), end="")
    elif not chosen.trees.members:
        raise ParameterError(f"an additive model is a sum and has no {form.value}; use --format text or certificate")
    elif form is Format.RULES:
        trees = list(cast("Iterator[ShownTree]", sections))
        print(_rules_text(trees, everything=everything) + (_deeper(chosen) if raw else ""), end="")
    else:
        print("\n".join(_graph(section, form) for section in sections), end="")


def _text(model: Model, sections: Iterator[Any], file: str, *, whole: bool) -> str:
    """A heading and the whole model, or the overview of a forest."""
    heading = f"{isolated(model.recipe)}: {size_words(model.trees.size)}\n"
    several = len(model.trees.members)
    if several > 1 and not whole:
        others = f"Others: privet show {file} --tree 1 to {several}, or all\n"
        return heading + model.trees.overview(sections) + others
    return heading + "".join(f"{isolated(note)}\n" for note in model.notes) + "\n".join(map(str, sections))


def _chosen(model: Model, tree: str | None) -> Model:
    """The model with only the chosen tree, or all of it."""
    trees = model.trees.members
    if tree is None or tree == "all":
        return model
    if not tree.isdecimal() or not 1 <= int(tree) <= len(trees):
        raise ParameterError(
            parameter="--tree", problem=f"must be all or a number from 1 to {len(trees)}, not {tree!r}"
        )
    return replace(model, trees=trees[int(tree) - 1])


def _graph(section: Any, form: Format) -> str:
    from privet.models.render import export_graphviz, export_mermaid

    return export_graphviz(section) if form is Format.GRAPHVIZ else export_mermaid(section)


def _rules_text(shown: list[ShownTree], *, everything: bool) -> str:
    """The rules of all trees, by number of records; minor ones, which noise could have made, are only counted.

    They are listed if there are no others, or with ``everything``.
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


def _facts(model: Model, certificate: Certificate, text: list[str]) -> dict[str, Any]:
    shown = {"rules": _rules(model), "rules_not_listed": _too_long(model)} if model.trees.members else {}
    return {
        "recipe": model.recipe,
        "params": dict(model.params),
        **model.trees.size,
        "certificate": certificate.to_dict(),
        **(shown or model.trees.to_dict()),
        "text": text,
        "schema": model.schema.to_dict(),
        "notes": list(model.notes),
    }


def _rules(model: Model) -> list[dict[str, Any]]:
    """One rule for each leaf of the model, with its counts as released."""
    from privet.models.rules import DEEPEST

    schema = model.schema
    released = (tree.counts[n] for tree in model.trees.members for n, _ in tree.walk(DEEPEST) if tree.is_leaf[n])
    return [
        {
            "conditions": [condition.describe(schema) for condition in rule.simplified(schema).conditions],
            "label": rule.label,
            "support": rule.support,
            "confidence": rule.confidence,
            "below": rule.below,
            "counts": [None if count != count else count for count in counts.tolist()],  # JSON has no NaN
        }
        for rule, counts in zip(model.rules(deepest=DEEPEST), released, strict=True)
    ]


def _deeper(model: Model) -> str:
    """A line about rules that are too long to list; empty if there are none."""
    from privet.models.rules import DEEPEST

    left = _too_long(model)
    return f"{left:,} rules of more than {DEEPEST} conditions are not listed\n" if left else ""


def _too_long(model: Model) -> int:
    from privet.models.rules import DEEPEST

    return sum(int((tree.routes.level[tree.is_leaf] > DEEPEST).sum()) for tree in model.trees.members)


def size_words(size: dict[str, int]) -> str:
    """The size of a model in words.

    >>> size_words({"trees": 1, "leaves": 8, "depth": 3})
    '1 tree, 8 leaves, depth 3'
    """
    one = {"trees": "1 tree", "leaves": "1 leaf"}

    def words(what: str, number: int) -> str:
        if what == "depth":
            return f"depth {number}"
        return one[what] if number == 1 and what in one else f"{number} {what}"

    return ", ".join(words(what, number) for what, number in size.items())


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(show)
