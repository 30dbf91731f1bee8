"""``demo``, ``recipes`` and ``schema check``: what to look at before a fit."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.options import Json, SchemaFile, Table
from privet.cli.output import print_json, print_rich


def demo(as_json: Json = False) -> None:
    """A tour: private questions to a clinic's table, a budget that runs out, trees and their certificate."""
    from privet.demo import tell, tour

    if as_json:
        print_json(tour())
    else:
        tell()


def recipes(as_json: Json = False) -> None:
    """The methods there are, what they cost and what they promise."""
    from privet.recipes import recipe_classes

    infos = [recipe.info for recipe in recipe_classes().values()]
    if as_json:
        print_json({"recipes": [info.to_dict() for info in infos]})
        return
    from rich.table import Table as Grid

    grid = Grid(title="Recipes", show_lines=True)
    for heading in ("name", "method", "source", "budget B", "promise"):
        grid.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for info in infos:
        promise = "\n".join(f"{variant}: {what}" for variant, what in info.guarantee.items())
        grid.add_row(info.name, info.title, info.citation, info.budget, promise)
    print_rich(grid)


def check(
    table: Table,
    schema: SchemaFile,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many bad rows to name of each kind.")] = 10,
    as_json: Json = False,
) -> None:
    """Count and locate bad rows. OUTSIDE PRIVACY: for the data owner's eyes, not to be published."""
    from privet.cli.tables import read_table
    from privet.schema import Schema

    facts = Schema.from_json(schema)
    report = facts.check(read_table(table, facts, with_label=True), limit=limit)
    if as_json:
        print_json(report.to_dict())
    else:
        print(report)


def register(app: typer.Typer) -> None:
    """Hang these commands on the tree."""
    app.command(epilog="Example: privet demo")(demo)
    app.command(epilog="Example: privet recipes --json")(recipes)
    schemas = typer.Typer(help="Work with schemas, the public facts about a table.", no_args_is_help=True)
    schemas.command(epilog="Example: privet schema check clinic.csv --schema clinic.schema.json")(check)
    # A callback keeps `check` a subcommand: typer folds a group of one into its parent.
    schemas.callback()(lambda: None)
    app.add_typer(schemas, name="schema")
