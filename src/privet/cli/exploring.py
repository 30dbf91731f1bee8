"""``demo``, ``recipes`` and ``schema check``: what to look at before a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, QuotedLineBreaks, SchemaFile, Table
from privet.cli.output import complain, print_json, print_rich

if TYPE_CHECKING:
    from privet.recipes.recipe import Recipe

HOW = {"greedily": "greedy", "at random": "random", "the whole tree": "whole"}
# Of the table of recipes, and how they share the width that names leave.
COLUMNS = {"name": None, "tests": None, "budget B": 22, "depth": 14, "trees": 12, "numbers": 14, "promise": 15}
LEGEND = (
    "Tests are chosen one by one (greedy), by lot (random) or all at once (whole). d is the depth, n the number of "
    "records, m that of attributes."
)


def demo(as_json: Json = False) -> None:
    """A tour: private questions to a clinic's table, a budget that runs out, trees and their certificate."""
    from privet.cli.demo import tell, tour

    if as_json:
        print_json(tour())
    else:
        tell()


def recipes(as_json: Json = False) -> None:
    """The methods there are, what they cost and what they promise."""
    from privet.recipes.registry import recipe_classes

    known = list(recipe_classes().values())
    if as_json:
        print_json({"recipes": [recipe.info.to_dict() for recipe in known]})
    else:
        print_rich(_methods(known), LEGEND, _sources(known))


def _methods(known: list[type[Recipe]]) -> Any:
    """How the methods work, a row each as in Fletcher's Table 9.1."""
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(title="Recipes", box=box.HORIZONTALS, show_lines=True, pad_edge=False, expand=True)
    grid.collapse_padding = True
    for heading, ratio in COLUMNS.items():
        grid.add_column(heading, overflow="fold", ratio=ratio, no_wrap=ratio is None)
    for recipe in known:
        info = recipe.info
        facts = HOW[info.chooses], info.budget, info.depth, info.trees, info.numeric
        grid.add_row(info.name, *facts, _promise(recipe))
    return grid


def _promise(recipe: type[Recipe]) -> str:
    kept = [what for variant, what in recipe.info.guarantee.items() if variant not in recipe.unsound]
    return "\n".join([*dict.fromkeys(kept), *(["published: none"] if recipe.unsound else [])])


def _sources(known: list[type[Recipe]]) -> Any:
    """Where the methods come from, and why some are not private as published."""
    from rich.table import Table as Grid

    grid = Grid(title="Sources", box=None, pad_edge=False, show_header=False)
    for _ in range(2):
        grid.add_column(overflow="fold")
    for recipe in known:
        why = "".join(f" Not private as published: {reason}." for reason in recipe.unsound.values())
        grid.add_row(recipe.info.name, f"{recipe.info.title}. {recipe.info.citation}.{why}")
    return grid


def check(
    table: Table,
    schema: SchemaFile,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many bad rows to name of each kind.")] = 10,
    most: Annotated[
        float,
        typer.Option("--most", metavar="SHARE", min=0, max=1, help="Fail if more of the records have the same fault."),
    ] = 0.05,
    quoted_line_breaks: QuotedLineBreaks = False,
    as_json: Json = False,
) -> None:
    """Count and locate bad rows, say how a fit would read them and what may be wrong. Fails if there are many.

    OUTSIDE PRIVACY: for the data owner's eyes, not to be published.
    """
    from privet.schema import Schema
    from privet.schema.files import read_table

    facts = Schema.from_json(schema)
    report = facts.check(read_table(table, facts, quoted_line_breaks=quoted_line_breaks), limit=limit)
    ruinous = report.ruinous(most)
    if as_json:
        print_json(report.to_dict() | {"most": most, "passed": not ruinous})
    else:
        print(report)
    if ruinous:
        columns = ", ".join(dict.fromkeys(finding.column for finding in ruinous))
        complain(f"more than {most:.1%} of the records have the same fault in {columns}: a fit learns little there")
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Hang these commands on the tree."""
    app.command(epilog="Example: privet demo")(demo)
    app.command(epilog="Example: privet recipes --json")(recipes)
    schemas = typer.Typer(help="Work with schemas, the public facts about a table.", no_args_is_help=True)
    schemas.command(epilog="Example: privet schema check clinic.csv --schema clinic.schema.json")(check)
    # A callback keeps `check` a subcommand: typer folds a group of one into its parent.
    schemas.callback()(lambda: None)
    app.add_typer(schemas, name="schema")
