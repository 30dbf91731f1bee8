"""``privet compare``: the similarity of the rules of two models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.bidi import isolated
from privet.cli.options import Json
from privet.cli.output import print_json

if TYPE_CHECKING:
    from privet.rules import RuleList

EXAMPLE = "Example: privet compare tree.json other.json"
SHOWN = 10  # rules listed of each kind; --json has them all

Given = Annotated[Path, typer.Argument(help="A model file that `privet fit` wrote, or rules as JSON.")]


def compare(
    first: Given,
    second: Given,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Whether a rule's label is part of it.")] = True,
    min_support: Annotated[
        float, typer.Option("--min-support", min=0, metavar="N", help="Only rules with at least N records.")
    ] = 0,
    min_confidence: Annotated[
        float,
        typer.Option("--min-confidence", min=0, max=1, metavar="P", help="Only rules with at least this confidence."),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Compare what two models use: the Jaccard index of their rules, and its bounds. It costs no budget."""
    from privet.rules import compare_rules

    lists = [_rules(path).filtered(min_support=min_support, min_confidence=min_confidence) for path in (first, second)]
    found = compare_rules(*lists, labels=labels).to_dict()
    if as_json:
        print_json(found)
        return
    print(f"Jaccard index {found['jaccard']:.3f}, between {found['lower_bound']:.3f} and {found['upper_bound']:.3f} "
          "by the sizes alone")  # fmt: skip
    print(f"{first}: {len(lists[0])} rules, {found['first']} different; "
          f"{second}: {len(lists[1])} rules, {found['second']} different")  # fmt: skip
    for title, key in (("in both", "shared"), (f"only in {first}", "only_first"), (f"only in {second}", "only_second")):
        print(f"{title}: {len(found[key])}")
        for row in found[key][:SHOWN]:
            print(f"  {_words(row)}")
        if len(found[key]) > SHOWN:
            print(f"  ... and {len(found[key]) - SHOWN} more (--json lists all)")


def _words(row: dict[str, Any]) -> str:
    asked = ", ".join(map(isolated, row["attributes"])) or "nothing"
    return asked if row["label"] is None else f"{asked} -> {isolated(row['label'])}"


def _rules(path: Path) -> RuleList:
    from privet.recipes.saved import read_model
    from privet.rules import RuleList, rule_list
    from privet.rules.rulelist import FORMAT

    try:
        head = path.read_bytes()[:200].decode("utf-8", errors="replace")
    except OSError:
        head = ""  # reading it as a model gives the message
    if f'"{FORMAT}"' in head:
        return RuleList.from_json(path.read_bytes().decode("utf-8", errors="replace"))
    return rule_list(read_model(path)[0])


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(compare)
