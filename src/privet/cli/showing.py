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
from privet.cli.rule_filter import RuleFilter
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.models.model import Model
    from privet.models.shown import ShownTree
    from privet.privacy.certificate import Certificate

EXAMPLE = "Example: privet show tree.json --format rules --sub-rules --label Sick --about age --min-support 100"


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
    sub_rules: Annotated[
        bool, typer.Option("--sub-rules", help="With --format rules: also a rule for each test on the way to a leaf.")
    ] = False,
    label: Annotated[
        str | None, typer.Option("--label", metavar="L", help="With --format rules: only rules that predict L.")
    ] = None,
    about: Annotated[
        list[str] | None,
        typer.Option("--about", metavar="COLUMN", help="With --format rules: only rules that test it; repeatable."),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence",
            metavar="P",
            min=0,
            max=1,
            help="With --format rules: only rules with at least this confidence.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a model: its tree (or an overview of its forest), its rules, a graph, or its certificate.

    Leaves that predict the same are merged, and counts hidden by noise are marked; --raw prints what was released.
    """
    from privet.recipes.saved import read_model

    found, certificate = read_model(model)
    wanted = RuleFilter(label, tuple(about or ()), min_support, min_confidence)
    if (wanted.given or sub_rules) and not (form is Format.RULES or as_json):
        raise ParameterError("--sub-rules, --label, --about and --min-confidence choose rules; add --format rules")
    wanted.check(found.schema)
    if raw and not (max_leaves is None and min_support is None):
        raise ParameterError("--raw shows all of the model; leave --max-leaves and --min-support out")
    chosen = _chosen(found, tree)
    sections = chosen.sections(max_leaves=max_leaves, min_support=min_support, raw=raw)
    if as_json:
        text = [str(section) for section in sections]
        print_json(_facts(chosen, certificate, text, wanted, sub_rules=sub_rules))
    elif form is Format.CERTIFICATE:
        print(certificate)
    elif form is Format.TEXT:
        print(_text(chosen, sections, str(model), whole=tree is not None), end="")
    elif not chosen.trees.members:
        raise ParameterError(f"an additive model is a sum and has no {form.value}; use --format text or certificate")
    elif form is Format.RULES:
        trees = list(cast("Iterator[ShownTree]", sections))
        rules = _rules_text(trees, wanted, everything=everything, sub_rules=sub_rules)
        print(rules + (_deeper(chosen) if raw else ""), end="")
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


def _rules_text(shown: list[ShownTree], wanted: RuleFilter, *, everything: bool, sub_rules: bool) -> str:
    """The rules of all trees, by number of records; minor ones, which noise could have made, are only counted.

    They are listed if there are no others, or with ``everything``.
    """
    listed = [
        [rule for rule in (tree.all_rules if sub_rules else tree.rules) if wanted.shows(rule, tree.schema)]
        for tree in shown
    ]
    if not any(listed):
        return "# no rule is of this kind\n"
    if not shown[0].simplified:
        return "".join(f"{rule}\n" for rules in listed for rule in rules)
    found = [rule for tree, rules in zip(shown, listed, strict=True) for rule in rules if not tree.is_minor(rule.leaf)]
    lines = [str(rule) for rule in sorted(found, key=lambda rule: -(rule.leaf.support or 0))]
    everything = everything or not lines
    for number, (tree, rules) in enumerate(zip(shown, listed, strict=True), 1):
        if minor := [rule for rule in rules if tree.is_minor(rule.leaf)]:
            many = f"{len(minor)} {'rule' if len(minor) == 1 else 'rules'}"
            many += f" of tree {number}" if len(shown) > 1 else ""
            lines.append(f"# {many}: {tree.why_minor}{'' if everything else '; --all lists them'}")
            lines += [str(rule) for rule in minor if everything]
    return "".join(f"{line}\n" for line in lines)


def _facts(
    model: Model, certificate: Certificate, text: list[str], wanted: RuleFilter, *, sub_rules: bool
) -> dict[str, Any]:
    rules = _rules(model, wanted, sub_rules=sub_rules) if model.trees.members else []
    shown = {"rules": rules, "rules_not_listed": _too_long(model)} if model.trees.members else {}
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


def _rules(model: Model, wanted: RuleFilter, *, sub_rules: bool) -> list[dict[str, Any]]:
    """One rule for each leaf of the model (and each node with ``sub_rules``), with its counts as released."""
    from privet.models.rules import DEEPEST

    schema = model.schema
    released = (
        tree.counts[node]
        for tree in model.trees.members
        for node, _ in tree.walk(DEEPEST)
        if sub_rules or tree.is_leaf[node]
    )
    return [
        {
            "conditions": [condition.describe(schema) for condition in rule.simplified(schema).conditions],
            "label": rule.label,
            "support": rule.support,
            "confidence": rule.confidence,
            "below": rule.below,
            "counts": [None if count != count else count for count in counts.tolist()],  # JSON has no NaN
        }
        for rule, counts in zip(model.rules(deepest=DEEPEST, inner=sub_rules), released, strict=True)
        if wanted.keeps(rule, schema)
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
